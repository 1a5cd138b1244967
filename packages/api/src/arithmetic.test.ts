import { describe, expect, test } from "vitest";
import { bufferCount } from "./buffer-count.ts";
import { doNotDisrupt } from "./do-not-disrupt.ts";
import { changedPrice } from "./overlay-price.ts";

test.each([
  [10, "-10%", 9],
  [1.5, "-25%", 1.125],
  [10, "-15", 0],
  [10, "80", 80],
  [0.0001, "+0.0001", 0.0002],
  [2, "+.5", 2.5],
  [2, "-100%", 0],
  [1, "+298%", 3.98],
])("A-52: %d with %s is %d", (price, change, result) => {
  expect(changedPrice(price, change)).toBeCloseTo(result, 12);
});

describe("A-61: the count of a buffer", () => {
  const requests = { cpu: 1000, memory: 1024 };
  test.each([
    ["the greater of replicas and percentage", { replicas: 10, percentage: 20, scalableReplicas: 100 }, 20],
    ["limits cap it", { replicas: 10, percentage: 20, scalableReplicas: 100, limits: { cpu: 15_999 } }, 15],
    ["limits alone", { limits: { cpu: 5000, memory: 3072 } }, 3],
    ["limits of other resources", { replicas: 2, limits: { "nvidia.com/gpu": 0 } }, 2],
    ["nothing", {}, 0],
    ["a percentage is at least one", { percentage: 1, scalableReplicas: 3 }, 1],
    ["0 per cent", { percentage: 0, scalableReplicas: 3 }, 0],
    ["a workload without replicas", { percentage: 50, scalableReplicas: 0 }, 0],
    ["a limit of nothing", { replicas: 2, limits: { cpu: 0 } }, 0],
  ])("%s", (_, size, count) => {
    expect(bufferCount({ requests, ...size })).toBe(count);
  });
});

describe("A-92, scenario 57: do-not-disrupt", () => {
  const NOW = Date.parse("2026-01-01T00:10:00Z");
  test.each([
    ["true", "active"],
    ["15m", "active-until"],
    ["10m", "elapsed"],
    ["10m1ns", "active-until"],
    ["5m", "elapsed"],
    ["0s", "invalid"],
    ["-5m", "invalid"],
    ["abc", "invalid"],
    ["True", "invalid"],
  ])("%s, started 10 minutes ago: %s", (text, kind) => {
    expect(doNotDisrupt(text, Date.parse("2026-01-01T00:00:00Z"), NOW).kind).toBe(kind);
  });

  test("not started yet is active", () => {
    expect(doNotDisrupt("1m", undefined, NOW)).toEqual({ kind: "active" });
    expect(doNotDisrupt(undefined, undefined, NOW)).toEqual({ kind: "absent" });
  });
});
