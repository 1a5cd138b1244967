/** Nodes that fall silent or say that they are not well: taints by condition, and the pods that do not tolerate them evicted in time. */
import { findCondition, formatTime, isConditionTrue, type Node, Nodes, type Pod, Pods, type Taint, tolerates } from "@joinery/api";
import { isNotFound, keyOf, parseKey } from "@joinery/kube";
import type { ClusterContext } from "../world/context.ts";
import { startWorkLoop } from "../world/work-loop.ts";
import { withCondition } from "./condition-list.ts";
import { isEnded, timeMs } from "./pod-facts.ts";

/** Whether the kubelet of a node lives, or when it last did; undefined for a node that never had one here. */
type Heartbeat = (nodeName: string) => "beating" | number | undefined;

export interface NodeLifecycleOptions {
  readonly heartbeatOf: Heartbeat;
  /** Called with the name of a node whose kubelet has died. */
  readonly onDeath: (listener: (nodeName: string) => void) => void;
  /** Silence that makes a node unreachable. Kubernetes: 50 s. */
  readonly graceMs?: number;
}

const GRACE_MS = 50_000;
const UNREACHABLE = "node.kubernetes.io/unreachable";
const NOT_READY = "node.kubernetes.io/not-ready";
const OWN_TAINTS: ReadonlySet<string> = new Set([
  NOT_READY,
  UNREACHABLE,
  "node.kubernetes.io/unschedulable",
  "node.kubernetes.io/memory-pressure",
  "node.kubernetes.io/disk-pressure",
  "node.kubernetes.io/pid-pressure",
  "node.kubernetes.io/network-unavailable",
]);

export function startNodeLifecycle(context: ClusterContext, { heartbeatOf, onDeath, graceMs = GRACE_MS }: NodeLifecycleOptions): void {
  const { views, clock } = context;
  const client = context.client("node-controller");
  const events = context.events("node-controller");

  async function reconcile(name: string): Promise<number | undefined> {
    let node = views.nodes.find(name);
    if (node === undefined) {
      return undefined;
    }
    const silence = silenceLeftMs(node);
    if (silence !== undefined && silence <= 0 && findCondition(node, "Ready")?.status !== "Unknown") {
      node = await markUnknown(node);
    }
    await writeTaints(node);
    return silence !== undefined && silence > 0 ? silence : undefined;
  }

  /** How long until the node counts as silent; undefined while it is known to live. */
  function silenceLeftMs(node: Node): number | undefined {
    const name = node.metadata?.name ?? "";
    const beat = heartbeatOf(name);
    if (beat === "beating") {
      return undefined;
    }
    const ready = findCondition(node, "Ready") as { readonly lastHeartbeatTime?: string } | undefined;
    const lease = views.leases.find(`kube-node-lease/${name}`)?.spec?.renewTime;
    const lastMs = Math.max(beat ?? 0, timeMs(lease), timeMs(ready?.lastHeartbeatTime), timeMs(node.metadata?.creationTimestamp));
    return lastMs + graceMs - clock.wallMs();
  }

  async function markUnknown(node: Node): Promise<Node> {
    let conditions = node.status?.conditions;
    for (const type of ["Ready", "MemoryPressure", "DiskPressure", "PIDPressure"]) {
      const wish = { type, status: "Unknown", reason: "NodeStatusUnknown", message: "Kubelet stopped posting node status." } as const;
      conditions = withCondition(conditions, wish, clock.wallMs());
    }
    const key = { name: node.metadata?.name ?? "" };
    const written = await client.patch(Nodes, key, { type: "merge", body: { status: { conditions } } }, { subresource: "status" });
    views.nodes.wrote(written);
    events.publish(node, { reason: "NodeNotReady", message: `Node ${key.name} status is now: NodeNotReady` });
    for (const pod of views.pods.by("node", key.name)) {
      await markPodUnready(pod);
    }
    return written;
  }

  async function markPodUnready(pod: Pod): Promise<void> {
    const ready = findCondition(pod, "Ready");
    if (ready?.status !== "True") {
      return;
    }
    events.publish(pod, { type: "Warning", reason: "NodeNotReady", message: "Node is not ready" });
    const conditions = withCondition(pod.status?.conditions, { type: "Ready", status: "False" }, clock.wallMs());
    await client
      .patch(Pods, parseKey(keyOf(pod)), { type: "merge", body: { status: { conditions } } }, { subresource: "status" })
      .catch((error: unknown) => {
        if (!isNotFound(error)) {
          throw error;
        }
      });
  }

  async function writeTaints(node: Node): Promise<void> {
    const before = node.spec?.taints ?? [];
    const wished = conditionTaints(node);
    const isSame = (one: Taint, other: Taint): boolean => one.key === other.key && one.effect === other.effect;
    const kept = before.filter((taint) => !OWN_TAINTS.has(taint.key) || wished.some((wish) => isSame(wish, taint)));
    const added = wished.filter((wish) => !before.some((taint) => isSame(taint, wish)));
    if (added.length === 0 && kept.length === before.length) {
      return;
    }
    const stamped = added.map((taint) => ({ ...taint, timeAdded: formatTime(clock.wallMs()) }));
    const body = { metadata: { resourceVersion: node.metadata?.resourceVersion }, spec: { taints: [...kept, ...stamped] } };
    views.nodes.wrote(await client.patch(Nodes, { name: node.metadata?.name ?? "" }, { type: "merge", body }));
  }

  const loop = startWorkLoop({ name: "node-controller", context, reconcile });
  views.nodes.onChange((change) => {
    const name = change.object.metadata?.name ?? "";
    if (change.type === "added") {
      events.publish(change.object, { reason: "RegisteredNode", message: `Node ${name} event: Registered Node ${name} in Controller` });
    }
    if (change.type === "deleted") {
      events.publish(change.object, { reason: "RemovingNode", message: `Node ${name} event: Removing Node ${name} from Controller` });
    } else {
      loop.add(name);
    }
  });
  onDeath((name) => loop.add(name));
}

