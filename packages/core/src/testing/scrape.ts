/** What Prometheus would read of a registry: types and series of the text format, as numbers and labels. For tests. */
import type { Registry } from "../metrics/prometheus.ts";

interface Series {
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

export interface Scrape {
  readonly text: string;
  /** "counter", "gauge" …; undefined when no metric of this name is registered. */
  typeOf(metric: string): string | undefined;
  /** Of a name as it stands in the text, so with `_count`, `_sum` or `_bucket` where it has one. */
  series(name: string): readonly Series[];
  /** The value of the one series that has all these labels; undefined where none has, throws where several have. */
  value(name: string, labels?: Readonly<Record<string, string>>): number | undefined;
  /** Names of the labels that its series have, sorted; those of the format itself (`le`, `quantile`) left out. */
  labelNames(name: string): readonly string[];
  /** Upper bounds of a histogram's buckets, without +Inf. */
  buckets(metric: string): readonly number[];
}

const LINE = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (\S+)$/;
const LABEL = /(\w+)="((?:[^"\\]|\\.)*)"/g;

export async function scrape(registry: Registry): Promise<Scrape> {
  const text = await registry.metrics();
  const types = new Map<string, string>();
  const all = new Map<string, Series[]>();
  for (const line of text.split("\n")) {
    const [, metric, type] = /^# TYPE (\S+) (\S+)$/.exec(line) ?? [];
    if (metric !== undefined) types.set(metric, type ?? "");
    const [, name, labelText = "", value] = LINE.exec(line) ?? [];
    if (name === undefined) continue;
    const labels = Object.fromEntries([...labelText.matchAll(LABEL)].map(([, key, content]) => [key, content]));
    all.set(name, [...(all.get(name) ?? []), { labels, value: Number(value) }]);
  }
  const series = (name: string) => all.get(name) ?? [];
  return {
    text,
    series,
    typeOf: (metric) => types.get(metric),
    value(name, labels = {}) {
      const found = series(name).filter((one) => Object.entries(labels).every(([key, value]) => one.labels[key] === value));
      if (found.length > 1) throw new Error(`${name}${JSON.stringify(labels)} has ${found.length} series`);
      return found[0]?.value;
    },
    labelNames(name) {
      const names = new Set(series(name).flatMap(({ labels }) => Object.keys(labels)));
      return [...names].filter((label) => label !== "le" && label !== "quantile").sort();
    },
    buckets(metric) {
      const bounds = series(`${metric}_bucket`).map(({ labels }) => labels.le);
      return [...new Set(bounds)].filter((bound) => bound !== "+Inf").map(Number);
    },
  };
}
