/** What a plan says of the room that buffers ask for. Rules S-202, S-203, L-222, L-224. */
import type { Plan } from "../plan.ts";
import type { PodToPlace } from "../problem.ts";

/** Where the virtual pods of one buffer went. */
export interface BufferPlaces {
  readonly onExisting: number;
  readonly onNew: number;
  readonly failed: number;
}

export interface BufferOutcome {
  /** By `namespace/name` of the buffer; only buffers with virtual pods in the problem. */
  readonly places: ReadonlyMap<string, BufferPlaces>;
  /** By name of the existing node, as the problem has it: how many virtual pods the plan put there (L-224). */
  readonly podsByNode: ReadonlyMap<string, number>;
  /** Existing nodes that got a pod which exists: the only ones to be nominated (S-202). */
  readonly nodesWithRealPods: ReadonlySet<string>;
}

export function bufferOutcome(pods: readonly PodToPlace[], plan: Plan): BufferOutcome {
  const bufferOf = new Map(pods.flatMap(({ key, buffer }) => (buffer === undefined ? [] : [[key, buffer] as const])));
  const places = new Map<string, { onExisting: number; onNew: number; failed: number }>();
  for (const buffer of bufferOf.values()) if (!places.has(buffer)) places.set(buffer, { onExisting: 0, onNew: 0, failed: 0 });
  const count = (key: string, where: keyof BufferPlaces): number => {
    const buffer = bufferOf.get(key);
    if (buffer === undefined) return 0;
    places.get(buffer)![where]++;
    return 1;
  };
  const podsByNode = new Map<string, number>();
  const nodesWithRealPods = new Set<string>();
  for (const { name, pods: keys } of plan.existingNodes) {
    const virtual = keys.reduce((sum, key) => sum + count(key, "onExisting"), 0);
    if (virtual > 0) podsByNode.set(name, virtual);
    if (virtual < keys.length) nodesWithRealPods.add(name);
  }
  for (const { pods: keys } of plan.newNodes) for (const key of keys) count(key, "onNew");
  for (const { pod } of plan.unschedulable) count(pod, "failed");
  return { places, podsByNode, nodesWithRealPods };
}

/** The condition `Provisioning` of a buffer. */
export interface BufferCondition {
  readonly status: "True" | "False";
  readonly reason: "FitsExistingCapacity" | "RequiresNewCapacity" | "BufferEmpty" | "NotReadyForProvisioning";
  readonly message: string;
}

/**
 * L-222; undefined = as it was.
 * @param replicas of the buffer's status
 * @param places undefined: no pod of it was in the problem
 */
export function bufferCondition(
  isReady: boolean,
  replicas: number | undefined,
  places: BufferPlaces | undefined,
): BufferCondition | undefined {
  if (!isReady) return { status: "False", reason: "NotReadyForProvisioning", message: "the buffer is not ready for provisioning" };
  const wanted = replicas ?? 0;
  if (wanted === 0) return { status: "False", reason: "BufferEmpty", message: "the buffer asks for no pods" };
  if (places === undefined) return undefined;
  const { onExisting, onNew, failed } = places;
  if (onNew + failed > 0) {
    const message = `${onNew}/${wanted} virtual pods required new capacity, ${failed} failed`;
    return { status: "False", reason: "RequiresNewCapacity", message };
  }
  if (onExisting < wanted) return undefined;
  return { status: "True", reason: "FitsExistingCapacity", message: `${wanted}/${wanted} virtual pods fit existing capacity` };
}
