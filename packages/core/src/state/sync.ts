/**
 * May a plan be made from what is known? Not before everything that the API server has is known once, and never while a NodeClaim
 * is on its way to an instance, since its capacity is not known yet. A NodeClaim that this process creates enters the cache with the
 * answer to its creation (L-40), and the cache knows which of answer and watch is newer, so there is nothing to heal (L-39).
 * Rules L-34…L-40, S-5.
 */
import { type Node, type NodeClaim, NodeClaims, Nodes } from "@joinery/api";
import type { Clock, KubeClient, LiveCache } from "@joinery/kube";

export interface SyncOptions {
  readonly clock: Clock;
  readonly nodeClaims: LiveCache<NodeClaim>;
  /** Takes a Node as the API server has it into the cache. */
  readonly noteNode: (node: Node) => void;
  readonly isManaged: (claim: NodeClaim) => boolean;
  /** L-38: told while plans have had to wait for half a minute, every ten seconds. */
  readonly onLate?: (unsyncedMs: number) => void;
}

export interface Sync {
  readonly isSynced: boolean;
  /** L-35, the latch: the caches know everything that existed when this replica began to lead. */
  readonly hasCaughtUp: boolean;
  /** How long it has not been, in milliseconds; 0 while it is. */
  readonly unsyncedMs: number;
  /** Resolves at once, or when it becomes true. */
  whenSynced(signal: AbortSignal): Promise<void>;
  /**
   * L-35: lists NodeClaims and Nodes from the API server into the caches. Done once by whoever starts to lead, before it does anything:
   * what the leader before wrote is neither created again nor taken for absent by a cache whose watch lags behind, or is dead.
   */
  catchUp(kube: KubeClient, signal: AbortSignal): Promise<void>;
  dispose(): void;
}

export function createSync({ clock, nodeClaims, noteNode, isManaged, onLate }: SyncOptions): Sync {
  const unlaunched = new Set<string>();
  const waiters = new Set<() => void>();
  let isCaughtUp = false;
  let unsyncedSinceMs: number | undefined;

  let cancelLate = () => {};

  const isSynced = () => isCaughtUp && unlaunched.size === 0;

  function settle(): void {
    if (!isSynced()) {
      if (unsyncedSinceMs === undefined) startWaiting();
      return;
    }
    cancelLate();
    unsyncedSinceMs = undefined;
    for (const waiter of [...waiters]) waiter();
  }

  function startWaiting(): void {
    const sinceMs = clock.monotonicMs();
    unsyncedSinceMs = sinceMs;
    const tell = () => {
      onLate?.(clock.monotonicMs() - sinceMs);
      cancelLate = clock.after(LATE_AGAIN_MS, tell);
    };
    if (onLate !== undefined) cancelLate = clock.after(LATE_MS, tell);
  }

  function see(claim: NodeClaim): void {
    const name = claim.metadata?.name ?? "";
    if (isManaged(claim) && !claim.status?.providerID) unlaunched.add(name);
    else unlaunched.delete(name);
  }

  const unsubscribe = nodeClaims.onChange(({ type, object }) => {
    if (type === "deleted") unlaunched.delete(object.metadata?.name ?? "");
    else see(object);
    settle();
  });
  for (const claim of nodeClaims.values()) see(claim);
  startWaiting();

  return {
    get isSynced() {
      return isSynced();
    },
    get hasCaughtUp() {
      return isCaughtUp;
    },
    get unsyncedMs() {
      return unsyncedSinceMs === undefined ? 0 : clock.monotonicMs() - unsyncedSinceMs;
    },
    whenSynced(signal) {
      if (isSynced()) return Promise.resolve();
      return until(waiters, signal);
    },
    async catchUp(kube, signal) {
      for await (const claim of kube.listAll(NodeClaims, {}, signal)) nodeClaims.noteWritten(claim);
      for await (const node of kube.listAll(Nodes, { encoding: "trimmed" }, signal)) noteNode(node);
      isCaughtUp = true;
      settle();
    },
    dispose() {
      cancelLate();
      unsubscribe();
    },
  };
}

/** L-38. */
const LATE_MS = 30_000;
const LATE_AGAIN_MS = 10_000;

function until(waiters: Set<() => void>, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const done = () => {
      waiters.delete(done);
      signal.removeEventListener("abort", abort);
      resolve();
    };
    const abort = () => {
      waiters.delete(done);
      reject(signal.reason);
    };
    if (signal.aborted) return abort();
    waiters.add(done);
    signal.addEventListener("abort", abort, { once: true });
  });
}
