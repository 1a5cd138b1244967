/**
 * One controller: keys are woken by changes of caches and by due times, workers reconcile them, one at a time per key. Nothing runs
 * while nothing is due. Rules L-15, L-17, L-18, L-19, O-108.
 */
import type { Kind } from "@joinery/api";
import { type BackoffOptions, type Clock, createWorkQueue, isConflict, type RandomSource, type WorkResult } from "@joinery/kube";
import type { Logger } from "../logger.ts";
import type { LoopMetrics } from "../metrics/runtime-metrics.ts";
import { messageOf } from "./answers.ts";
import { objectFields, reconcileFields, within } from "./log-context.ts";
import { type Reconciler, RetryLater, type Step } from "./step.ts";

/** Something that wakes keys: subscribes, wakes what exists already, and returns what unsubscribes. */
export type Source = (wake: (key: string) => void) => () => void;

export interface LoopOptions<T> {
  /** The controller's name in logs and metrics (O-98). */
  readonly name: string;
  readonly find: (key: string) => T | undefined;
  readonly reconciler: Reconciler<T>;
  /** Called instead of the reconciler when there is no object (any more). */
  readonly gone?: (key: string) => void;
  readonly sources: readonly Source[];
  readonly workers: number;
  /** `DEFAULT_BACKOFF` when absent. */
  readonly backoff?: BackoffOptions;
}

/** L-18, O-108: 5 ms to 1000 s per key; and however many keys fail, they come back ten a second. */
const DEFAULT_BACKOFF: BackoffOptions = { bucket: { perSecond: 10, burst: 100 } };

export interface LoopRooms {
  readonly clock: Clock;
  /** Says already which controller speaks. */
  readonly log: Logger;
  /** For the IDs of reconciles. */
  readonly random: RandomSource;
  /** Of the objects that the keys name. */
  readonly kind?: Kind;
  readonly observe?: (name: string, workers: number) => LoopMetrics;
}

export interface Loop {
  readonly name: string;
  wake(key: string): void;
  /** Works until the signal aborts; then waits for what is in the middle of a step. */
  run(signal: AbortSignal): Promise<void>;
}

export function createLoop<T>(options: LoopOptions<T>, { clock, log, random, kind, observe }: LoopRooms): Loop {
  const { name, find, reconciler, gone, sources, workers, backoff = DEFAULT_BACKOFF } = options;
  const metrics = observe?.(name, workers);
  const ids = random.split(`reconciles of ${name}`);
  const queue = createWorkQueue({
    ...backoff,
    clock,
    concurrency: workers,
    metrics,
    work,
  });

  async function work(key: string, signal: AbortSignal): Promise<WorkResult> {
    const fields = reconcileFields(kind, key, ids);
    try {
      return resultOf(key, await within(log, fields, () => withoutReport(step(key, signal))));
    } catch (error) {
      if (!signal.aborted) report(fields, error);
      throw error;
    }
  }

  function report(fields: object, error: unknown): void {
    log.error({ ...fields, error: messageOf(error) }, "Reconciler error");
    if (isOurFault(error)) metrics?.onPanic();
  }

  async function step(key: string, signal: AbortSignal): Promise<Step> {
    const object = find(key);
    if (object !== undefined) return reconciler.reconcile(object, signal);
    gone?.(key);
    return { kind: "asleep" };
  }

  function resultOf(key: string, step: Step | "retry"): WorkResult {
    // What an earlier pass waited for has been looked at; and the timer of an object that is gone must not stay for weeks.
    queue.cancelAfter(key);
    if (step === "retry") return { retry: true };
    if (step.kind === "stuck") {
      log.warn({ ...objectFields(kind, key), reason: step.reason }, step.reason.message);
      metrics?.onStuck();
    }
    return step.kind === "again" ? { afterMs: step.afterMs } : undefined;
  }

  return {
    name,
    wake: queue.add,
    async run(signal) {
      const unsubscribes = sources.map((source) => source(queue.add));
      try {
        await queue.run(signal);
      } finally {
        for (const unsubscribe of unsubscribes) unsubscribe();
      }
    },
  };
}

/** O-91: what in Go would be a panic. */
function isOurFault(error: unknown): boolean {
  return error instanceof TypeError || error instanceof ReferenceError || error instanceof RangeError;
}

/** L-15, L-17: someone else wrote first, or the reconciler only wants its back-off. Neither is an error. */
async function withoutReport(step: Promise<Step>): Promise<Step | "retry"> {
  try {
    return await step;
  } catch (error) {
    if (isNoError(error)) return "retry";
    throw error;
  }
}

/** Also where several objects were written, and no write failed in another way. */
function isNoError(error: unknown): boolean {
  if (error instanceof AggregateError) return error.errors.length > 0 && error.errors.every(isNoError);
  return isConflict(error) || error instanceof RetryLater;
}
