/** Histogram buckets, in seconds. Rules O-172, O-181, O-182, O-188. */

/** "DB": durations. */
export const DURATION_BUCKETS = [
  0.005, 0.01, 0.025, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.6, 0.7, 0.8, 0.9, 1, 1.25, 1.5, 1.75, 2, 2.5, 3, 3.5, 4, 4.5,
  5, 6, 7, 8, 9, 10, 15, 20, 25, 30, 40, 50, 60, 120, 150, 300, 450, 600,
];

/** "DefB": what Prometheus clients use by default. */
export const DEFAULT_BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** "SQ": quantiles of summaries. */
export const QUANTILES = [0, 0.5, 0.9, 0.99, 1];

/** 1, 2, 4 … */
export function doublings(count: number): number[] {
  return Array.from({ length: count }, (_, n) => 2 ** n);
}

const MINUTE = 60;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

export const LIFETIME_BUCKETS = [
  ...[15, 30, 45].map((n) => n * MINUTE),
  ...[1, 2, 4, 6, 8, 10, 12, 16, 20].map((n) => n * HOUR),
  ...[1, 2, 3, 5, 10, 15, 20, 25, 30].map((n) => n * DAY),
];
