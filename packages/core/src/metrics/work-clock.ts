/** How long what is being worked on has taken so far, by controller. O-238. */
import type { Clock } from "@joinery/kube";
import { seconds } from "./core-metrics.ts";
import { type Registry, registerLiveGauge, type Sample } from "./prometheus.ts";

export interface WorkClock {
  start(controller: string): void;
  /** Something that took so long has ended. */
  end(controller: string, tookMs: number): void;
  /** Nobody works any more. */
  clear(): void;
}

/** Starts of what is under way, counted: which key started when does not matter here. */
type Starts = Map<number, number>;

export function createWorkClock(registry: Registry, clock: Clock): WorkClock {
  const startsOf = new Map<string, Starts>();

  function add(controller: string, startedMs: number, change: 1 | -1): void {
    const starts = startsOf.get(controller) ?? new Map<number, number>();
    startsOf.set(controller, starts);
    const count = (starts.get(startedMs) ?? 0) + change;
    if (count > 0) starts.set(startedMs, count);
    else starts.delete(startedMs);
  }

  const gauge = (name: string, help: string, measure: (ages: readonly { readonly ms: number; readonly count: number }[]) => number) =>
    registerLiveGauge(registry, name, help, function* (): Iterable<Sample> {
      const nowMs = clock.monotonicMs();
      for (const [controller, starts] of startsOf) {
        const ages = [...starts].map(([startedMs, count]) => ({ ms: nowMs - startedMs, count }));
        yield { labels: { name: controller, controller }, value: seconds(measure(ages)) };
      }
    });
  gauge("workqueue_unfinished_work_seconds", "Time spent so far on keys that are worked on.", (ages) =>
    ages.reduce((sum, { ms, count }) => sum + ms * count, 0),
  );
  gauge("workqueue_longest_running_processor_seconds", "How long the oldest of them has been worked on.", (ages) =>
    ages.reduce((longest, { ms }) => Math.max(longest, ms), 0),
  );

  return {
    start: (controller) => add(controller, clock.monotonicMs(), 1),
    end: (controller, tookMs) => add(controller, clock.monotonicMs() - tookMs, -1),
    clear: () => startsOf.clear(),
  };
}
