/**
 * Whether the API server answers, as the requests of the controller show it. It is told when it does not, again each half minute while
 * that lasts, and when it does again; so one line says what every cache and loop waits for. Rules O-67, F-197.
 */
import { type Clock, type RequestOutcome, TransportError, type TransportFault } from "@joinery/kube";
import type { Logger } from "../logger.ts";

export interface Reachability {
  observe(outcome: RequestOutcome): void;
  /** Why the API server does not answer; undefined while it does, and before anyone has asked. */
  readonly fault: string | undefined;
}

/** As often as a cluster state that is not synced is told at first (L-38). */
const TELL_EVERY_MS = 30_000;
/** A connection that breaks midway is daily bread, and the next request shows whether more is behind it. */
const AWAY: ReadonlySet<TransportFault> = new Set(["unreachable", "timeout", "credentials"]);

/** Starts with nothing known. */
export function createReachability(clock: Clock, log: Logger): Reachability {
  let away: { readonly sinceMs: number; toldAtMs: number; error: string } | undefined;

  function noteFailure({ message: error }: TransportError): void {
    const nowMs = clock.monotonicMs();
    if (away !== undefined && nowMs - away.toldAtMs < TELL_EVERY_MS) {
      away.error = error;
      return;
    }
    away = { sinceMs: away?.sinceMs ?? nowMs, toldAtMs: nowMs, error };
    log.error({ error, seconds: secondsSince(away.sinceMs) }, "waiting for the API server");
  }

  const secondsSince = (ms: number) => Math.round((clock.monotonicMs() - ms) / 1000);

  return {
    observe({ status, error }) {
      if (error instanceof TransportError && AWAY.has(error.fault)) noteFailure(error);
      if (status === undefined || away === undefined) return;
      log.info({ seconds: secondsSince(away.sinceMs) }, "the API server answers again");
      away = undefined;
    },
    get fault() {
      return away?.error;
    },
  };
}
