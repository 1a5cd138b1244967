/**
 * A pod as the controller keeps it: who it is, where it is, its interned scheduling shape, and a handful of facts (law 5: 15,000 of
 * these live in the process). Rules S-11, S-15, S-16, L-132…L-140.
 */
import {
  DISRUPTED_TAINT,
  DISRUPTION_COST_ANNOTATION,
  DO_NOT_DISRUPT_ANNOTATION,
  type DoNotDisrupt,
  doNotDisrupt,
  findCondition,
  isConditionFalse,
  type KubeObject,
  type OwnerReference,
  POD_DELETION_COST_ANNOTATION,
  type Pod,
  parseTime,
  podLimits,
  type Resources,
  tolerates,
} from "@joinery/api";
import { isProvisionable, type PodShape } from "@joinery/scheduling";

/** Who controls the pod, as far as it matters. */
type PodOwner = "daemon-set" | "stateful-set" | "node" | "other" | "none";

export interface PodRecord extends KubeObject {
  readonly metadata: {
    readonly name: string;
    readonly namespace: string;
    readonly uid: string;
    readonly resourceVersion: string;
  };
  readonly createdAtMs: number;
  /** "" while unbound. */
  readonly nodeName: string;
  readonly phase: "Pending" | "Running" | "Succeeded" | "Failed" | "Unknown";
  readonly shape: PodShape;
  /** One object for equal limits. */
  readonly limits: Resources;
  readonly owner: PodOwner;
  /** Kind and name of the first owner, as `apps/v1/ReplicaSet/web-1`; "" without one. One text for all pods of an owner. */
  readonly ownerPath: string;
  /** The same of the owner that controls it. */
  readonly controllerPath: string;
  /** Kind of the controlling owner, as `apps/v1/ReplicaSet`; "" without one. */
  readonly controllerKind: string;
  /** When the conditions Ready and PodScheduled became True; undefined while they are not. */
  readonly readyAtMs: number | undefined;
  readonly scheduledAtMs: number | undefined;
  /** Of the controlling DaemonSet; "" for other pods. */
  readonly daemonSetUid: string;
  /** S-11, L-140. */
  readonly isProvisionable: boolean;
  /** Priority class `system-cluster-critical` or `system-node-critical`. */
  readonly isCritical: boolean;
  /** Condition Ready is False. */
  readonly isUnready: boolean;
  readonly deletingAtMs: number | undefined;
  readonly startedAtMs: number | undefined;
  readonly graceSeconds: number | undefined;
  /** Value of `karpenter.sh/do-not-disrupt`. */
  readonly doNotDisrupt: string | undefined;
  readonly priority: number | undefined;
  /** Values of `karpenter.sh/disruption-cost` and `controller.kubernetes.io/pod-deletion-cost` (V-80). */
  readonly disruptionCost: string | undefined;
  readonly deletionCost: string | undefined;
}

/** `namespace/name`. */
export function podKey(pod: PodRecord): string {
  return `${pod.metadata.namespace}/${pod.metadata.name}`;
}

/** What a record says that only depends on what pods of one workload have in common. */
interface TemplateFacts
  extends Pick<
    PodRecord,
    | "shape"
    | "limits"
    | "owner"
    | "ownerPath"
    | "controllerPath"
    | "controllerKind"
    | "daemonSetUid"
    | "isCritical"
    | "priority"
    | "graceSeconds"
  > {}

export interface PodReaderRooms {
  readonly shapeOf: (pod: Pod) => PodShape;
  /** One text for equal texts. */
  readonly intern: (text: string) => string;
  readonly internAmounts?: (amounts: Resources) => Resources;
  /** One and the same for pods that differ in nothing but what is each one's own (`alikeOf` of the wire). */
  readonly alikeOf?: (pod: Pod) => object | undefined;
}

/** Makes records of pods as they come from the API server. What pods that are alike have in common is worked out once. */
export function createPodReader(rooms: PodReaderRooms): (pod: Pod) => PodRecord {
  const known = new WeakMap<object, TemplateFacts>();
  return (pod) => {
    const alike = isLikeItsTemplate(pod) ? rooms.alikeOf?.(pod) : undefined;
    const facts = (alike && known.get(alike)) ?? templateFacts(pod, rooms);
    if (alike !== undefined) known.set(alike, facts);
    return podRecord(pod, facts);
  };
}

/** S-22 names a claim after its pod; a resize that cannot be done changes what the pod asks for. */
function isLikeItsTemplate({ spec, status }: Pod): boolean {
  return (
    !spec.volumes?.some(({ ephemeral }) => ephemeral !== undefined) && !status?.conditions?.some(({ type }) => type === "PodResizePending")
  );
}

function templateFacts(pod: Pod, { shapeOf, intern, internAmounts = (amounts) => amounts }: PodReaderRooms): TemplateFacts {
  const { metadata, spec } = pod;
  const references = metadata?.ownerReferences;
  const owner = ownerOf(references);
  const priority = spec.priorityClassName;
  return {
    shape: shapeOf(owner === "daemon-set" ? withoutNodeAffinity(pod) : pod),
    limits: internAmounts(podLimits(pod)),
    owner,
    ownerPath: intern(ownerPath(references?.[0])),
    controllerPath: intern(ownerPath(references?.find(({ controller }) => controller))),
    controllerKind: intern(controllerKind(references)),
    daemonSetUid: owner === "daemon-set" ? (references?.find(isDaemonSet)?.uid ?? "") : "",
    isCritical: priority === "system-cluster-critical" || priority === "system-node-critical",
    priority: spec.priority,
    graceSeconds: spec.terminationGracePeriodSeconds,
  };
}

