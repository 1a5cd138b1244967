/**
 * Who leads. Without an election this replica does, from the start. While a Lease of the same name is held in another namespace, where
 * this replica may look there, it does not lead: whoever holds it would act on the same nodes. Rules O-73…O-83.
 */
import {
  type Clock,
  createEventRecorder,
  createForeignLeases,
  createLeaderElection,
  type ForeignLeases,
  type KubeClient,
  type RandomSource,
  TransportError,
} from "@joinery/kube";
import type { Logger } from "./logger.ts";
import { messageOf } from "./runtime/answers.ts";
import { LeadershipLostError } from "./runtime/guard.ts";
import { createTelling } from "./runtime/telling.ts";

export interface LeaderElectionOptions {
  /** O-73: `karpenter-leader-election` when absent. */
  readonly name?: string;
  readonly namespace: string;
  /** Host name and something unique (O-75). */
  readonly identity: string;
  /** O-74: 15 s, 10 s and 2 s when absent. A clock that runs faster than the machine's needs longer spans, or a busy machine loses the Lease. */
  readonly timing?: LeaseTiming;
}

interface LeaseTiming {
  readonly leaseMs: number;
  readonly renewDeadlineMs: number;
  readonly retryMs: number;
}

export interface Leadership {
  readonly name: string;
  /**
   * Calls `lead` once this replica leads; the term's signal aborts at once when it does no more. A term that ends because another
   * controller has turned up is followed by the next when that one is gone. Rejects when leadership was lost: what this process knows
   * and holds may be out of date, so it ends, and another begins with nothing (O-78).
   */
  run(signal: AbortSignal, lead: (term: AbortSignal) => Promise<void>): Promise<void>;
}

interface LeadershipRooms {
  /** With a share of its own, so that the loops' requests cannot keep the Lease waiting (O-66). */
  readonly kube: KubeClient;
  readonly clock: Clock;
  readonly random: RandomSource;
  readonly log: Logger;
  /** The Lease had to be read before it could be written (O-239). */
  readonly onSlowPath?: () => void;
}

const NAME = "karpenter-leader-election";
/** O-74. */
const LEASE_MS = 15_000;
const TELL_EVERY_MS = 60_000;

export function createLeadership(
  options: LeaderElectionOptions | undefined,
  { kube: client, clock, random, log, onSlowPath }: LeadershipRooms,
): Leadership {
  if (options === undefined) return { name: NAME, run: (signal, lead) => lead(signal) };
  const { name = NAME, namespace, identity, timing } = options;
  const isNews = createTelling(clock, TELL_EVERY_MS);
  const onError = (error: unknown) => {
    // That the API server does not answer is told elsewhere, once.
    const level = error instanceof TransportError ? "debug" : "error";
    if (isNews(name, messageOf(error))) log[level]({ lease: name, error: messageOf(error) }, "cannot use the lease, trying again");
  };
  const election = createLeaderElection({
    client,
    clock,
    random,
    identity,
    namespace,
    name,
    ...timing,
    recorder: createEventRecorder({ client, clock, random }),
    onNewLeader: (leader) => log.info({ leader, lease: name }, "new leader"),
    onError,
    onSlowPath,
  });
  const foreign = createForeignLeases({
    client,
    clock,
    random: random.split("foreign"),
    name,
    namespace,
    leaseMs: timing?.leaseMs ?? LEASE_MS,
    onError,
    onForbidden: (error) =>
      log.info(
        { lease: name, error: messageOf(error) },
        "the role does not let other namespaces be searched for controllers that run already",
      ),
  });
  foreign.onChange(() => {
    const { held } = foreign;
    if (held === undefined) log.info({ lease: name }, "no other controller holds the lease any more");
    else log.error({ lease: name, ...held }, "another controller holds the lease in its namespace, so this one does not act");
  });

  /** One term, or the wait for it; ended early when another controller turns up. */
  async function runTerm(signal: AbortSignal, lead: (term: AbortSignal) => Promise<void>): Promise<"again" | "over"> {
    const yielding = new AbortController();
    const unsubscribe = foreign.onChange(() => {
      if (foreign.held !== undefined) yielding.abort(new Error(`${foreign.held.holder} holds ${name} in ${foreign.held.namespace}`));
    });
    try {
      const end = await election.run(lead, AbortSignal.any([signal, yielding.signal]));
      if (end === "lost") throw new LeadershipLostError(`Leadership was lost: the Lease ${namespace}/${name} was not renewed in time`);
      return yielding.signal.aborted && !signal.aborted ? "again" : "over";
    } finally {
      unsubscribe();
    }
  }

  return {
    name,
    async run(signal, lead) {
      const looking = new AbortController();
      void foreign.run(AbortSignal.any([signal, looking.signal]));
      try {
        await foreign.whenLooked(signal);
        do await whenFree(foreign, signal);
        while ((await runTerm(signal, lead)) === "again");
      } finally {
        looking.abort();
      }
    },
  };
}

/** Resolves when nobody holds a foreign Lease; rejects when the signal aborts. */
function whenFree(foreign: ForeignLeases, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const end = () => {
      unsubscribe();
      signal.removeEventListener("abort", end);
      if (signal.aborted) reject(signal.reason);
      else resolve();
    };
    const unsubscribe = foreign.onChange(() => {
      if (foreign.held === undefined) end();
    });
    signal.addEventListener("abort", end, { once: true });
    if (signal.aborted || foreign.held === undefined) end();
  });
}
