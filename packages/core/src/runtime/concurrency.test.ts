import { expect, test } from "vitest";
import { bucketFor, workersFor } from "./concurrency.ts";

test.each([
  [500, 10],
  [1000, 10],
  [1500, 26],
  [15_000, 244],
  [60_000, 1000],
  [100_000, 1000],
  [0, 10],
  [-50, 10],
])("L-19, O-104: %i millicores give %i of 10..1000 workers", (millicores, workers) => {
  expect(workersFor({ min: 10, max: 1000 }, millicores)).toBe(workers);
});

test.each([
  [10, 10, 10, 10, 100],
  [10, 10, 20, 20, 200],
  [10, 100, 100, 10, 100],
  [10, 100, 200, 20, 200],
  [25, 100, 150, 38, 380],
])("L-20, O-106: %i per second for %i workers, with %i: %i/%i", (minPerSecond, minWorkers, workers, perSecond, burst) => {
  expect(bucketFor(minPerSecond, minWorkers, workers)).toEqual({ perSecond, burst });
});
