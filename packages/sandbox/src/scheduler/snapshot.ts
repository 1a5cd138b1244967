/**
 * The cluster as the scheduler sees it: nodes with what is taken on them, kept up to date change by change. Pods that this
 * scheduler has just bound are assumed to be there before the watch says so.
 */
import type { Node, Pod, PodAffinityTerm, Resources, Taint } from "@joinery/api";
import { parseResources } from "@joinery/api";
import { canonicalJson } from "../controllers/fnv.ts";
import { isEnded } from "../controllers/pod-facts.ts";
import { type HostPort, type PodInfo, podInfo } from "./pod-info.ts";

export interface NodeInfo {
  readonly name: string;
  readonly node: Node;
  readonly labels: Readonly<Record<string, string>>;
  readonly taints: readonly Taint[];
  readonly allocatable: Resources;
  readonly requested: Readonly<Record<string, number>>;
  readonly pods: ReadonlyMap<string, PodInfo>;
}

interface MutableNodeInfo extends NodeInfo {
  node: Node;
  labels: Readonly<Record<string, string>>;
  taints: readonly Taint[];
  allocatable: Resources;
  requested: Record<string, number>;
  pods: Map<string, PodInfo>;
}

/** Decides whether a pod is counted, e.g. by a selector in some namespaces. */
type PodPredicate = (info: PodInfo) => boolean;

interface Counter {
  readonly predicate: PodPredicate;
  readonly perNode: Map<string, number>;
}

interface AntiAffinityHolder {
  readonly term: PodAffinityTerm;
  readonly namespace: string;
  /** Node → how many of its pods carry the term. */
  readonly perNode: Map<string, number>;
}

export interface Snapshot {
  readonly nodes: ReadonlyMap<string, NodeInfo>;
  /** In the order in which they came; cheap to walk. */
  list(): readonly NodeInfo[];
  setNode(node: Node): void;
  removeNode(name: string): void;
  /** Takes the pod's resources on its node; again with the same pod replaces it. */
  setPod(pod: Pod): void;
  removePod(uid: string): void;
  /** How many pods of each node the predicate holds for; kept up to date from the first question on under `key`. */
  counts(key: string, predicate: PodPredicate): ReadonlyMap<string, number>;
  /** Required anti-affinity terms of pods that run, grouped by equal terms. */
  antiAffinity(): Iterable<AntiAffinityHolder>;
  /** Grows whenever something happened that may let a pod fit that did not before. */
  readonly generation: number;
  /** Grows with every change. */
  readonly version: number;
}

/** More kinds of counted selectors than this in one cluster: the oldest are counted anew when asked again. */
const COUNTERS_MAX = 512;

