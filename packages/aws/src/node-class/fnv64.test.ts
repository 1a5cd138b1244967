import { expect, test } from "vitest";
import { fnv1Decimal } from "./fnv64.ts";

test.each([
  { text: "us-west-2default", hash: "4067990795380418201" },
  { text: "us-east-1gpu", hash: "6470041838442788607" },
])("W-320: $text", ({ text, hash }) => {
  expect(fnv1Decimal(text)).toBe(hash);
});
