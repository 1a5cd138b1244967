/**
 * One replica acts, the others stand by: a Lease says who. Rules L-249, O-73…O-83.
 *
 * Why two never act at once: a leader acts until `renewDeadlineMs` after it *sent* the last renewal that the server took, by its own
 * monotonic clock. A rival takes the Lease only when its record has not changed for `leaseMs` since the rival *saw* it, which is never before it was
 * written; and the write is locked to the version seen. So the leader stops leaseMs − renewDeadlineMs (5 s) before anyone can take
 * over, whatever the wall clocks say. What remains is an action that the process began before it was frozen and ends afterwards; ask `isLeader()` as
 * late as possible.
 */
import { Leases } from "@joinery/api";
import type { KubeClient } from "../client.ts";
import { type Clock, type Random, sleepOn } from "../clock/clock.ts";
import { withJitter } from "../clock/random.ts";
import { type EventRecorder, referenceTo } from "../events/recorder.ts";
import { createLeaseAccess } from "./lease-access.ts";
import { takeableAtMs } from "./lease-record.ts";

export interface LeaderElectionOptions {
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly random: Random;
  /** Unique to this process. O-75: host name, `_`, a random UUID. */
  readonly identity: string;
  readonly namespace: string;
  /** O-73. */
  readonly name?: string;
  /** How long a leader that went silent keeps the others out. O-74: 15 s. */
  readonly leaseMs?: number;
  /** How long a leader acts after its last renewal. O-74: 10 s. */
  readonly renewDeadlineMs?: number;
  /** Between renewals, and between looks of a standby that hears nothing from its watch. O-74: 2 s. */
  readonly retryMs?: number;
  /** O-75: tells who became leader. */
  readonly recorder?: EventRecorder;
  readonly onNewLeader?: (identity: string) => void;
  /** A request failed and is tried again. */
  readonly onError?: (error: unknown) => void;
  /** The Lease had to be read before it could be written (O-239). */
  readonly onSlowPath?: () => void;
}

/** `stopped`: the caller's signal; `lost`: the Lease could not be renewed in time or is another's; `finished`: the work ended by itself. */
export type LeadershipEnd = "stopped" | "lost" | "finished";

export interface LeaderElection {
  /**
   * Waits for leadership, then runs `lead` with a signal that aborts when leadership ends. Resolves after `lead` has. On a clean end the Lease is
   * given back, so that another can take it at once. Rejects with what `lead` throws.
   */
  run(lead: (leadership: AbortSignal) => Promise<void>, signal: AbortSignal): Promise<LeadershipEnd>;
  /** Whether this process may act now. */
  isLeader(): boolean;
  /** Who holds the Lease as far as is known; "" for nobody. */
  readonly leader: string;
}

/** Spread of a standby's looks; client-go's figure. */
const RETRY_JITTER = 1.2;
/** A standby whose watch spoke within this many renewals need not ask. */
const WATCH_TRUSTED_RENEWALS = 2.5;
const WATCH_SECONDS = 300;

