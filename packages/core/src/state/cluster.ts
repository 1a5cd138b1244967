/**
 * The cluster as one view: Nodes joined with NodeClaims, what their pods ask for, what NodePools hold, who waits for capacity.
 * Everything is derived from the caches and can be built anew from them at any time; only marks and nominations live here alone, and
 * nothing depends on their surviving (L-249d). Rules L-22…L-33, L-52…L-56.
 */
import { INITIALIZED_LABEL, INSTANCE_TYPE_LABEL, type Kind, NODE_POOL_LABEL, type NodeClaim, type Resources } from "@joinery/api";
import type { Cache, Change, Clock } from "@joinery/kube";
import type { Caches } from "./caches.ts";
import { type ConsolidationTime, createConsolidationTime } from "./consolidation-time.ts";
import { createDaemonSetShapes, type DaemonSetShapes } from "./daemon-sets.ts";
import { isManaged } from "./managed.ts";
import type { NodeRecord } from "./node-record.ts";
import { createUsageLedger, type NodeUsage } from "./node-usage.ts";
import { type PodRecord, podKey } from "./pod-record.ts";
import { createPoolLedger } from "./pool-ledger.ts";
import { isSameSelector, type SelectorRecord } from "./selectors.ts";
import { capacityOf, isDeleted, isInitialized, poolOf, type StateNode } from "./state-node.ts";
import { createSync, type Sync } from "./sync.ts";

export interface ClusterOptions {
  readonly caches: Caches;
  readonly clock: Clock;
  readonly nodeClassKinds: readonly Kind[];
  /** How long a nomination holds (L-52): see `nominationMs`. */
  readonly nominationMs: number;
  /** L-38. */
  readonly onLate?: (unsyncedMs: number) => void;
}

export interface Cluster {
  /** Counts up with everything that a solve could see. */
  readonly revision: number;
  /** Whether a plan may be made from this view: L-34…L-40. */
  readonly sync: Sync;
  /** L-66. */
  readonly consolidation: ConsolidationTime;
  readonly daemonSets: DaemonSetShapes;
  /** Every Node and every launched NodeClaim. */
  nodes(): Iterable<StateNode>;
  find(key: string): StateNode | undefined;
  usageOf(state: StateNode): NodeUsage;
  /** Bound or not, pods that capacity could help (S-11). */
  provisionable(): Iterable<PodRecord>;
  readonly hasProvisionable: boolean;
  /** L-50: marked by disruption, or going already. */
  isMarked(state: StateNode): boolean;
  mark(keys: Iterable<string>): void;
  unmark(keys: Iterable<string>): void;
  /** L-52. */
  nominate(key: string): void;
  isNominated(key: string): boolean;
  /** L-55; undefined when the pool holds nothing. */
  poolResources(pool: string): Resources | undefined;
  /** Called with the name of a NodePool whose resources changed, and with every change of the rest. */
  onPoolChange(listener: (pool: string) => void): () => void;
  onPod(listener: (pod: PodRecord) => void): () => void;
  /** Stops listening to the caches. */
  dispose(): void;
}

/** L-52: twice the longest batch window, at least ten seconds. */
export function nominationMs(batchMaxMs: number): number {
  return Math.max(2 * batchMaxMs, 10_000);
}

