/** Loaded manifests → objects by kind, with the defaults, namespaces and UIDs that a server would have given them. */
import {
  admitted,
  apiVersionOf,
  CapacityBuffers,
  DaemonSets,
  Deployments,
  Jobs,
  type Kind,
  type KubeObject,
  ownedKindOf,
  PersistentVolumeClaims,
  PodDisruptionBudgets,
  Pods,
  ReplicaSets,
  StatefulSets,
} from "@joinery/api";
import type { Manifest } from "../manifests/manifest.ts";

export interface ObjectSource {
  /** In the order of the input. Borrowed. */
  of<T extends KubeObject>(kind: Kind<T>): readonly T[];
  /** Built-in kinds that have no address of their own in `packages/api`. */
  named<T extends KubeObject>(apiVersion: string, kind: string): readonly T[];
}

/** Namespaced kinds whose objects land in `default` when they name no namespace. */
const NAMESPACED = [
  Pods,
  Deployments,
  ReplicaSets,
  StatefulSets,
  DaemonSets,
  Jobs,
  PodDisruptionBudgets,
  PersistentVolumeClaims,
  CapacityBuffers,
];
const NAMESPACED_TYPES = new Set([
  ...NAMESPACED.map(typeName),
  "v1 ReplicationController",
  "v1 LimitRange",
  "v1 PodTemplate",
  "v1 Service",
  "batch/v1 CronJob",
]);

export function createObjectSource(manifests: readonly Manifest[]): ObjectSource {
  const byType = new Map<string, KubeObject[]>();
  let generatedNames = 0;
  for (const { object: given } of manifests) {
    const object = given.metadata?.name ? given : withName(given, generatedNames++);
    const type = `${object.apiVersion} ${object.kind}`;
    const list = byType.get(type);
    const owned = ownedKindOf(object);
    const complete = withIdentity(owned === undefined ? object : admitted(owned, object), NAMESPACED_TYPES.has(type));
    if (list === undefined) byType.set(type, [complete]);
    else list.push(complete);
  }
  // Objects are filed under the type that they name, and the loader has checked them against that type's schema.
  const named = <T extends KubeObject>(apiVersion: string, kind: string) =>
    (byType.get(`${apiVersion} ${kind}`) ?? []) as unknown as readonly T[];
  return { named, of: (kind) => named(apiVersionOf(kind), kind.kind) };
}

/** Of a kind whose objects are in a namespace. */
export function isNamespacedObject({ apiVersion, kind }: KubeObject): boolean {
  return NAMESPACED_TYPES.has(`${apiVersion} ${kind}`);
}

/** A server would end a `generateName` by chance; a plan numbers them. */
function withName<T extends KubeObject>(object: T, number: number): T {
  const { metadata } = object;
  return { ...object, metadata: { ...metadata, name: `${metadata?.generateName ?? ""}${number}` } };
}

/** A missing UID is `namespace/name`: unique within a kind, and it orders equal pods by name (S-82). */
function withIdentity<T extends KubeObject>(object: T, isNamespaced: boolean): T {
  const { metadata = {} } = object;
  const namespace = isNamespaced ? metadata.namespace || "default" : undefined;
  if (metadata.uid && metadata.namespace === namespace) return object;
  const name = metadata.name ?? "";
  const uid = metadata.uid || (namespace === undefined ? name : `${namespace}/${name}`);
  return { ...object, metadata: { ...metadata, name, uid, ...(namespace !== undefined && { namespace }) } };
}

function typeName(kind: Kind): string {
  return `${apiVersionOf(kind)} ${kind.kind}`;
}
