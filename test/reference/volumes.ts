/** Where a pod's volumes can be reached, and how many a node can attach. */
import type { PodShape, Problem } from "@joinery/scheduling";
import { type Labels, meets } from "./labels.ts";

export function claimKeys({ namespace, claimNames = [] }: PodShape): readonly string[] {
  return claimNames.map((name) => `${namespace}/${name}`);
}

/** Each volume has an alternative that the node meets. */
export function areReachable(shape: PodShape, labels: Labels, { claims }: Problem): boolean {
  return claimKeys(shape).every((key) => {
    const alternatives = claims?.get(key)?.alternatives ?? [];
    return alternatives.length === 0 || alternatives.some((items) => items.every((item) => meets(item, labels)));
  });
}

/** Distinct claims per driver, of the drivers that `asking` uses, against the limits. */
export function isWithinVolumeLimits(
  shapes: readonly PodShape[],
  asking: readonly PodShape[],
  limits: Readonly<Record<string, number>>,
  { claims }: Problem,
): boolean {
  const driverOf = (key: string) => claims?.get(key)?.driver;
  const asked = new Set(asking.flatMap(claimKeys).map(driverOf));
  const keys = new Set(shapes.flatMap(claimKeys));
  return Object.entries(limits).every(
    ([driver, limit]) => !asked.has(driver) || [...keys].filter((key) => driverOf(key) === driver).length <= limit,
  );
}
