import { expect, test } from "vitest";
import { createRandom } from "../clock/random.ts";
import { derivedNameSuffix, generatedName, randomNameSuffix } from "./generated-name.ts";

const FORM = /^[bcdfghjklmnpqrstvwxz2456789]{5}$/;

test("suffixes have the form that Kubernetes gives them", () => {
  expect(randomNameSuffix(createRandom(7))).toMatch(FORM);
  expect(derivedNameSuffix("web")).toMatch(FORM);
});

test("a derived suffix follows from the text alone", () => {
  expect(derivedNameSuffix("web")).toBe(derivedNameSuffix("web"));
  expect(new Set(Array.from({ length: 1000 }, (_, n) => derivedNameSuffix(`web/${n}`))).size).toBe(1000);
});

test("long bases are cut, short ones are not", () => {
  expect(generatedName("p".repeat(63), "abcde")).toBe(`${"p".repeat(58)}abcde`);
  expect(generatedName("web-", "abcde")).toBe("web-abcde");
});
