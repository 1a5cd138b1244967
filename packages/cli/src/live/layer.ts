/**
 * Files over a cluster: the objects as they would be once the files are applied. An object of a file takes the place of the cluster's
 * object of that name and keeps what a server keeps: who it is, who owns it, its status, and replicas that the file does not mention.
 */
import { isDeepStrictEqual } from "node:util";
import { admitted, type KubeObject, ownedKindOf } from "@joinery/api";
import { identityOf } from "../manifests/load.ts";
import { type Manifest, objectTitle, type RawObject } from "../manifests/manifest.ts";
import { isNamespacedObject } from "../plan/input.ts";

export interface Layered {
  readonly manifests: readonly Manifest[];
  /** `NodePool/default` …: objects of files in place of the cluster's, and beside them. In the order of the files. */
  readonly changed: readonly string[];
  readonly added: readonly string[];
}

/** @param namespace where a file's objects belong that name none */
export function layer(cluster: readonly Manifest[], files: readonly Manifest[], namespace: string): Layered {
  const byIdentity = new Map<string, Manifest>();
  for (const manifest of cluster) byIdentity.set(keyOf(manifest, byIdentity.size), manifest);
  const changed: string[] = [];
  const added: string[] = [];
  for (const given of files) {
    const file = inNamespace(given, namespace);
    const key = keyOf(file, byIdentity.size);
    const live = byIdentity.get(key);
    (live === undefined ? added : changed).push(objectTitle(file.object));
    byIdentity.set(key, live === undefined ? file : { ...file, object: applied(file.object, live.object) });
  }
  return { manifests: [...byIdentity.values()], changed, added };
}

/** Objects whose name is still to be made are each their own. */
function keyOf({ object }: Manifest, number: number): string {
  return identityOf(object) ?? `#${number}`;
}

function inNamespace(manifest: Manifest, namespace: string): Manifest {
  const { object } = manifest;
  if (object.metadata?.namespace || !isNamespacedObject(object)) return manifest;
  return { ...manifest, object: { ...object, metadata: { ...object.metadata, namespace } } };
}

function applied(file: RawObject, live: RawObject): RawObject {
  const { uid, resourceVersion, creationTimestamp, deletionTimestamp, ownerReferences, finalizers } = live.metadata ?? {};
  const kept = { uid, resourceVersion, creationTimestamp, deletionTimestamp, ownerReferences, finalizers };
  const metadata = { ...withoutUndefined(kept), ...file.metadata, ...withoutUndefined({ uid, resourceVersion, creationTimestamp }) };
  const merged = withReplicas({ ...file, metadata }, live);
  return file.status !== undefined || live.status === undefined || isStale(file, live) ? merged : { ...merged, status: live.status };
}

/** What the controller found about another spec says nothing of this one, so such an object counts as ready. */
function isStale(file: RawObject, live: RawObject): boolean {
  const owned = ownedKindOf(file);
  if (owned === undefined) return false;
  const specOf = (object: KubeObject) => (admitted(owned, object) as { readonly spec?: unknown }).spec;
  return !isDeepStrictEqual(specOf(file), specOf(live));
}

const SCALED = new Set(["Deployment", "ReplicaSet", "StatefulSet", "ReplicationController"]);

/** A file without replicas leaves their number to whoever scales. */
function withReplicas(file: RawObject, live: RawObject): RawObject {
  if (!SCALED.has(file.kind ?? "")) return file;
  const spec = file.spec as { readonly replicas?: number | null } | undefined;
  const { replicas } = (live.spec ?? {}) as { readonly replicas?: number };
  return spec === undefined || (spec.replicas ?? undefined) !== undefined ? file : { ...file, spec: { ...spec, replicas } };
}

function withoutUndefined<T extends object>(record: T): Partial<T> {
  return Object.fromEntries(Object.entries(record).filter(([, value]) => value !== undefined)) as Partial<T>;
}
