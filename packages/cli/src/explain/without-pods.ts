/** Why an object of the input that makes pods has none that could be explained. */
import { CapacityBuffers, DaemonSets, Deployments, Jobs, type KubeObject, ReplicaSets, StatefulSets } from "@joinery/api";
import { keyOf } from "../object-key.ts";
import type { ObjectSource } from "../plan/input.ts";
import type { PlannedBuffer } from "../plan/planned-buffers.ts";

interface Maker {
  readonly kind: string;
  readonly objects: readonly KubeObject[];
  readonly why: (title: string) => string;
}

/**
 * undefined where the input has no such object.
 * @param buffers those that count; none while the feature gate is off
 */
export function whyNoPods(name: string, source: ObjectSource, buffers: readonly PlannedBuffer[]): string | undefined {
  for (const { kind, objects, why } of makersOf(source, buffers)) {
    const found = objects.find(({ metadata }) => isNamed(name, metadata?.namespace, metadata?.name));
    if (found !== undefined) return `${kind} ${keyOf(found)} ${why(keyOf(found))}`;
  }
  return undefined;
}

export function isNamed(name: string, namespace: string | undefined, own: string | undefined): boolean {
  return name === own || name === `${namespace}/${own}`;
}

function makersOf(source: ObjectSource, buffers: readonly PlannedBuffer[]): readonly Maker[] {
  const wantsNone = () => "wants no pods";
  return [
    {
      kind: "CronJob",
      objects: source.named("batch/v1", "CronJob"),
      why: () => "has no pods until it is due; give its template as a Job to have it explained",
    },
    {
      kind: "DaemonSet",
      objects: source.of(DaemonSets),
      why: () => "is not planned for: its pods come with their nodes, whose room for it is kept (joinery explain node NAME)",
    },
    {
      kind: "CapacityBuffer",
      objects: source.of(CapacityBuffers),
      why: (title) => whyNoRoom(buffers.find((buffer) => buffer.name === title)),
    },
    ...[Deployments, ReplicaSets, StatefulSets].map((kind) => ({ kind: kind.kind, objects: source.of<KubeObject>(kind), why: wantsNone })),
    { kind: "Job", objects: source.of(Jobs), why: () => "wants no pods: it is over or suspended" },
  ];
}

function whyNoRoom(buffer: PlannedBuffer | undefined): string {
  if (buffer === undefined) return "does not count: feature gate CapacityBuffer is off (--feature-gates CapacityBuffer=true)";
  return buffer.resolution.kind === "unresolved" ? `asks for no room: ${buffer.resolution.message}` : "asks for no room: it has 0 replicas";
}
