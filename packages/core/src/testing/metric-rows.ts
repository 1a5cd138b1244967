/** One metric as a table of the specification has it, compared with what a registry shows. For tests. */
import { expect } from "vitest";
import type { Registry } from "../metrics/prometheus.ts";
import { scrape } from "./scrape.ts";

export interface MetricRow {
  readonly rule: string;
  readonly name: string;
  readonly type: "counter" | "gauge" | "histogram" | "summary";
  /** Names of its labels. */
  readonly labels: readonly string[];
  /** One series; the only one when absent. */
  readonly of?: Readonly<Record<string, string>>;
  /** Of a histogram or a summary: its sum. */
  readonly value: number;
  /** Of a histogram or a summary: how often it was observed; once when absent. */
  readonly count?: number;
  readonly buckets?: readonly number[];
}

/** Bounds of durations, in seconds. Rule O-172. */
export const DB = [
  0.005, 0.01, 0.025, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.6, 0.7, 0.8, 0.9, 1, 1.25, 1.5, 1.75, 2, 2.5, 3, 3.5, 4, 4.5,
  5, 6, 7, 8, 9, 10, 15, 20, 25, 30, 40, 50, 60, 120, 150, 300, 450, 600,
];
/** O-172: the client's own. */
export const DEF_B = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
/** O-172. */
const QUANTILES = ["0", "0.5", "0.9", "0.99", "1"];

export async function expectRow(registry: Registry, { name, type, labels, of = {}, value, count = 1, buckets }: MetricRow): Promise<void> {
  const seen = await scrape(registry);
  expect(seen.typeOf(name), name).toBe(type);
  const isDistribution = type === "histogram" || type === "summary";
  const [valued] = isDistribution ? [`${name}_sum`] : [name];
  expect(seen.labelNames(valued), name).toEqual([...labels].sort());
  expect(seen.value(valued, of), name).toBeCloseTo(value, 6);
  if (isDistribution) expect(seen.value(`${name}_count`, of), name).toBe(count);
  if (type === "histogram") expect(seen.buckets(name), name).toEqual(buckets);
  if (type === "summary") expect([...new Set(seen.series(name).map(({ labels: { quantile } }) => quantile))], name).toEqual(QUANTILES);
}
