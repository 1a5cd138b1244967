/** Reading and writing the Lease, and what is known of it. Each request has a span of its own (O-74). */
import { type Lease, Leases } from "@joinery/api";
import type { KubeClient } from "../client.ts";
import type { Clock } from "../clock/clock.ts";
import { startDeadline } from "../clock/deadline.ts";
import { isAlreadyExists, isConflict, isNotFound, TransportError } from "../wire/errors.ts";
import { heldSpec, type Observation, observe, releasedSpec } from "./lease-record.ts";

export interface LeaseAccessOptions {
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly name: string;
  readonly namespace: string;
  readonly identity: string;
  readonly leaseMs: number;
  readonly onNewLeader?: (identity: string) => void;
}

export interface LeaseAccess {
  readonly known: Observation | undefined;
  /** The server said that the Lease is so; undefined: it is not there. */
  note(lease: Lease | undefined): void;
  /** Reads the Lease within `ms`. */
  look(ms: number, signal?: AbortSignal): Promise<void>;
  /**
   * Takes or renews the Lease on top of what is known. Gives the time at which the request was sent, or undefined when another
   * writer was faster; then what is known is out of date.
   */
  write(ms: number, signal?: AbortSignal): Promise<number | undefined>;
  /** Gives the Lease back if it is ours. */
  release(ms: number): Promise<void>;
}

export function createLeaseAccess(options: LeaseAccessOptions): LeaseAccess {
  const { client, clock, name, namespace, identity, leaseMs, onNewLeader } = options;
  const key = { name, namespace };
  let known: Observation | undefined;
  let reported = "";

  function note(lease: Lease | undefined): void {
    known = observe(known, lease, clock.monotonicMs(), leaseMs);
    if (known.holder !== "" && known.holder !== reported) {
      reported = known.holder;
      onNewLeader?.(reported);
    }
  }

  async function ask<R>(request: (signal: AbortSignal) => Promise<R>, ms: number, signal?: AbortSignal): Promise<R> {
    const overdue = () => new TransportError("timeout", `the Lease ${namespace}/${name} was not answered within ${Math.round(ms)} ms`);
    const deadline = startDeadline(clock, ms, signal, overdue);
    try {
      signal?.throwIfAborted();
      return await Promise.race([request(deadline.signal), rejectionOf(deadline.signal)]);
    } finally {
      deadline.cancel();
    }
  }

  async function write(ms: number, signal?: AbortSignal): Promise<number | undefined> {
    const before = known?.lease;
    const spec = heldSpec(before?.spec, identity, leaseMs, clock.wallMs());
    const sentAtMs = clock.monotonicMs();
    try {
      note(
        await ask(
          (own) =>
            before === undefined
              ? client.create(Leases, { metadata: { ...key }, spec }, own)
              : client.replace(Leases, { ...before, spec }, undefined, own),
          ms,
          signal,
        ),
      );
      return sentAtMs;
    } catch (error) {
      const isGone = before !== undefined && isNotFound(error);
      if (isConflict(error) || isAlreadyExists(error) || isGone) {
        return undefined;
      }
      throw error;
    }
  }

  async function look(ms: number, signal?: AbortSignal): Promise<void> {
    note(await ask((own) => client.find(Leases, key, own), ms, signal));
  }

  async function release(ms: number): Promise<void> {
    for (let attempt = 1; attempt <= 2 && known?.lease !== undefined && known.holder === identity; attempt++) {
      const lease = { ...known.lease, spec: releasedSpec(known.lease.spec, clock.wallMs()) };
      try {
        note(await ask((own) => client.replace(Leases, lease, undefined, own), ms));
      } catch (error) {
        if (!isConflict(error)) {
          throw error;
        }
        await look(ms); // A renewal that was broken off may have been taken all the same.
      }
    }
  }

  return {
    get known() {
      return known;
    },
    note,
    look,
    write,
    release,
  };
}

function rejectionOf(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason), { once: true });
  });
}
