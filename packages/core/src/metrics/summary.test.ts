import { createVirtualClock } from "@joinery/kube";
import fc from "fast-check";
import { expect, test } from "vitest";
import { scrape } from "../testing/scrape.ts";
import { createMetricsRegistry } from "./prometheus.ts";
import { createSummary } from "./summary.ts";

const MINUTE_MS = 60_000;

function aSummary() {
  const clock = createVirtualClock({ startMs: 0 });
  const registry = createMetricsRegistry();
  const summary = createSummary(registry, clock, { name: "took_seconds", help: "How long it took.", labelNames: ["nodepool"] });
  const observe = (value: number, nodepool = "web") => summary.observe({ nodepool }, value);
  const quantiles = async (nodepool = "web"): Promise<Record<string, number>> => {
    const { series } = await scrape(registry);
    const own = series("took_seconds").filter(({ labels }) => labels.nodepool === nodepool);
    return Object.fromEntries(own.map(({ labels, value }) => [labels.quantile, value]));
  };
  return { clock, registry, observe, quantiles };
}

test("O-172: quantiles 0, 0.5, 0.9, 0.99 and 1, with sum and count", async () => {
  const { registry, observe, quantiles } = aSummary();
  for (let value = 200; value >= 1; value--) observe(value);
  expect(await quantiles()).toEqual({ "0": 1, "0.5": 100, "0.9": 180, "0.99": 198, "1": 200 });
  const { typeOf, value } = await scrape(registry);
  expect([typeOf("took_seconds"), value("took_seconds_sum"), value("took_seconds_count")]).toEqual(["summary", 20_100, 200]);
});

test("O-172: of the last ten minutes; sum and count stay", async () => {
  const { clock, registry, observe, quantiles } = aSummary();
  observe(1);
  await clock.advance(5 * MINUTE_MS);
  observe(9);
  expect(await quantiles()).toMatchObject({ "0": 1, "1": 9 });
  await clock.advance(5 * MINUTE_MS);
  expect(await quantiles()).toMatchObject({ "0": 9, "1": 9 });
  await clock.advance(5 * MINUTE_MS);
  expect(await quantiles()).toEqual({ "0": Number.NaN, "0.5": Number.NaN, "0.9": Number.NaN, "0.99": Number.NaN, "1": Number.NaN });
  const { text, value } = await scrape(registry);
  expect(text).toMatch(/^took_seconds{quantile="0.5",nodepool="web"} Na[nN]$/m);
  expect([value("took_seconds_sum"), value("took_seconds_count")]).toEqual([10, 2]);
});

test("O-175: no series before the first observation; each label value has its own", async () => {
  const { registry, observe, quantiles } = aSummary();
  expect((await scrape(registry)).series("took_seconds_count")).toEqual([]);
  observe(1, "a");
  observe(2, "b");
  expect([(await quantiles("a"))["1"], (await quantiles("b"))["1"]]).toEqual([1, 2]);
});

test("O-172: at least so large a part of what was observed is at most the quantile, and no smaller value will do", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.integer({ min: 0, max: 1000 }), { minLength: 1 }), async (values) => {
      const { observe, quantiles } = aSummary();
      for (const value of values) observe(value);
      for (const [quantile, value] of Object.entries(await quantiles())) {
        const part = (limit: number) => values.filter((one) => one <= limit).length / values.length;
        expect(values).toContain(value);
        expect(part(value)).toBeGreaterThanOrEqual(Number(quantile));
        if (Number(quantile) > 0) expect(part(value - 1)).toBeLessThan(Number(quantile));
      }
    }),
  );
});
