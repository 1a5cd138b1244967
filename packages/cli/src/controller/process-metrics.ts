/** What the process takes of its machine, under the names that every Prometheus client uses. Rule O-171. */
import { readdirSync } from "node:fs";
import { type Registry, registerLiveGauge } from "@joinery/core";
import type { Clock } from "@joinery/kube";

/** @param clock of the machine */
export function registerProcessMetrics(registry: Registry, clock: Clock): void {
  const startedSeconds = Math.round(clock.wallMs() / 1000 - process.uptime());
  const show = (name: string, help: string, measure: () => number | undefined, type?: "counter") =>
    registerLiveGauge(
      registry,
      name,
      help,
      () => {
        const value = measure();
        return value === undefined ? [] : [{ labels: {}, value }];
      },
      type,
    );
  const cpuSeconds = () => {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1e6;
  };
  show("process_cpu_seconds_total", "CPU time spent.", cpuSeconds, "counter");
  show("process_resident_memory_bytes", "Memory that the process holds.", () => process.memoryUsage.rss());
  show("process_start_time_seconds", "When the process started.", () => startedSeconds);
  show("process_open_fds", "Open file descriptors.", openFiles);
  show("nodejs_heap_size_total_bytes", "Size of the heap.", () => process.memoryUsage().heapTotal);
  show("nodejs_heap_size_used_bytes", "Used part of the heap.", () => process.memoryUsage().heapUsed);
}

/** Linux only. */
function openFiles(): number | undefined {
  try {
    return readdirSync("/proc/self/fd").length - 1; // without the folder itself, which is open just now
  } catch {
    return undefined;
  }
}
