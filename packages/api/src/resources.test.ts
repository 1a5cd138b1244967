import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { canonicalQuantity, formatQuantity, parseQuantity, quantityOf } from "./quantity.ts";
import { fits, formatResources, maxResources, minResources, parseResources, subtractResources, sumResources } from "./resources.ts";

test.each([
  ["0", "0"],
  ["-0", "0"],
  ["0Gi", "0"],
  ["1", "1"],
  ["1000m", "1"],
  ["1500m", "1500m"],
  ["1.5", "1500m"],
  [".5", "500m"],
  ["5.", "5"],
  ["+5", "5"],
  ["1000", "1k"],
  ["1024", "1024"],
  ["1024Gi", "1Ti"],
  ["1.5Gi", "1536Mi"],
  ["0.5Ki", "512"],
  ["1000Ki", "1000Ki"],
  ["1k", "1k"],
  ["1100M", "1100M"],
  ["1e3", "1e3"],
  ["1E3", "1e3"],
  ["12e-3", "12e-3"],
  ["1E", "1E"],
  ["1n", "1n"],
  ["0.1n", "1n"],
  ["100u", "100u"],
  ["-1500m", "-1500m"],
  ["9223372036854775807", "9223372036854775807"],
  ["99999999999999999999", "9223372036854775807"],
  ["1e999999999", "9223372036854775807"],
  ["1e-999999999", "1e-9"],
  [`${"0".repeat(200)}5`, "5"],
])("canonical: %s is %s", (text, canonical) => {
  expect(canonicalQuantity(text)).toBe(canonical);
});

test.each([
  [2, "2"],
  [0.5, "500m"],
  [1e21, "9223372036854775807"],
])("a bare number: %d is %s", (number, canonical) => {
  expect(canonicalQuantity(number)).toBe(canonical);
});

test.each(["", "m", ".", "+", "1 ", " 1", "1K", "1ki", "1mi", "1Gib", "0x10", "1e", "1e1.5", "1,5", "--1", "1m5", "NaN", "Infinity"])(
  "%j is no quantity",
  (text) => {
    expect(parseQuantity(text)).toBeUndefined();
    expect(() => quantityOf(text)).toThrow(/Cannot read quantity/);
  },
);

test("what is written is read as the same amount", () => {
  const amount = fc.bigInt({ min: -(10n ** 27n), max: 10n ** 27n });
  fc.assert(
    fc.property(amount, fc.constantFrom("DecimalSI", "DecimalExponent"), (nanos, format) => {
      expect(parseQuantity(formatQuantity({ nanos, format }))?.nanos).toBe(nanos);
    }),
    { seed: 1 },
  );
});

test("law 6: amounts are whole units, rounded up; beyond 2^53 there is no limit in practice", () => {
  expect(parseResources({ cpu: "1.0001", memory: "1.5", pods: 3, "nvidia.com/gpu": "500m", big: "9007199254740992", huge: "-1E" })).toEqual(
    {
      cpu: 1001,
      memory: 2,
      pods: 3,
      "nvidia.com/gpu": 1,
      big: Number.POSITIVE_INFINITY,
      huge: Number.NEGATIVE_INFINITY,
    },
  );
  expect(parseResources({ exact: "9007199254740991" })).toEqual({ exact: Number.MAX_SAFE_INTEGER });
  expect(parseResources(undefined)).toEqual({});
});

test("resources are written canonically, names in order", () => {
  const texts = formatResources({
    pods: 110,
    memory: 3 * 2 ** 30,
    cpu: 1500,
    "hugepages-2Mi": 2 ** 21,
    "nvidia.com/gpu": 8000,
    limit: Number.POSITIVE_INFINITY,
  });
  expect(JSON.stringify(texts)).toBe(
    '{"cpu":"1500m","hugepages-2Mi":"2Mi","limit":"9223372036854775807","memory":"3Gi","nvidia.com/gpu":"8k","pods":"110"}',
  );
});

describe("S-49, S-50: arithmetic", () => {
  test("min is over the intersection, max and sum over the union, subtract keeps the left side", () => {
    expect(minResources({ cpu: 1 }, { cpu: 2, gpu: 1 })).toEqual({ cpu: 1 });
    expect(maxResources({ cpu: 1 }, { cpu: 2, gpu: 1 })).toEqual({ cpu: 2, gpu: 1 });
    expect(sumResources({ cpu: 1 }, undefined, { cpu: 2, gpu: 1 })).toEqual({ cpu: 3, gpu: 1 });
    expect(subtractResources({ cpu: 1, pods: 2 }, { cpu: 3, gpu: 1 })).toEqual({ cpu: -2, pods: 2 });
    expect(subtractResources({ cpu: Number.POSITIVE_INFINITY }, { cpu: Number.POSITIVE_INFINITY })).toEqual({
      cpu: Number.POSITIVE_INFINITY,
    });
  });

  test.each([
    ["a request for nothing of something absent", { foo: 0 }, { cpu: 1 }, true],
    ["a request for something absent", { foo: 1 }, { cpu: 1 }, false],
    ["anything negative in the total", { cpu: 0 }, { cpu: 1, memory: -1 }, false],
    ["exactly all", { cpu: 1 }, { cpu: 1 }, true],
  ])("fits: %s", (_, requests, total, verdict) => {
    expect(fits(requests, total)).toBe(verdict);
  });
});
