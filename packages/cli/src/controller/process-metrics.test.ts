import { createMetricsRegistry } from "@joinery/core";
import { createRealClock } from "@joinery/kube";
import { expect, test } from "vitest";
import { registerProcessMetrics } from "./process-metrics.ts";

test("O-171: the process's own figures", async () => {
  const clock = createRealClock();
  const registry = createMetricsRegistry();
  registerProcessMetrics(registry, clock);
  const text = await registry.metrics();
  const value = (name: string) => Number(new RegExp(`^${name} (\\S+)$`, "m").exec(text)?.[1]);
  expect(text).toMatch(/^# TYPE process_cpu_seconds_total counter$/m);
  expect(value("process_cpu_seconds_total")).toBeGreaterThan(0);
  expect(value("process_resident_memory_bytes")).toBeGreaterThan(value("nodejs_heap_size_used_bytes"));
  expect(value("nodejs_heap_size_total_bytes")).toBeGreaterThanOrEqual(value("nodejs_heap_size_used_bytes") * 0.5);
  expect(value("process_start_time_seconds") * 1000).toBeLessThanOrEqual(clock.wallMs());
});
