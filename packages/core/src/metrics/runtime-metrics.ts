/** What controllers and their queues tell about themselves, under the names of the usual dashboards. Rules O-237, O-238. */
import type { Clock, WorkQueueMetrics } from "@joinery/kube";
import { DURATION_BUCKETS } from "./buckets.ts";
import { seconds } from "./core-metrics.ts";
import { Counter, Gauge, Histogram, type Registry } from "./prometheus.ts";
import { createWorkClock } from "./work-clock.ts";

/** What the loop of one controller tells. */
export interface LoopMetrics extends Required<WorkQueueMetrics> {
  /** A reconcile failed by a fault of ours (O-91). */
  onPanic(): void;
  /** A reconcile found something that only a person can mend. */
  onStuck(): void;
}

const RESULTS = { done: "success", again: "requeue_after", retry: "requeue", error: "error" } as const;

/** Queue durations start far below a millisecond. */
const QUEUE_BUCKETS = [1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1, 10, 100, 1000];

export interface RuntimeMetrics {
  /** Makes the hooks of one controller's queue. */
  (controller: string, workers: number): LoopMetrics;
  /** The controllers have ended: how much waits and works is told no more (O-77). What was counted stays. */
  endTerm(): void;
}

export function createRuntimeMetrics(registry: Registry, clock: Clock): RuntimeMetrics {
  const registers = [registry];
  const workClock = createWorkClock(registry, clock);
  const labelNames = ["controller"] as const;
  const reconciles = new Counter<"controller" | "result">({
    name: "controller_runtime_reconcile_total",
    help: "Reconciles by result.",
    labelNames: ["controller", "result"],
    registers,
  });
  const errors = new Counter<"controller">({
    name: "controller_runtime_reconcile_errors_total",
    help: "Reconciles that failed.",
    labelNames: [...labelNames],
    registers,
  });
  const terminalErrors = new Counter<"controller">({
    name: "controller_runtime_terminal_reconcile_errors_total",
    help: "Reconciles that only a person can make succeed.",
    labelNames: [...labelNames],
    registers,
  });
  const panics = new Counter<"controller">({
    name: "controller_runtime_reconcile_panics_total",
    help: "Reconciles that failed by a fault of the program.",
    labelNames: [...labelNames],
    registers,
  });
  const reconcileTime = new Histogram<"controller">({
    name: "controller_runtime_reconcile_time_seconds",
    help: "Duration of a reconcile.",
    labelNames: [...labelNames],
    buckets: DURATION_BUCKETS,
    registers,
  });
  const maxWorkers = new Gauge<"controller">({
    name: "controller_runtime_max_concurrent_reconciles",
    help: "Workers at most.",
    labelNames: [...labelNames],
    registers,
  });
  const activeWorkers = new Gauge<"controller">({
    name: "controller_runtime_active_workers",
    help: "Workers at work.",
    labelNames: [...labelNames],
    registers,
  });
  const queueLabels = ["name", "controller"] as const;
  const depth = new Gauge<"name" | "controller" | "priority">({
    name: "workqueue_depth",
    help: "Keys that wait.",
    labelNames: [...queueLabels, "priority"],
    registers,
  });
  const adds = new Counter<(typeof queueLabels)[number]>({
    name: "workqueue_adds_total",
    help: "Keys added.",
    labelNames: [...queueLabels],
    registers,
  });
  const retries = new Counter<(typeof queueLabels)[number]>({
    name: "workqueue_retries_total",
    help: "Keys added again after a failure.",
    labelNames: [...queueLabels],
    registers,
  });
  const queueTime = new Histogram<(typeof queueLabels)[number]>({
    name: "workqueue_queue_duration_seconds",
    help: "How long keys wait.",
    labelNames: [...queueLabels],
    buckets: QUEUE_BUCKETS,
    registers,
  });
  const workTime = new Histogram<(typeof queueLabels)[number]>({
    name: "workqueue_work_duration_seconds",
    help: "How long keys are worked on.",
    labelNames: [...queueLabels],
    buckets: QUEUE_BUCKETS,
    registers,
  });

  const observe = (controller: string, workers: number): LoopMetrics => {
    const name = { name: controller, controller };
    maxWorkers.set({ controller }, workers);
    return {
      onAdded(waiting) {
        adds.inc(name);
        depth.set({ ...name, priority: "" }, waiting);
      },
      onStarted(queuedMs, waiting) {
        queueTime.observe(name, seconds(queuedMs));
        depth.set({ ...name, priority: "" }, waiting);
        activeWorkers.inc({ controller });
        workClock.start(controller);
      },
      onDone(workedMs, outcome) {
        activeWorkers.dec({ controller });
        workClock.end(controller, workedMs);
        workTime.observe(name, seconds(workedMs));
        reconcileTime.observe({ controller }, seconds(workedMs));
        reconciles.inc({ controller, result: RESULTS[outcome] });
        if (outcome === "error") errors.inc({ controller });
      },
      onRetried: () => retries.inc(name),
      onPanic: () => panics.inc({ controller }),
      onStuck: () => terminalErrors.inc({ controller }),
    };
  };
  return Object.assign(observe, {
    endTerm() {
      for (const gauge of [depth, maxWorkers, activeWorkers]) gauge.reset();
      workClock.clear();
    },
  });
}
