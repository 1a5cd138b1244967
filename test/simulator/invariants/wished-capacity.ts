/**
 * What people wish for beside their pods, at rest: static pools have their nodes, buffers their room, overlays their verdicts. Reckoned
 * here anew from the objects alone. Rules L-194…L-200, L-211, L-212, L-222, L-226, L-230…L-235.
 */
import {
  type CapacityBuffer,
  findCondition,
  NODE_POOL_LABEL,
  type Node,
  type NodeOverlay,
  type Pod,
  type PodTemplateSpec,
  parseResources,
  podRequests,
  type Resources,
} from "@joinery/api";
import { isEndedPod, type Truth } from "../truth.ts";

/** Why a wish is not met; empty when all are. */
export function unmetWishes(truth: Truth): readonly string[] {
  return [...staticPools(truth), ...[...truth.buffers()].flatMap((buffer) => bufferFaults(buffer, truth)), ...overlayFaults(truth)];
}

function* staticPools(truth: Truth): Iterable<string> {
  for (const { metadata, spec } of truth.pools()) {
    if (spec.replicas === undefined) continue;
    const count = [...truth.claims()].filter((claim) => claim.metadata?.labels?.[NODE_POOL_LABEL] === metadata?.name).length;
    if (count !== spec.replicas) yield `static NodePool ${metadata?.name} has ${count} of ${spec.replicas} nodes`;
  }
}

function bufferFaults({ metadata, spec, status }: CapacityBuffer, truth: Truth): readonly string[] {
  const name = `CapacityBuffer ${metadata?.name}`;
  const workload = [...truth.deployments()].find((deployment) => deployment.metadata?.name === spec.scalableRef?.name);
  const condition = (type: string) => findCondition({ status: status as never }, type);
  const isReady = condition("ReadyForProvisioning")?.status === "True";
  if (workload === undefined) return isReady ? [`${name} is ready, and what it refers to is gone`] : [];
  if (!isReady) return [`${name} is not ready`];
  const requests = podRequests({ spec: workload.spec.template.spec } as Pod);
  const wanted = roomOf(spec, workload.spec.replicas ?? 1, requests);
  if (status?.replicas !== wanted) return [`${name} is for ${status?.replicas} pods, and ${wanted} are wanted`];
  const provisioning = condition("Provisioning");
  if (wanted === 0) return provisioning?.reason === "BufferEmpty" ? [] : [`${name} is empty, and says ${provisioning?.reason}`];
  if (provisioning?.status !== "True") return [`${name} says ${provisioning?.reason}: ${provisioning?.message}`];
  const room = freeSlots(workload.spec.template, requests, truth);
  return room >= wanted ? [] : [`${name} says that ${wanted} pods have room, and at most ${room} have`];
}

/** L-211, L-212. */
function roomOf({ replicas, percentage, limits }: CapacityBuffer["spec"], scalable: number, requests: Resources): number {
  const share = percentage === undefined || scalable === 0 ? 0 : Math.ceil((scalable * percentage) / 100);
  const desired = Math.max(share, replicas ?? 0);
  const bounds = Object.entries(parseResources(limits)).flatMap(([resource, limit]) => {
    const each = requests[resource];
    return each ? [Math.floor(limit / each)] : [];
  });
  return Math.min(desired, ...bounds);
}

/** How many such pods could start now, were there no rules between pods: never less than really can. */
function freeSlots({ spec }: PodTemplateSpec, requests: Resources, truth: Truth): number {
  const podsByNode = Map.groupBy(
    [...truth.pods()].filter((pod) => !isEndedPod(pod)),
    (pod) => pod.spec.nodeName ?? "",
  );
  let slots = 0;
  for (const node of truth.nodes()) {
    const labels = node.metadata?.labels ?? {};
    if (Object.entries(spec.nodeSelector ?? {}).some(([key, value]) => labels[key] !== value)) continue;
    slots += slotsOn(node, podsByNode.get(node.metadata?.name ?? "") ?? [], requests);
  }
  return slots;
}

function slotsOn({ status }: Node, pods: readonly Pod[], requests: Resources): number {
  const free: Record<string, number> = { ...parseResources(status?.allocatable) };
  for (const pod of pods) {
    for (const [resource, amount] of Object.entries(podRequests(pod))) free[resource] = (free[resource] ?? 0) - amount;
  }
  const counts = Object.entries(requests).flatMap(([resource, each]) => (each > 0 ? [Math.floor((free[resource] ?? 0) / each)] : []));
  return Math.max(0, Math.min((free.pods ?? 0) - pods.length, ...counts));
}

/**
 * L-226, L-230, L-231: of overlays that set the same for the same family with equal weight, the last by name holds. The simulated people
 * name one family in each.
 */
function* overlayFaults(truth: Truth): Iterable<string> {
  const holding = new Map<string, string>();
  const byName = [...truth.overlays()].sort((one, other) => ((one.metadata?.name ?? "") < (other.metadata?.name ?? "") ? 1 : -1));
  for (const overlay of byName) {
    const { metadata, spec } = overlay;
    const subject = `${spec.weight} ${spec.priceAdjustment === undefined ? "capacity" : "price"} ${spec.requirements[0]?.values?.join()}`;
    const isFirst = !holding.has(subject);
    if (isFirst) holding.set(subject, metadata?.name ?? "");
    const verdict = verdictOf(overlay);
    if (verdict !== (isFirst ? "True" : "Conflict")) yield `NodeOverlay ${metadata?.name} (${subject}) says ${verdict}`;
  }
}

function verdictOf(overlay: NodeOverlay): string {
  const condition = findCondition(overlay, "ValidationSucceeded");
  if (condition === undefined || condition.observedGeneration !== overlay.metadata?.generation) return "nothing of this generation";
  return condition.status === "False" ? (condition.reason ?? "") : condition.status;
}
