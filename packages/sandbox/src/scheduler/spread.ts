/** Topology spread: which nodes keep the skew, and which even it out best. */
import type { LabelSelector, TopologySpreadConstraint } from "@joinery/api";
import { matchesLabelSelector } from "@joinery/kube";
import { canonicalJson } from "../controllers/fnv.ts";
import { findUntolerated, matchesNodeAffinity } from "./node-match.ts";
import type { PodInfo } from "./pod-info.ts";
import { type Refusal, resolvable, unresolvable } from "./refusal.ts";
import type { NodeInfo, Snapshot } from "./snapshot.ts";

export interface SpreadState {
  readonly constraint: TopologySpreadConstraint;
  /** Domain → matching pods, over the nodes that count. */
  readonly perDomain: ReadonlyMap<string, number>;
  readonly floor: number;
  /** 1 when the pod itself matches the selector. */
  readonly self: 0 | 1;
}

export function spreadStates(
  info: PodInfo,
  snapshot: Snapshot,
  mode: TopologySpreadConstraint["whenUnsatisfiable"],
): readonly SpreadState[] {
  const constraints = (info.pod.spec.topologySpreadConstraints ?? []).filter(({ whenUnsatisfiable }) => whenUnsatisfiable === mode);
  return constraints.map((constraint) => stateOf(info, snapshot, constraint, constraints));
}

function stateOf(
  info: PodInfo,
  snapshot: Snapshot,
  constraint: TopologySpreadConstraint,
  all: readonly TopologySpreadConstraint[],
): SpreadState {
  const selector = withOwnLabels(constraint, info);
  const key = `spread/${info.namespace}/${canonicalJson(selector)}`;
  const counts = snapshot.counts(key, (other) => {
    return (
      other.namespace === info.namespace &&
      other.pod.metadata?.deletionTimestamp === undefined &&
      matchesLabelSelector(selector, other.pod.metadata?.labels)
    );
  });
  const perDomain = new Map<string, number>();
  for (const node of snapshot.list()) {
    const domain = node.labels[constraint.topologyKey];
    if (domain !== undefined && isCounted(info, node, constraint, all)) {
      perDomain.set(domain, (perDomain.get(domain) ?? 0) + (counts.get(node.name) ?? 0));
    }
  }
  const isShort = perDomain.size < (constraint.minDomains ?? 1);
  let floor = isShort || perDomain.size === 0 ? 0 : Number.POSITIVE_INFINITY;
  for (const count of perDomain.values()) {
    floor = Math.min(floor, count);
  }
  return { constraint, perDomain, floor, self: matchesLabelSelector(selector, info.pod.metadata?.labels) ? 1 : 0 };
}

/** Nodes that the pod could not use anyway say nothing about the balance, unless the policies tell otherwise. */
function isCounted(
  info: PodInfo,
  node: NodeInfo,
  { nodeAffinityPolicy = "Honor", nodeTaintsPolicy = "Ignore" }: TopologySpreadConstraint,
  all: readonly TopologySpreadConstraint[],
): boolean {
  return (
    all.every(({ topologyKey }) => node.labels[topologyKey] !== undefined) &&
    (nodeAffinityPolicy === "Ignore" || matchesNodeAffinity(info.pod, node)) &&
    (nodeTaintsPolicy === "Ignore" || findUntolerated(node.taints, info.pod.spec.tolerations) === undefined)
  );
}

function withOwnLabels({ labelSelector, matchLabelKeys = [] }: TopologySpreadConstraint, { pod }: PodInfo): LabelSelector | undefined {
  const own = matchLabelKeys.flatMap((key) => {
    const value = pod.metadata?.labels?.[key];
    return value === undefined ? [] : [{ key, operator: "In" as const, values: [value] }];
  });
  return labelSelector === undefined || own.length === 0
    ? labelSelector
    : { ...labelSelector, matchExpressions: [...(labelSelector.matchExpressions ?? []), ...own] };
}

export function refuseBySpread(states: readonly SpreadState[], node: NodeInfo): Refusal | undefined {
  for (const { constraint, perDomain, floor, self } of states) {
    const domain = node.labels[constraint.topologyKey];
    if (domain === undefined) {
      return unresolvable("node(s) didn't match pod topology spread constraints (missing required label)");
    }
    if ((perDomain.get(domain) ?? 0) + self - floor > constraint.maxSkew) {
      return resolvable("node(s) didn't match pod topology spread constraints");
    }
  }
  return undefined;
}

/** Higher is better balanced: 0 to 100 over the candidates. */
export function spreadScores(states: readonly SpreadState[], candidates: readonly NodeInfo[]): number[] {
  const loads = candidates.map((node) => {
    return states.reduce((sum, { constraint, perDomain }) => {
      const domain = node.labels[constraint.topologyKey];
      // A domain among many weighs more, as in kube-scheduler: log(domains + 2).
      return domain === undefined ? sum + 1000 : sum + (perDomain.get(domain) ?? 0) * Math.log(perDomain.size + 2) + constraint.maxSkew - 1;
    }, 0);
  });
  const most = Math.max(...loads);
  const least = Math.min(...loads);
  return loads.map((load) => (most === 0 ? 100 : Math.floor((100 * (most + least - load)) / most)));
}