/** Takes what the caches hold and follows them until it is disposed of. */
export function createCluster({ caches, clock, nodeClassKinds, nominationMs, onLate }: ClusterOptions): Cluster {
  const states = new Map<string, StateNode>();
  const usage = createUsageLedger();
  const pools = createPoolLedger();
  const waiting = new Map<string, PodRecord>();
  const marks = new Set<string>();
  const nominatedUntilMs = new Map<string, number>();
  const podListeners = new Set<(pod: PodRecord) => void>();
  const sync = createSync({ clock, nodeClaims: caches.nodeClaims, noteNode: caches.noteNode, isManaged: manages, onLate });
  const consolidation = createConsolidationTime(clock);
  let revision = 0;

  function manages(claim: NodeClaim): boolean {
    return isManaged(claim.spec.nodeClassRef, nodeClassKinds);
  }

  function isMarked(state: StateNode): boolean {
    return marks.has(state.key) || isDeleted(state);
  }

  /** Joins what the caches have under a key; L-24, L-26, L-27 follow from looking again. */
  function refresh(key: string): void {
    revision++;
    const node = first(nodesUnder(key));
    const claim = key.startsWith(NAMED) ? undefined : first(claimsUnder(key));
    const before = states.get(key);
    if (node === undefined && claim === undefined) {
      if (before !== undefined) consolidation.bump();
      states.delete(key);
      marks.delete(key);
      nominatedUntilMs.delete(key);
      pools.set(key, undefined, {});
      return;
    }
    const state: StateNode = { key, ...(node && { node }), ...(claim && { claim }) };
    states.set(key, state);
    if (
      before === undefined ||
      hasLost(before, state) ||
      isInitialized(before) !== isInitialized(state) ||
      isDeleted(before) !== isDeleted(state)
    )
      consolidation.bump();
    account(state);
  }

  function account(state: StateNode): void {
    pools.set(state.key, poolOf(state), isMarked(state) ? {} : capacityOf(state));
  }

  function* nodesUnder(key: string): Iterable<NodeRecord> {
    if (key.startsWith(NAMED)) {
      const node = caches.nodes.find(key.slice(NAMED.length));
      if (node !== undefined && stateKey(node) === key) yield node;
      return;
    }
    for (const node of caches.nodes.by("providerId", key)) if (stateKey(node) === key) yield node;
  }

  function* claimsUnder(providerId: string): Iterable<NodeClaim> {
    for (const claim of caches.nodeClaims.by("providerId", providerId)) if (manages(claim)) yield claim;
  }

  function watchPods(pods: Cache<PodRecord>): () => void {
    const unsubscribe = pods.onChange((change) => {
      usage.apply(change);
      if (change.type === "deleted") waiting.delete(podKey(change.object));
      else see(change.object);
      if (change.type === "deleted" || isBinding(change)) consolidation.bump();
      revision++;
    });
    for (const pod of pods.values()) {
      usage.apply({ type: "added", object: pod });
      see(pod);
    }
    return unsubscribe;
  }

  function see(pod: PodRecord): void {
    if (pod.isProvisionable) waiting.set(podKey(pod), pod);
    else waiting.delete(podKey(pod));
    for (const listener of podListeners) listener(pod);
  }

  function watchKeys<T extends NodeRecord | NodeClaim>(cache: Cache<T>, keyOf: (object: T) => string | undefined): () => void {
    const touch = (object: T) => {
      const key = keyOf(object);
      if (key !== undefined) refresh(key);
      else revision++;
    };
    const unsubscribe = cache.onChange((change) => {
      if (change.type === "updated" && keyOf(change.previous) !== keyOf(change.object)) touch(change.previous);
      touch(change.object);
    });
    for (const object of cache.values()) touch(object);
    return unsubscribe;
  }

  const bump = () => void revision++;
  /** Workloads change their status all the time. */
  const bumpIfSelecting = (change: Change<SelectorRecord>) => {
    if (change.type !== "updated" || !isSameSelector(change.object, change.previous)) bump();
  };
  const unsubscribes = [
    watchPods(caches.pods),
    watchKeys(caches.nodeClaims, ({ status }) => status?.providerID || undefined),
    watchKeys(caches.nodes, stateKey),
    caches.daemonSets.onChange(bump),
    caches.nodePools.onChange((change) => {
      bump();
      if (change.type !== "updated" || change.object.metadata?.generation !== change.previous.metadata?.generation) consolidation.bump();
    }),
    caches.budgets.onChange(bump),
    caches.namespaces.onChange(bump),
    caches.claims.onChange(bump),
    caches.volumes.onChange(bump),
    caches.storageClasses.onChange(bump),
    caches.csiNodes.onChange(bump),
    ...Object.values(caches.selectors ?? {}).map((cache: Cache<SelectorRecord>) => cache.onChange(bumpIfSelecting)),
  ];

  return {
    get revision() {
      return revision;
    },
    sync,
    consolidation,
    daemonSets: createDaemonSetShapes(caches.daemonSets, caches.pods),
    nodes: () => states.values(),
    find: (key) => states.get(key),
    usageOf: ({ node }) => usage.of(node?.metadata.name ?? ""),
    provisionable: () => waiting.values(),
    get hasProvisionable() {
      return waiting.size > 0;
    },
    isMarked,
    mark: (keys) => remark(keys, (key) => void marks.add(key)),
    unmark: (keys) => remark(keys, (key) => void marks.delete(key)),
    nominate(key) {
      if (states.has(key)) nominatedUntilMs.set(key, clock.monotonicMs() + nominationMs);
    },
    isNominated: (key) => (nominatedUntilMs.get(key) ?? 0) > clock.monotonicMs(),
    poolResources: pools.of,
    onPoolChange: pools.onChange,
    onPod(listener) {
      podListeners.add(listener);
      return () => podListeners.delete(listener);
    },
    dispose() {
      for (const unsubscribe of unsubscribes) unsubscribe();
      sync.dispose();
    },
  };

  function remark(keys: Iterable<string>, change: (key: string) => void): void {
    for (const key of keys) {
      const state = states.get(key);
      if (state === undefined) continue;
      change(key);
      account(state);
      consolidation.bump();
    }
    revision++;
  }
}

/** L-66: its Node or its NodeClaim has gone. */
function hasLost(before: StateNode, { node, claim }: StateNode): boolean {
  return (before.node !== undefined && node === undefined) || (before.claim !== undefined && claim === undefined);
}

const NAMED = "node/";

/** L-22, L-23: where a Node is filed; undefined for one that does not count yet. */
function stateKey({ metadata, providerId }: NodeRecord): string | undefined {
  const labels = metadata.labels ?? {};
  if (!labels[NODE_POOL_LABEL]) return providerId || `${NAMED}${metadata.name}`;
  if (providerId === "") return undefined;
  if (labels[INSTANCE_TYPE_LABEL] === undefined && labels[INITIALIZED_LABEL] === undefined) return undefined;
  return providerId;
}

function isBinding(change: Change<PodRecord>): boolean {
  const before = change.type === "updated" ? change.previous.nodeName : "";
  return change.object.nodeName !== "" && change.object.nodeName !== before;
}

/** Duplicates are nobody's choice (L-5); for counting, the first by name stands for them. */
function first<T extends NodeRecord | NodeClaim>(objects: Iterable<T>): T | undefined {
  let best: T | undefined;
  for (const object of objects) {
    if (best === undefined || (object.metadata?.name ?? "") < (best.metadata?.name ?? "")) best = object;
  }
  return best;
}
