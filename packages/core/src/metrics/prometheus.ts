/** The parts of the Prometheus client that are used, without the rest of it. */
import type * as prometheus from "@prometheus-io/client";
import CounterPart from "@prometheus-io/client/lib/counter.js";
import GaugePart from "@prometheus-io/client/lib/gauge.js";
import HistogramPart from "@prometheus-io/client/lib/histogram.js";
import RegistryPart from "@prometheus-io/client/lib/registry.js";

export const Counter: typeof prometheus.Counter = CounterPart;
export const Gauge: typeof prometheus.Gauge = GaugePart;
export const Histogram: typeof prometheus.Histogram = HistogramPart;
export const Registry: typeof prometheus.Registry = RegistryPart;
export type Counter<T extends string> = prometheus.Counter<T>;
export type Gauge<T extends string> = prometheus.Gauge<T>;
export type Histogram<T extends string> = prometheus.Histogram<T>;
export type Registry = prometheus.Registry;

/** A registry of one's own, e.g. for each of two replicas in one process. */
export function createMetricsRegistry(): Registry {
  return new Registry();
}

/**
 * O-175: what has no labels has no series before its first use either, where the client would show a 0. So a replica that has never led
 * shows none.
 */
export function withoutSeries<M extends { remove(): void }>(metric: M): M {
  metric.remove();
  return metric;
}

export interface Sample {
  readonly labels: Readonly<Record<string, string | number>>;
  readonly value: number;
}

/**
 * A gauge that is computed when somebody looks and stores nothing in between: its series die with their objects (O-174), and
 * 15,000 pods cost no memory between two scrapes. A counter where somebody else counts.
 */
export function registerLiveGauge(
  registry: Registry,
  name: string,
  help: string,
  samples: () => Iterable<Sample> | Promise<Iterable<Sample>>,
  type: "gauge" | "counter" = "gauge",
): void {
  const aggregator = "sum";
  const get = async () => ({ name, help, type, aggregator, values: [...(await samples())] });
  registry.registerMetric({ name, help, type, aggregator, get } as unknown as prometheus.Metric<string>);
}
