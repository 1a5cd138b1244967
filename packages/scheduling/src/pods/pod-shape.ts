/** What scheduling sees of a pod, and one shared object for equal pods. Rules S-47, S-48, S-119. */
import { type Pod, podRequests, type Volume } from "@joinery/api";
import type { HostPort, PodShape } from "../problem.ts";

export interface ShapeInterner {
  /** The object that stands for all shapes equal to this one. */
  intern(shape: PodShape): PodShape;
}

/** The shape of a pod or of a workload's template; only what is there becomes a property, so that equal pods give equal shapes. */
export function shapeOf(pod: Pod): PodShape {
  const { spec, metadata } = pod;
  const hostPorts = hostPortsOf(pod);
  const claimNames = (spec.volumes ?? []).flatMap((volume) => claimNameOf(pod, volume) ?? []);
  return {
    namespace: metadata?.namespace ?? "default",
    labels: metadata?.labels ?? {},
    requests: podRequests(pod),
    ...(isFilled(spec.nodeSelector) && { nodeSelector: spec.nodeSelector }),
    ...(isFilled(spec.affinity) && { affinity: spec.affinity }),
    tolerations: spec.tolerations ?? [],
    ...(isFilled(spec.topologySpreadConstraints) && { topologySpreadConstraints: spec.topologySpreadConstraints }),
    ...(hostPorts.length > 0 && { hostPorts }),
    ...(claimNames.length > 0 && { claimNames }),
    ...(asksForDevices(spec) && { hasResourceClaims: true }),
  };
}

/**
 * Keeps shapes as long as somebody else does: workloads come and go for months, and a table that only grows would be a leak.
 * Dead entries are swept when the table has doubled.
 */
export function createShapeInterner(): ShapeInterner {
  const shapes = new Map<string, WeakRef<PodShape>>();
  let sweepAt = 64;
  const sweep = () => {
    for (const [key, reference] of shapes) if (reference.deref() === undefined) shapes.delete(key);
    sweepAt = Math.max(64, shapes.size * 2);
  };
  return {
    intern(shape) {
      const key = shapeKey(shape);
      const known = shapes.get(key)?.deref();
      if (known !== undefined) return known;
      if (shapes.size >= sweepAt) sweep();
      shapes.set(key, new WeakRef(shape));
      return shape;
    },
  };
}

/** Equal for equal shapes and no others. Names within maps are sorted; the order of lists counts. */
function shapeKey(shape: PodShape): string {
  return JSON.stringify([
    shape.namespace,
    sortedEntries(shape.labels),
    sortedEntries(shape.requests),
    shape.nodeSelector && sortedEntries(shape.nodeSelector),
    shape.affinity && sortedDeep(shape.affinity),
    shape.tolerations.map(sortedDeep),
    shape.topologySpreadConstraints?.map(sortedDeep),
    shape.hostPorts?.map(({ port, ip, protocol }) => [port, ip, protocol]),
    shape.claimNames,
    shape.hasResourceClaims ?? false,
    shape.isMoving ?? false,
  ]);
}

function sortedEntries<T>(map: Readonly<Record<string, T>>): [string, T][] {
  return Object.entries(map).sort(([a], [b]) => (a < b ? -1 : 1));
}

function sortedDeep(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortedDeep);
  if (typeof value !== "object" || value === null) return value;
  return sortedEntries(value as Record<string, unknown>).map(([name, part]) => [name, sortedDeep(part)]);
}

/**
 * S-119: of containers only; init containers are over when the pod runs. In the host's network every port of a container is the host's,
 * which a server writes into pods, but not into templates.
 */
function hostPortsOf({ spec: { containers, hostNetwork = false } }: Pod): HostPort[] {
  return containers.flatMap(({ ports = [] }) =>
    ports.flatMap(({ hostPort, containerPort, hostIP, protocol }): HostPort[] => {
      const port = hostPort || (hostNetwork ? containerPort : 0);
      return port ? [{ port, ip: hostIP || "0.0.0.0", protocol: protocol ?? "TCP" }] : [];
    }),
  );
}

/** S-194. */
function asksForDevices({ resourceClaims, containers, initContainers = [] }: Pod["spec"]): boolean {
  return isFilled(resourceClaims) || [...containers, ...initContainers].some(({ resources }) => isFilled(resources?.claims));
}

/** S-22: a generic ephemeral volume has a claim named after pod and volume. */
function claimNameOf(pod: Pod, volume: Volume): string | undefined {
  if (volume.persistentVolumeClaim !== undefined) return volume.persistentVolumeClaim.claimName;
  return volume.ephemeral === undefined ? undefined : `${pod.metadata?.name ?? pod.metadata?.generateName ?? ""}-${volume.name}`;
}

function isFilled<T extends object>(value: T | null | undefined): value is T {
  return value !== undefined && value !== null && Object.keys(value).length > 0;
}
