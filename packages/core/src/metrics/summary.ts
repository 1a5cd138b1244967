/**
 * A summary whose quantiles are those of the last ten minutes by our clock, and exact. Rule O-172. The client's own asks the machine for the
 * time, and says 0 where nothing was observed, which on a dashboard looks like pods that start at once.
 */
import type { Clock } from "@joinery/kube";
import type * as prometheus from "@prometheus-io/client";
import { QUANTILES } from "./buckets.ts";
import type { Registry } from "./prometheus.ts";

export interface WindowSummary<T extends string> {
  observe(labels: Readonly<Record<T, string>>, value: number): void;
}

interface SummaryOptions<T extends string> {
  readonly name: string;
  readonly help: string;
  readonly labelNames: readonly T[];
}

/** What is observed is forgotten slice by slice, so after eight to ten minutes, as by Go's client. */
const SLICE_MS = 120_000;
const SLICES = 5;

interface Series<T extends string> {
  readonly labels: Readonly<Record<T, string>>;
  sum: number;
  count: number;
  /** Observations by number of the slice of time, oldest first. */
  readonly slices: Map<number, number[]>;
}

export function createSummary<T extends string>(
  registry: Registry,
  clock: Clock,
  { name, help, labelNames }: SummaryOptions<T>,
): WindowSummary<T> {
  const all = new Map<string, Series<T>>();

  function forgetOld({ slices }: Series<T>, current: number): void {
    for (const number of slices.keys()) if (number <= current - SLICES) slices.delete(number);
  }

  const currentSlice = () => Math.floor(clock.monotonicMs() / SLICE_MS);

  function* values() {
    for (const series of all.values()) {
      forgetOld(series, currentSlice());
      const { labels, sum, count, slices } = series;
      const sorted = Float64Array.from([...slices.values()].flat()).sort();
      for (const quantile of QUANTILES) yield { labels: { quantile, ...labels }, value: quantileOf(sorted, quantile) };
      yield { metricName: `${name}_sum`, labels, value: sum };
      yield { metricName: `${name}_count`, labels, value: count };
    }
  }

  const [type, aggregator] = ["summary", "sum"];
  const get = async () => ({ name, help, type, aggregator, values: [...values()] });
  registry.registerMetric({ name, help, type, aggregator, labelNames, get } as unknown as prometheus.Metric<string>);

  return {
    observe(labels, value) {
      const key = labelNames.map((label) => labels[label]).join("\n");
      const series = all.get(key) ?? { labels: { ...labels }, sum: 0, count: 0, slices: new Map<number, number[]>() };
      all.set(key, series);
      series.sum += value;
      series.count++;
      const current = currentSlice();
      forgetOld(series, current);
      const slice = series.slices.get(current);
      if (slice === undefined) series.slices.set(current, [value]);
      else slice.push(value);
    },
  };
}

/** The smallest that so large a part does not exceed; not a number where there is none. */
function quantileOf(sorted: Float64Array, quantile: number): number {
  return sorted[Math.max(0, Math.ceil(sorted.length * quantile) - 1)] ?? Number.NaN;
}
