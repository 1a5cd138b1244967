/** Every scenario of the scheduling chapter (T1…T60, VT-35…VT-39) has a test whose name begins with its number. */
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

const packages = join(import.meta.dirname, "../../packages");
const range = (first: number, last: number) => Array.from({ length: last - first + 1 }, (_, at) => first + at);

test("every scenario has its test", () => {
  const files = globSync("{scheduling,core}/src/**/*.test.ts", { cwd: packages });
  const texts = files.map((file) => readFileSync(join(packages, file), "utf8")).join("\n");
  const named = new Set(Array.from(texts.matchAll(/["`](V?T-?\d+)[a-d]?[ :"]/g), ([, number]) => number));
  const wanted = [...range(1, 60).map((number) => `T${number}`), ...range(35, 39).map((number) => `VT-${number}`)];
  expect(wanted.filter((scenario) => !named.has(scenario))).toEqual([]);
});