export function createSnapshot(): Snapshot {
  const nodes = new Map<string, MutableNodeInfo>();
  const nodeOfPod = new Map<string, string>();
  /** Pods that were bound to a node before the node was seen. */
  const homeless = new Map<string, PodInfo>();
  const counters = new Map<string, Counter>();
  const holders = new Map<string, AntiAffinityHolder>();
  let ordered: readonly NodeInfo[] | undefined;
  let generation = 0;
  let version = 0;

  function count(info: PodInfo, nodeName: string, by: 1 | -1): void {
    for (const { predicate, perNode } of counters.values()) {
      if (predicate(info)) {
        perNode.set(nodeName, (perNode.get(nodeName) ?? 0) + by);
      }
    }
    for (const term of info.pod.spec.affinity?.podAntiAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? []) {
      const key = `${info.namespace}/${canonicalJson([term, info.pod.metadata?.labels])}`;
      let holder = holders.get(key);
      if (holder === undefined) {
        holder = { term, namespace: info.namespace, perNode: new Map() };
        holders.set(key, holder);
      }
      const rest = (holder.perNode.get(nodeName) ?? 0) + by;
      if (rest > 0) {
        holder.perNode.set(nodeName, rest);
      } else {
        holder.perNode.delete(nodeName);
        if (holder.perNode.size === 0) {
          holders.delete(key);
        }
      }
    }
  }

  function place(info: PodInfo, target: MutableNodeInfo): void {
    target.pods.set(info.uid, info);
    for (const [name, amount] of Object.entries(info.requests)) {
      target.requested[name] = (target.requested[name] ?? 0) + amount;
    }
    count(info, target.name, 1);
  }

  function unplace(info: PodInfo, target: MutableNodeInfo): void {
    target.pods.delete(info.uid);
    for (const [name, amount] of Object.entries(info.requests)) {
      target.requested[name] = (target.requested[name] ?? 0) - amount;
    }
    count(info, target.name, -1);
  }

  function removePod(uid: string): void {
    homeless.delete(uid);
    const target = nodes.get(nodeOfPod.get(uid) ?? "");
    const info = target?.pods.get(uid);
    nodeOfPod.delete(uid);
    if (target !== undefined && info !== undefined) {
      version += 1;
      generation += 1;
      unplace(info, target);
    }
  }

  return {
    nodes,
    list() {
      ordered ??= [...nodes.values()];
      return ordered;
    },
    setNode(node) {
      version += 1;
      generation += 1;
      const name = node.metadata?.name ?? "";
      const facts = {
        node,
        labels: node.metadata?.labels ?? {},
        taints: node.spec?.taints ?? [],
        allocatable: parseResources(node.status?.allocatable ?? node.status?.capacity),
      };
      const known = nodes.get(name);
      if (known !== undefined) {
        Object.assign(known, facts);
        return;
      }
      const added: MutableNodeInfo = { name, ...facts, requested: {}, pods: new Map() };
      nodes.set(name, added);
      ordered = undefined;
      for (const [uid, info] of homeless) {
        if (info.pod.spec.nodeName === name) {
          homeless.delete(uid);
          place(info, added);
        }
      }
    },
    removeNode(name) {
      version += 1;
      const target = nodes.get(name);
      for (const info of [...(target?.pods.values() ?? [])]) {
        count(info, name, -1);
        homeless.set(info.uid, info);
      }
      nodes.delete(name);
      ordered = undefined;
    },
    setPod(pod) {
      const uid = pod.metadata?.uid ?? "";
      const nodeName = pod.spec.nodeName;
      if (nodeName === undefined || isEnded(pod)) {
        removePod(uid);
        return;
      }
      const known = nodes.get(nodeName)?.pods.get(uid);
      if (known !== undefined && isSamePlaced(known.pod, pod)) {
        return;
      }
      const info = podInfo(pod);
      const target = nodes.get(nodeName);
      if (known !== undefined && target !== undefined) {
        generation += 1;
        unplace(known, target);
      }
      version += 1;
      nodeOfPod.set(uid, nodeName);
      if (target === undefined) {
        homeless.set(uid, info);
      } else {
        place(info, target);
      }
    },
    removePod,
    counts(key, predicate) {
      const known = counters.get(key);
      if (known !== undefined) {
        return known.perNode;
      }
      if (counters.size >= COUNTERS_MAX) {
        counters.delete(counters.keys().next().value ?? "");
      }
      const perNode = new Map<string, number>();
      for (const info of nodes.values()) {
        let matching = 0;
        for (const pod of info.pods.values()) {
          matching += predicate(pod) ? 1 : 0;
        }
        if (matching > 0) {
          perNode.set(info.name, matching);
        }
      }
      counters.set(key, { predicate, perNode });
      return perNode;
    },
    antiAffinity: () => holders.values(),
    get generation() {
      return generation;
    },
    get version() {
      return version;
    },
  };
}

export function hostPortsOf(node: NodeInfo): readonly HostPort[] {
  return [...node.pods.values()].flatMap((pod) => pod.hostPorts);
}

/** Most changes of a bound pod are its status, which takes no place. */
function isSamePlaced(before: Pod, after: Pod): boolean {
  return (
    before.metadata?.deletionTimestamp === after.metadata?.deletionTimestamp &&
    isEqual(before.metadata?.labels, after.metadata?.labels) &&
    isEqual(before.spec, after.spec)
  );
}

function isEqual(before: unknown, after: unknown): boolean {
  return before === after || JSON.stringify(before) === JSON.stringify(after);
}
