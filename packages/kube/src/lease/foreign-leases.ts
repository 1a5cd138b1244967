/**
 * Whether somebody holds a Lease of the same name in another namespace: a controller of the same kind that was installed elsewhere, such
 * as Karpenter itself before a move. Two of them would act on the same nodes, and neither Lease knows of the other.
 *
 * As in `lease-record.ts` a Lease is held until it has not changed for its own duration by our clock, so one that nobody renews any more
 * keeps others out for that long once after it was first seen.
 */
import { type Lease, Leases } from "@joinery/api";
import type { KubeClient } from "../client.ts";
import type { Clock, Random } from "../clock/clock.ts";
import { createCache } from "../informer/cache.ts";
import { isForbidden } from "../wire/errors.ts";
import { type Observation, observe, takeableAtMs } from "./lease-record.ts";

export interface ForeignLeasesOptions {
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly random: Random;
  /** Of the Lease. */
  readonly name: string;
  /** Where our own Lease is. */
  readonly namespace: string;
  /** Of a Lease that does not say how long it lasts. */
  readonly leaseMs: number;
  /** A look failed and is tried again. */
  readonly onError?: (error: unknown) => void;
  /** The role lets this process not look into other namespaces; it is tried again, seldom. */
  readonly onForbidden?: (error: unknown) => void;
}

export interface ForeignLease {
  readonly namespace: string;
  readonly holder: string;
}

export interface ForeignLeases {
  /** Looks until the signal aborts. Never rejects. */
  run(signal: AbortSignal): Promise<void>;
  /** Resolves when it is known what is held, or that it cannot be known. */
  whenLooked(signal: AbortSignal): Promise<void>;
  /** One that is held now; undefined for none, also where nobody may look. */
  readonly held: ForeignLease | undefined;
  /** Called when `held` has become another. Returns what unsubscribes. */
  onChange(listener: () => void): () => void;
}

/** A role is changed by people; a look that is refused costs the API server little, but is in its log. */
const FORBIDDEN_AGAIN_MS = 600_000;
/** As a standby looks at its own Lease. */
const CHECK_AGAIN_MS = 2000;

export function createForeignLeases(options: ForeignLeasesOptions): ForeignLeases {
  const { client, clock, random, name, namespace: own, leaseMs, onError, onForbidden } = options;
  // Our own Lease, which changes every two seconds, has another watch. A role may allow the one name alone.
  const scope = { fieldSelector: `metadata.name=${name},metadata.namespace!=${own}` };
  const seen = new Map<string, Observation>();
  const listeners = new Set<() => void>();
  let held: ForeignLease | undefined;
  let cancelCheck = () => {};
  let markLooked = () => {};
  const looked = new Promise<void>((resolve) => {
    markLooked = resolve;
  });

  function note(lease: Lease, isDeleted = false): void {
    const namespace = lease.metadata?.namespace ?? "";
    if (namespace === own || lease.metadata?.name !== name) return;
    // Who held a Lease that was deleted may not know yet, so its time runs on.
    const observation = observe(seen.get(namespace), isDeleted ? undefined : lease, clock.monotonicMs(), leaseMs);
    if (observation.holder === "") seen.delete(namespace);
    else seen.set(namespace, observation);
  }

  const endOf = (observation: Observation) => takeableAtMs(observation, "");

  /** Says who holds one, first by namespace, and asks again when the first of them should have ended. */
  function judge(signal: AbortSignal): void {
    cancelCheck();
    if (signal.aborted) return;
    const first = [...seen].sort(([a], [b]) => (a < b ? -1 : 1))[0];
    const next = first && { namespace: first[0], holder: first[1].holder };
    const isSame = next?.namespace === held?.namespace && next?.holder === held?.holder;
    held = next;
    const waitMs = Math.min(...[...seen.values()].map(endOf)) - clock.monotonicMs();
    if (first !== undefined) cancelCheck = clock.after(Math.max(waitMs, 0), () => void check(signal));
    if (!isSame) for (const listener of [...listeners]) listener();
  }

  /** A Lease has ended when the API server itself shows it unchanged: a watch that hangs must not make it look so. */
  async function check(signal: AbortSignal): Promise<void> {
    try {
      for await (const lease of client.listAll(Leases, scope, signal)) note(lease);
    } catch (error) {
      if (signal.aborted) return;
      onError?.(error);
      cancelCheck = clock.after(CHECK_AGAIN_MS, () => void check(signal));
      return;
    }
    const nowMs = clock.monotonicMs();
    for (const [namespace, observation] of seen) if (endOf(observation) <= nowMs) seen.delete(namespace);
    judge(signal);
  }

  /** Ends when the signal aborts, or when looking is forbidden. */
  async function follow(signal: AbortSignal): Promise<void> {
    const refused = new AbortController();
    const cache = createCache(client, Leases, {
      clock,
      random,
      fieldSelector: scope.fieldSelector,
      onError(error) {
        if (isForbidden(error)) {
          onForbidden?.(error);
          refused.abort();
        } else onError?.(error);
      },
    });
    const unsubscribe = cache.onChange(({ type, object }) => {
      note(object, type === "deleted");
      judge(signal);
    });
    void cache.whenSynced().then(markLooked);
    await cache.start(AbortSignal.any([signal, refused.signal]));
    unsubscribe();
  }

  return {
    async run(signal) {
      while (!signal.aborted) {
        await follow(signal);
        markLooked();
        await clock.sleep(FORBIDDEN_AGAIN_MS, signal).catch(() => {});
      }
      cancelCheck();
    },
    whenLooked: (signal) =>
      new Promise((resolve, reject) => {
        const abort = () => reject(signal.reason);
        if (signal.aborted) abort();
        signal.addEventListener("abort", abort, { once: true });
        void looked.then(() => {
          signal.removeEventListener("abort", abort);
          resolve();
        });
      }),
    get held() {
      return held;
    },
    onChange(listener) {
      const wrapped = () => listener();
      listeners.add(wrapped);
      return () => void listeners.delete(wrapped);
    },
  };
}
