/** Canonical quantities, as a real API server writes them. */
import { expect, test } from "vitest";
import { canonicalQuantity } from "./quantity.ts";

test.each([
  ["1000m", "1"],
  ["1500m", "1500m"],
  ["0.5", "500m"],
  [2, "2"],
  [0.25, "250m"],
  ["1024Mi", "1Gi"],
  ["1.5Gi", "1536Mi"],
  ["1024", "1024"],
  ["1000k", "1M"],
  ["1e3", "1e3"],
  ["0", "0"],
  ["0.0", "0"],
  ["-1000m", "-1"],
  ["100Ki", "100Ki"],
  ["1000Ki", "1000Ki"],
  ["+1", "1"],
  [".5", "500m"],
  ["x1", undefined],
  ["1 Gi", undefined],
  ["", undefined],
] as const)("%s is %s", (text, canonical) => {
  expect(canonicalQuantity(text)).toBe(canonical);
});
