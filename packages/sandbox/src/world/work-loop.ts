/** The engine of every controller here: a work queue with one worker and a way to report what failed. */
import { ApiError, createWorkQueue, isConflict, isNotFound } from "@joinery/kube";
import type { ClusterContext } from "./context.ts";

export interface WorkLoop {
  /** Reconcile soon; a key that waits already is not queued twice. */
  add(key: string): void;
  /** Reconcile after `ms`, unless an earlier time is set for the key. */
  addAfter(key: string, ms: number): void;
}

export interface WorkLoopOptions {
  readonly name: string;
  readonly context: ClusterContext;
  /** One step towards the wish; a number asks for another look after so many milliseconds. Throw = retry with back-off. */
  readonly reconcile: (key: string) => Promise<number | undefined>;
}

/**
 * Controllers that count the pods of a workload gather the changes of so many milliseconds: a thousand pods that become ready one
 * after the other are a few looks at a thousand pods, not a thousand.
 */
export const GATHER_MS = 100;

/** Retries start here and double up to the maximum, so that an error neither spins nor sleeps for long. */
const BACKOFF = { baseMs: 100, maxMs: 30_000 } as const;

export function startWorkLoop({ name, context, reconcile }: WorkLoopOptions): WorkLoop {
  const queue = createWorkQueue({
    clock: context.clock,
    ...BACKOFF,
    async work(key) {
      const afterMs = await reconcile(key);
      return afterMs === undefined ? undefined : { afterMs };
    },
    onError(key, error) {
      if (!isOvertaken(error)) {
        context.report(name, key, error);
      }
    },
  });
  void queue.run(context.signal);
  return queue;
}

/** Another writer was first, or took away what this one meant: looked at again, not worth telling. */
export function isOvertaken(error: unknown): boolean {
  const isTerminating = error instanceof ApiError && (error.details?.causes ?? []).some(({ reason }) => reason === "NamespaceTerminating");
  return isConflict(error) || isNotFound(error) || isTerminating;
}
