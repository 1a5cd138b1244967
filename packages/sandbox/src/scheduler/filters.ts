/** One pod against one node, in the order of kube-scheduler's default plugins: the first that refuses says why. */
import type { ClusterViews } from "../world/context.ts";
import { type InterPodState, interPodState, isInterPodFree, refuseByInterPod } from "./inter-pod.ts";
import { findUntolerated, isTolerated, matchesNodeAffinity } from "./node-match.ts";
import type { HostPort, PodInfo } from "./pod-info.ts";
import { type Refusal, resolvable, unresolvable } from "./refusal.ts";
import { hostPortsOf, type NodeInfo, type Snapshot } from "./snapshot.ts";
import { refuseBySpread, type SpreadState, spreadStates } from "./spread.ts";
import { refuseByVolumes, type VolumeState, volumeState } from "./volume-filter.ts";

/** What is the same for every node in one cycle. */
export interface Cycle {
  readonly info: PodInfo;
  readonly views: ClusterViews;
  readonly spreads: readonly SpreadState[];
  /** Undefined when no pod cares about another. */
  readonly interPod: InterPodState | undefined;
  readonly volumes: VolumeState;
}

export function beginCycle(info: PodInfo, snapshot: Snapshot, views: ClusterViews): Cycle {
  return {
    info,
    views,
    spreads: spreadStates(info, snapshot, "DoNotSchedule"),
    interPod: isInterPodFree(info, snapshot)
      ? undefined
      : interPodState(info, snapshot, (name) => views.namespaces.find(name)?.metadata?.labels),
    volumes: volumeState(info, views),
  };
}

export function refusalOf(cycle: Cycle, node: NodeInfo): Refusal | undefined {
  return (
    refuseByNode(cycle.info, node) ??
    refuseByPorts(cycle.info, node) ??
    refuseByResources(cycle.info, node) ??
    refuseByVolumes(cycle.volumes, node, cycle.views) ??
    refuseBySpread(cycle.spreads, node) ??
    (cycle.interPod === undefined ? undefined : refuseByInterPod(cycle.interPod, node))
  );
}

const UNSCHEDULABLE_TAINT = { key: "node.kubernetes.io/unschedulable", effect: "NoSchedule" } as const;

/** What only the node itself decides: the answer does not change while other pods come and go. */
export function refuseByNode({ pod }: PodInfo, node: NodeInfo): Refusal | undefined {
  if (node.node.spec?.unschedulable === true && !isTolerated(UNSCHEDULABLE_TAINT, pod.spec.tolerations)) {
    return unresolvable("node(s) were unschedulable");
  }
  const taint = findUntolerated(node.taints, pod.spec.tolerations);
  if (taint !== undefined) {
    return unresolvable("node(s) had untolerated taint(s)");
  }
  return matchesNodeAffinity(pod, node) ? undefined : unresolvable("node(s) didn't match Pod's node affinity/selector");
}

function refuseByPorts({ hostPorts }: PodInfo, node: NodeInfo): Refusal | undefined {
  if (hostPorts.length === 0) {
    return undefined;
  }
  const taken = hostPortsOf(node);
  return hostPorts.some((port) => taken.some((other) => isSamePort(port, other)))
    ? resolvable("node(s) didn't have free ports for the requested pod ports")
    : undefined;
}

function isSamePort(one: HostPort, other: HostPort): boolean {
  const sharesAddress = one.ip === other.ip || one.ip === "0.0.0.0" || other.ip === "0.0.0.0";
  return one.port === other.port && one.protocol === other.protocol && sharesAddress;
}

function refuseByResources({ requests }: PodInfo, { allocatable, requested }: NodeInfo): Refusal | undefined {
  const reasons: string[] = [];
  let isHopeless = false;
  for (const name in requests) {
    const amount = requests[name] ?? 0;
    const total = allocatable[name] ?? 0;
    if (amount > 0 && amount > total - (requested[name] ?? 0)) {
      reasons.push(name === "pods" ? "Too many pods" : `Insufficient ${name}`);
      // A node that takes no pods at all still counts as one that preemption might help.
      isHopeless ||= name !== "pods" && amount > total;
    }
  }
  if (reasons.length === 0) {
    return undefined;
  }
  return isHopeless ? unresolvable(...reasons) : resolvable(...reasons);
}