/** Taints that follow from conditions and from cordoning. */
export function conditionTaints(node: Node): readonly Taint[] {
  const taints: Taint[] = [];
  const ready = findCondition(node, "Ready")?.status;
  if (ready !== "True") {
    const key = ready === "Unknown" ? UNREACHABLE : NOT_READY;
    taints.push({ key, effect: "NoSchedule" }, { key, effect: "NoExecute" });
  }
  for (const [type, key] of [
    ["MemoryPressure", "memory-pressure"],
    ["DiskPressure", "disk-pressure"],
    ["PIDPressure", "pid-pressure"],
    ["NetworkUnavailable", "network-unavailable"],
  ] as const) {
    if (isConditionTrue(node, type)) {
      taints.push({ key: `node.kubernetes.io/${key}`, effect: "NoSchedule" });
    }
  }
  if (node.spec?.unschedulable === true) {
    taints.push({ key: "node.kubernetes.io/unschedulable", effect: "NoSchedule" });
  }
  return taints;
}

/** Evicts pods from nodes with NoExecute taints: at once, or when the shortest toleration is over. */
export function startTaintEviction(context: ClusterContext): void {
  const { views, clock } = context;
  const client = context.client("taint-eviction-controller");
  const events = context.events("taint-eviction-controller");

  async function reconcile(key: string): Promise<number | undefined> {
    const pod = views.pods.find(key);
    const node = pod?.spec.nodeName === undefined ? undefined : views.nodes.find(pod.spec.nodeName);
    if (pod === undefined || node === undefined || views.pods.isLeaving(pod) || isEnded(pod)) {
      return undefined;
    }
    const leftMs = evictionLeftMs(pod, node.spec?.taints ?? [], clock.wallMs());
    if (leftMs === undefined || leftMs > 0) {
      return leftMs;
    }
    events.publish(pod, { reason: "TaintManagerEviction", message: `Marking for deletion Pod ${key}` });
    views.pods.leaving(pod);
    const target = parseKey(key);
    const wish = {
      type: "DisruptionTarget",
      status: "True",
      reason: "DeletionByTaintManager",
      message: "Taint manager: deleting due to NoExecute taint",
    } as const;
    const conditions = withCondition(pod.status?.conditions, wish, clock.wallMs());
    try {
      await client.patch(
        Pods,
        target,
        { type: "merge", body: { metadata: { uid: pod.metadata?.uid }, status: { conditions } } },
        { subresource: "status" },
      );
      await client.delete(Pods, target, { uid: pod.metadata?.uid });
    } catch (error) {
      if (!isNotFound(error)) {
        throw error;
      }
    }
    return undefined;
  }

  const loop = startWorkLoop({ name: "taint-eviction-controller", context, reconcile });
  views.nodes.onChange((change) => {
    if (change.type !== "deleted" && hasNoExecute(change.object)) {
      for (const pod of views.pods.by("node", change.object.metadata?.name ?? "")) {
        loop.add(keyOf(pod));
      }
    }
  });
  views.pods.onChange((change) => {
    const { nodeName } = change.object.spec;
    const isBound =
      nodeName !== undefined && (change.type === "added" || (change.type === "updated" && change.previous.spec.nodeName === undefined));
    const node = isBound ? views.nodes.find(nodeName) : undefined;
    if (node !== undefined && hasNoExecute(node)) {
      loop.add(keyOf(change.object));
    }
  });
}

function hasNoExecute(node: Node): boolean {
  return (node.spec?.taints ?? []).some(({ effect }) => effect === "NoExecute");
}

/** Milliseconds until the pod must go: 0 or less now, undefined never. */
export function evictionLeftMs({ spec }: Pod, taints: readonly Taint[], nowMs: number): number | undefined {
  let leftMs: number | undefined;
  for (const taint of taints.filter(({ effect }) => effect === "NoExecute")) {
    const matching = (spec.tolerations ?? []).filter((toleration) => tolerates(toleration, taint));
    if (matching.length === 0) {
      return 0;
    }
    const spans = matching.flatMap(({ tolerationSeconds }) => (tolerationSeconds === undefined ? [] : [tolerationSeconds]));
    if (spans.length === 0) {
      continue;
    }
    const sinceMs = taint.timeAdded === undefined ? nowMs : timeMs(taint.timeAdded);
    const ownMs = sinceMs + Math.max(0, Math.min(...spans)) * 1000 - nowMs;
    leftMs = Math.min(leftMs ?? ownMs, ownMs);
  }
  return leftMs;
}
