/**
 * A stand-in for kube-scheduler: the same filters, scores, conditions and events for the pods that name it. It does not preempt:
 * pods of low priority stay, and `status.nominatedNodeName` is never set.
 */
import { findCondition, type Node, PersistentVolumeClaims, type Pod, Pods } from "@joinery/api";
import { isConflict, isNotFound } from "@joinery/kube";
import { withCondition } from "../controllers/condition-list.ts";
import { isEnded } from "../controllers/pod-facts.ts";
import type { ClusterContext } from "../world/context.ts";
import { createCandidateSearch } from "./candidates.ts";
import { beginCycle, type Cycle, refuseByNode } from "./filters.ts";
import { type PodInfo, podInfo } from "./pod-info.ts";
import { createPodQueue } from "./queue.ts";
import { failureMessage } from "./refusal.ts";
import { createSnapshot, type NodeInfo } from "./snapshot.ts";

const DEFAULT_SCHEDULER = "default-scheduler";
const SELECTED_NODE_ANNOTATION = "volume.kubernetes.io/selected-node";

/** Templates come and go with rollouts: what is known of them is forgotten together now and then. */
const KNOWN_FAILURES_MAX = 4096;

interface KnownFailure {
  readonly at: number;
  readonly message: string;
}

export function startScheduler(context: ClusterContext): void {
  const { views, clock, signal } = context;
  const client = context.client("kube-scheduler");
  const events = context.events(DEFAULT_SCHEDULER);
  const snapshot = createSnapshot();
  const search = createCandidateSearch(snapshot, context.chance("scheduler"));
  const failures = new Map<string, KnownFailure>();
  const queue = createPodQueue(clock, () => void work());
  /** Pods whose claims are being bound to a node that was chosen for them. */
  const reserved = new Map<string, { readonly info: PodInfo; readonly nodeName: string }>();
  let isWorking = false;

  async function work(): Promise<void> {
    if (isWorking || signal.aborted) {
      return;
    }
    isWorking = true;
    await Promise.resolve();
    for (let info = queue.next(); info !== undefined && !signal.aborted; info = queue.next()) {
      try {
        await scheduleOne(info);
      } catch (error) {
        if (!isNotFound(error) && !signal.aborted) {
          if (!isConflict(error)) {
            context.report("kube-scheduler", info.key, error);
          }
          queue.retry(info);
        }
      }
    }
    isWorking = false;
  }

  async function scheduleOne(queued: PodInfo): Promise<void> {
    const current = views.pods.find(queued.key);
    if (current === undefined || current.metadata?.uid !== queued.uid || !isWaiting(current)) {
      return;
    }
    const info = current === queued.pod ? queued : podInfo(current);
    const known = knownFailure(info);
    if (known !== undefined) {
      await fail(info, known);
      return;
    }
    const cycle = beginCycle(info, snapshot, views);
    const { candidates, refusals } = cycle.volumes.prefilter === undefined ? search.find(cycle) : { candidates: [], refusals: [] };
    const chosen = search.choose(cycle, candidates);
    if (chosen !== undefined) {
      await reserve(cycle, chosen);
      return;
    }
    const mayPreempt = info.pod.spec.preemptionPolicy !== "Never";
    const message = failureMessage({ refusals, prefilter: cycle.volumes.prefilter, nodeCount: snapshot.nodes.size, mayPreempt });
    if (info.shape !== undefined) {
      if (failures.size >= KNOWN_FAILURES_MAX) {
        failures.clear();
      }
      failures.set(info.shape, { at: failureClock(info), message });
    }
    await fail(info, message);
  }

  /** A pod of the same template failed, and nothing that could help has happened since. */
  function knownFailure(info: PodInfo): string | undefined {
    const known = info.shape === undefined ? undefined : failures.get(info.shape);
    return known !== undefined && known.at === failureClock(info) ? known.message : undefined;
  }

  function failureClock({ pod }: PodInfo): number {
    const minds = pod.spec.affinity?.podAffinity !== undefined || (pod.spec.topologySpreadConstraints ?? []).length > 0;
    return minds ? snapshot.version : snapshot.generation;
  }

  /** Takes the node; a pod with unbound claims waits there until they are bound. */
  async function reserve(cycle: Cycle, { name: nodeName }: NodeInfo): Promise<void> {
    const { info, volumes } = cycle;
    const assumed: Pod = { ...info.pod, spec: { ...info.pod.spec, nodeName } };
    snapshot.setPod(assumed);
    if (volumes.unbound.length === 0) {
      await bind(info, nodeName);
      return;
    }
    reserved.set(info.uid, { info, nodeName });
    for (const claim of volumes.unbound) {
      const key = { name: claim.metadata?.name ?? "", namespace: info.namespace };
      const body = { metadata: { annotations: { [SELECTED_NODE_ANNOTATION]: nodeName } } };
      views.claims.wrote(await client.patch(PersistentVolumeClaims, key, { type: "merge", body }));
    }
    await bindWhenReady(info.uid);
  }

  async function bindWhenReady(uid: string): Promise<void> {
    const reservation = reserved.get(uid);
    if (reservation === undefined) {
      return;
    }
    const { info, nodeName } = reservation;
    const isBound = (name: string): boolean => {
      const claim = views.claims.find(`${info.namespace}/${name}`);
      return claim?.status?.phase === "Bound";
    };
    if (!snapshot.nodes.has(nodeName)) {
      reserved.delete(uid);
      snapshot.removePod(uid);
      queue.retry(info);
    } else if (info.claims.every(isBound)) {
      reserved.delete(uid);
      await bind(info, nodeName);
    }
  }

  async function bind(info: PodInfo, nodeName: string): Promise<void> {
    const { name = "", namespace = "", uid } = info.pod.metadata ?? {};
    const binding = {
      apiVersion: "v1",
      kind: "Binding",
      metadata: { name, namespace, uid },
      target: { apiVersion: "v1", kind: "Node", name: nodeName },
    };
    try {
      await client.createSubresource(Pods, { name, namespace }, "binding", binding, signal);
    } catch (error) {
      snapshot.removePod(info.uid);
      throw error;
    }
    queue.remove(info.uid);
    events.publish(info.pod, { reason: "Scheduled", message: `Successfully assigned ${namespace}/${name} to ${nodeName}` });
  }

  async function fail(info: PodInfo, message: string): Promise<void> {
    queue.setAside(info);
    await writeUnscheduled(info.pod, "Unschedulable", message);
    events.publish(info.pod, { type: "Warning", reason: "FailedScheduling", message });
  }

  async function writeUnscheduled(pod: Pod, reason: string, message: string): Promise<void> {
    const before = pod.status?.conditions;
    const observedGeneration = pod.metadata?.generation;
    const wish = { type: "PodScheduled", status: "False", reason, message, observedGeneration } as const;
    const conditions = withCondition(before, wish, clock.wallMs());
    if (conditions !== before) {
      const key = { name: pod.metadata?.name ?? "", namespace: pod.metadata?.namespace };
      const body = { metadata: { uid: pod.metadata?.uid }, status: { conditions } };
      views.pods.wrote(await client.patch(Pods, key, { type: "merge", body }, { subresource: "status" }));
    }
  }

  function isWaiting(pod: Pod): boolean {
    const { spec } = pod;
    const isOurs = (spec.schedulerName ?? DEFAULT_SCHEDULER) === DEFAULT_SCHEDULER;
    return (
      isOurs && spec.nodeName === undefined && !isEnded(pod) && !views.pods.isLeaving(pod) && (spec.schedulingGates ?? []).length === 0
    );
  }

  function podChanged(pod: Pod, previous: Pod | undefined): void {
    const uid = pod.metadata?.uid ?? "";
    if (pod.spec.nodeName !== undefined) {
      queue.remove(uid);
      const generation = snapshot.generation;
      const isNew = previous?.spec.nodeName === undefined;
      snapshot.setPod(pod);
      if (snapshot.generation !== generation) {
        queue.wake(() => true);
      } else if (isNew) {
        queue.wake(mindsOthers);
      }
      return;
    }
    if (!isWaiting(pod)) {
      queue.remove(uid);
      if ((pod.spec.schedulingGates ?? []).length > 0 && findCondition(pod, "PodScheduled")?.reason !== "SchedulingGated") {
        gate(pod);
      }
      return;
    }
    if (reserved.has(uid)) {
      return;
    }
    const isStatusOnly =
      previous !== undefined && queue.has(uid) && previous.metadata?.labels === pod.metadata?.labels && previous.spec === pod.spec;
    const isOwnWrite = previous !== undefined && queue.has(uid) && previous.metadata?.generation === pod.metadata?.generation;
    if (!isStatusOnly && !isOwnWrite) {
      queue.add(podInfo(pod));
    }
  }

  function gate(pod: Pod): void {
    writeUnscheduled(pod, "SchedulingGated", "Scheduling is blocked due to non-empty scheduling gates").catch((error: unknown) => {
      if (!isNotFound(error) && !signal.aborted) {
        context.report("kube-scheduler", podInfo(pod).key, error);
      }
    });
  }

  function nodeChanged(node: Node, previous: Node | undefined): void {
    if (previous !== undefined && !isRelevant(previous, node)) {
      return;
    }
    snapshot.setNode(node);
    const info = snapshot.nodes.get(node.metadata?.name ?? "");
    if (info !== undefined) {
      // A node that the pod cannot use anyway is no news to it, unless it has never been told about nodes at all.
      queue.wake((pod) => refuseByNode(pod, info) === undefined || mindsOthers(pod) || snapshot.nodes.size === 1);
    }
  }

  views.nodes.onChange((change) => {
    if (change.type === "deleted") {
      snapshot.removeNode(change.object.metadata?.name ?? "");
      releaseAll();
    } else {
      nodeChanged(change.object, change.type === "updated" ? change.previous : undefined);
    }
  });
  views.pods.onChange((change) => {
    if (change.type === "deleted") {
      const uid = change.object.metadata?.uid ?? "";
      queue.remove(uid);
      reserved.delete(uid);
      const generation = snapshot.generation;
      snapshot.removePod(uid);
      if (snapshot.generation !== generation) {
        queue.wake(() => true);
      }
    } else {
      podChanged(change.object, change.type === "updated" ? change.previous : undefined);
    }
  });
  const storageChanged = (): void => {
    queue.wake(({ claims }) => claims.length > 0);
    releaseAll();
  };
  views.claims.onChange(storageChanged);
  views.volumes.onChange(storageChanged);
  views.storageClasses.onChange(storageChanged);
  views.csiNodes.onChange(() => queue.wake(({ claims }) => claims.length > 0));

  function releaseAll(): void {
    for (const [uid, { info }] of reserved) {
      bindWhenReady(uid).catch((error: unknown) => {
        if (!isNotFound(error) && !signal.aborted) {
          context.report("kube-scheduler", info.key, error);
          queue.retry(info);
        }
      });
    }
  }
}

function mindsOthers({ pod }: PodInfo): boolean {
  const { affinity, topologySpreadConstraints = [] } = pod.spec;
  return affinity?.podAffinity !== undefined || affinity?.podAntiAffinity !== undefined || topologySpreadConstraints.length > 0;
}

/** Heartbeats and images change nothing for pods. */
function isRelevant(before: Node, after: Node): boolean {
  const facts = ({ metadata, spec, status }: Node): string =>
    JSON.stringify([metadata?.labels, spec?.taints, spec?.unschedulable, status?.allocatable, status?.capacity]);
  return facts(before) !== facts(after);
}