function podRecord(pod: Pod, facts: TemplateFacts): PodRecord {
  const { metadata = {}, spec, status } = pod;
  return {
    metadata: {
      name: metadata.name ?? "",
      namespace: metadata.namespace ?? "",
      uid: metadata.uid ?? "",
      resourceVersion: metadata.resourceVersion ?? "",
    },
    createdAtMs: parseTime(metadata.creationTimestamp) ?? 0,
    nodeName: spec.nodeName ?? "",
    phase: status?.phase ?? "Pending",
    shape: facts.shape,
    limits: facts.limits,
    owner: facts.owner,
    ownerPath: facts.ownerPath,
    controllerPath: facts.controllerPath,
    controllerKind: facts.controllerKind,
    readyAtMs: trueSinceMs(pod, "Ready"),
    scheduledAtMs: trueSinceMs(pod, "PodScheduled"),
    daemonSetUid: facts.daemonSetUid,
    isProvisionable: isProvisionable(pod),
    isCritical: facts.isCritical,
    isUnready: isConditionFalse(pod, "Ready"),
    deletingAtMs: parseTime(metadata.deletionTimestamp),
    startedAtMs: parseTime(status?.startTime),
    graceSeconds: facts.graceSeconds,
    doNotDisrupt: metadata.annotations?.[DO_NOT_DISRUPT_ANNOTATION],
    priority: facts.priority,
    disruptionCost: metadata.annotations?.[DISRUPTION_COST_ANNOTATION],
    deletionCost: metadata.annotations?.[POD_DELETION_COST_ANNOTATION],
  };
}

export function isTerminal({ phase }: PodRecord): boolean {
  return phase === "Succeeded" || phase === "Failed";
}

/** L-132. */
export function isActive(pod: PodRecord): boolean {
  return !isTerminal(pod) && pod.deletingAtMs === undefined;
}

/** L-133. */
export function isReschedulable(pod: PodRecord): boolean {
  if (pod.owner === "daemon-set" || pod.owner === "node") return false;
  return isActive(pod) || (pod.owner === "stateful-set" && pod.deletingAtMs !== undefined);
}

/** L-134. */
function toleratesDisruption(pod: PodRecord): boolean {
  return pod.shape.tolerations.some((toleration) => tolerates(toleration, DISRUPTED_TAINT));
}

/** L-135: a minute after the deletion time, which already includes the grace period. */
export const STUCK_AFTER_MS = 60_000;

function isStuckTerminating(pod: PodRecord, nowMs: number): boolean {
  return pod.deletingAtMs !== undefined && nowMs - pod.deletingAtMs > STUCK_AFTER_MS;
}

/** L-136. */
export function isDrainable(pod: PodRecord, nowMs: number): boolean {
  return !toleratesDisruption(pod) && !isStuckTerminating(pod, nowMs) && pod.owner !== "node";
}

/** L-137. */
export function isWaitingEviction(pod: PodRecord, nowMs: number): boolean {
  return !isTerminal(pod) && isDrainable(pod, nowMs);
}

/** L-138, A-92: what the pod's own wish not to be disrupted comes to. */
export function protectionOf(pod: PodRecord, nowMs: number): DoNotDisrupt {
  return doNotDisrupt(pod.doNotDisrupt, pod.startedAtMs, nowMs);
}

export function isProtected(pod: PodRecord, nowMs: number): boolean {
  const { kind } = protectionOf(pod, nowMs);
  return kind === "active" || kind === "active-until";
}

/** L-139. */
export function isEvictable(pod: PodRecord, nowMs: number): boolean {
  return isActive(pod) && !toleratesDisruption(pod) && pod.owner !== "node" && !isProtected(pod, nowMs);
}

function ownerPath(owner: OwnerReference | undefined): string {
  return owner === undefined ? "" : `${owner.apiVersion}/${owner.kind}/${owner.name}`;
}

function controllerKind(references: readonly OwnerReference[] = []): string {
  const controller = references.find((reference) => reference.controller);
  return controller === undefined ? "" : `${controller.apiVersion}/${controller.kind}`;
}

function trueSinceMs(pod: Pod, type: string): number | undefined {
  const condition = findCondition(pod, type);
  return condition?.status === "True" ? (parseTime(condition.lastTransitionTime) ?? 0) : undefined;
}

function isDaemonSet({ apiVersion, kind }: OwnerReference): boolean {
  return apiVersion === "apps/v1" && kind === "DaemonSet";
}

function ownerOf(references: readonly OwnerReference[] | undefined): PodOwner {
  if (references === undefined || references.length === 0) return "none";
  if (references.some(isDaemonSet)) return "daemon-set";
  if (references.some(({ apiVersion, kind }) => apiVersion === "v1" && kind === "Node")) return "node";
  if (references.some(({ apiVersion, kind }) => apiVersion === "apps/v1" && kind === "StatefulSet")) return "stateful-set";
  return "other";
}

/**
 * The affinity of a DaemonSet's pod names its node, so every pod would be a shape of its own. Nothing reads it: such pods are
 * never placed by us, and S-66 takes the affinity from the template.
 */
function withoutNodeAffinity(pod: Pod): Pod {
  if (pod.spec.affinity?.nodeAffinity === undefined) return pod;
  const { nodeAffinity: _, ...affinity } = pod.spec.affinity;
  return { ...pod, spec: { ...pod.spec, affinity } };
}