/** Throws a RangeError where the three spans do not fit each other. */
export function createLeaderElection(options: LeaderElectionOptions): LeaderElection {
  const { client, clock, random, identity, namespace, recorder, onNewLeader, onError, onSlowPath } = options;
  const { name = "karpenter-leader-election", leaseMs = 15_000, renewDeadlineMs = 10_000, retryMs = 2000 } = options;
  if (!(leaseMs > renewDeadlineMs && renewDeadlineMs > retryMs * RETRY_JITTER && retryMs > 0)) {
    throw new RangeError(
      `Cannot elect a leader: lease ${leaseMs} ms, renew deadline ${renewDeadlineMs} ms, retry ${retryMs} ms, wanted lease > deadline > ${RETRY_JITTER} × retry > 0`,
    );
  }
  const access = createLeaseAccess({ client, clock, name, namespace, identity, leaseMs, onNewLeader });
  /** O-74: so that a renewal can be tried twice before the deadline. */
  const requestMs = renewDeadlineMs / 2;
  let heardAtMs = Number.NEGATIVE_INFINITY;
  /** Until when this process may act. */
  let actsUntilMs = Number.NEGATIVE_INFINITY;
  let isLeading = false;

  /** Resolves when the Lease is ours; rejects when the signal aborts. */
  async function acquire(signal: AbortSignal): Promise<void> {
    const bell = createBell();
    const watching = new AbortController();
    const onAbort = () => watching.abort();
    signal.addEventListener("abort", onAbort, { once: true });
    try {
      void follow(watching.signal, bell.ring);
      for (;;) {
        signal.throwIfAborted();
        try {
          if (await tryToTake(signal)) {
            return;
          }
        } catch (error) {
          signal.throwIfAborted();
          onError?.(error);
        }
        const takeableInMs =
          access.known === undefined ? Number.POSITIVE_INFINITY : takeableAtMs(access.known, identity) - clock.monotonicMs();
        const pauseMs = withJitter(random, retryMs, RETRY_JITTER);
        await bell.wait(clock, takeableInMs > 0 ? Math.min(pauseMs, takeableInMs) : pauseMs, signal);
      }
    } finally {
      watching.abort();
      signal.removeEventListener("abort", onAbort);
    }
  }

  async function tryToTake(signal: AbortSignal): Promise<boolean> {
    const isTakeable = () => access.known !== undefined && clock.monotonicMs() >= takeableAtMs(access.known, identity);
    const isFresh = clock.monotonicMs() - heardAtMs < retryMs * WATCH_TRUSTED_RENEWALS;
    if (!isFresh || isTakeable()) {
      onSlowPath?.();
      await access.look(requestMs, signal);
    }
    if (!isTakeable()) {
      return false;
    }
    const sentAtMs = await access.write(requestMs, signal);
    if (sentAtMs === undefined) {
      heardAtMs = Number.NEGATIVE_INFINITY;
      return false;
    }
    actsUntilMs = sentAtMs + renewDeadlineMs;
    return clock.monotonicMs() < actsUntilMs;
  }

  /** Follows the Lease while standing by, and rings when it has become free. */
  async function follow(signal: AbortSignal, onFree: () => void): Promise<void> {
    const scope = { namespace, fieldSelector: `metadata.name=${name}`, timeoutSeconds: WATCH_SECONDS };
    while (!signal.aborted) {
      try {
        for await (const event of client.watch(Leases, scope, signal)) {
          if (event.type === "BOOKMARK") {
            continue;
          }
          heardAtMs = clock.monotonicMs();
          access.note(event.type === "DELETED" ? undefined : event.object);
          if (access.known !== undefined && takeableAtMs(access.known, identity) <= heardAtMs) {
            onFree();
          }
        }
      } catch (error) {
        if (!signal.aborted) {
          onError?.(error);
        }
      }
      heardAtMs = Number.NEGATIVE_INFINITY;
      await sleepOn(clock.after, withJitter(random, retryMs, RETRY_JITTER), signal).catch(() => {});
    }
  }

  /** Renews until `done` aborts. Resolves early when the Lease is lost. */
  async function keep(done: AbortSignal): Promise<void> {
    let pauseMs = retryMs;
    while (!done.aborted) {
      await sleepOn(clock.after, pauseMs, done).catch(() => {});
      pauseMs = retryMs;
      const leftMs = actsUntilMs - clock.monotonicMs();
      if (done.aborted || leftMs <= 0) {
        return;
      }
      if (access.known?.lease !== undefined && access.known.holder !== identity) {
        return;
      }
      try {
        const sentAtMs = await access.write(Math.min(requestMs, leftMs), done);
        if (sentAtMs !== undefined) {
          actsUntilMs = sentAtMs + renewDeadlineMs;
          continue;
        }
        // Somebody wrote, or our own last write was taken though its answer was lost.
        onSlowPath?.();
        await access.look(Math.min(requestMs, leftMs), done);
        pauseMs = 0;
      } catch (error) {
        if (!done.aborted) {
          onError?.(error);
        }
      }
    }
  }

  async function giveBack(): Promise<void> {
    try {
      await access.release(requestMs);
    } catch (error) {
      onError?.(error); // The others wait for the end of the lease.
    }
  }

  /** Does the work while the Lease is kept, and says how it ended. */
  async function leadUntilTheEnd(lead: (leadership: AbortSignal) => Promise<void>, signal: AbortSignal): Promise<LeadershipEnd> {
    const leadership = new AbortController();
    const kept = new AbortController();
    let isLost = false;
    const lose = () => {
      isLost = true;
      kept.abort();
      isLeading = false;
      actsUntilMs = Number.NEGATIVE_INFINITY;
      leadership.abort(new Error(`leadership was lost: the Lease ${namespace}/${name} was not renewed in time`));
    };
    const onStop = () => {
      isLeading = false;
      leadership.abort(signal.reason);
    };
    isLeading = true;
    const keeping = keep(kept.signal).then(() => {
      if (!kept.signal.aborted) lose();
    });
    const cancelDeadline = watchDeadline(clock, () => actsUntilMs, lose);
    signal.addEventListener("abort", onStop, { once: true });
    if (signal.aborted) {
      onStop();
    }
    if (access.known?.lease !== undefined) {
      recorder?.publish({
        subject: referenceTo(Leases, access.known.lease),
        type: "Normal",
        reason: "LeaderElection",
        message: `${identity} became leader`,
        dedupeValues: [],
      });
    }
    try {
      await lead(leadership.signal);
    } finally {
      isLeading = false;
      cancelDeadline();
      kept.abort();
      signal.removeEventListener("abort", onStop);
      await keeping;
      if (!isLost) {
        await giveBack();
      }
      actsUntilMs = Number.NEGATIVE_INFINITY;
    }
    return isLost ? "lost" : signal.aborted ? "stopped" : "finished";
  }

  return {
    async run(lead, signal) {
      try {
        await acquire(signal);
      } catch (error) {
        if (signal.aborted) {
          return "stopped";
        }
        throw error;
      }
      return leadUntilTheEnd(lead, signal);
    },
    isLeader: () => isLeading && clock.monotonicMs() < actsUntilMs,
    get leader() {
      return access.known?.holder ?? "";
    },
  };
}

/** Calls `onPassed` once the deadline, which moves on with each renewal, has passed. */
function watchDeadline(clock: Clock, deadlineMs: () => number, onPassed: () => void): () => void {
  let cancel = () => {};
  const arm = () => {
    const leftMs = deadlineMs() - clock.monotonicMs();
    if (leftMs <= 0) {
      onPassed();
    } else {
      cancel = clock.after(leftMs, arm);
    }
  };
  arm();
  return () => cancel();
}

/** Something that one waits for, but not for ever. */
function createBell() {
  let isRung = false;
  let wake = () => {};
  return {
    ring() {
      isRung = true;
      wake();
    },
    async wait(clock: Clock, ms: number, signal: AbortSignal): Promise<void> {
      if (!isRung) {
        const over = new AbortController();
        const end = () => over.abort();
        wake = end;
        signal.addEventListener("abort", end, { once: true });
        await sleepOn(clock.after, ms, over.signal).catch(() => {});
        signal.removeEventListener("abort", end);
        wake = () => {};
      }
      isRung = false;
    },
  };
}
