/** Objects of the input as a server would have stored them, each with the manifest that it came from. */
import { apiVersionOf, type Kind, type KubeObject } from "@joinery/api";
import type { Manifest } from "../manifests/manifest.ts";
import type { ObjectSource } from "../plan/input.ts";

export interface Located<T extends KubeObject> {
  /** With defaults, namespace and name. Borrowed. */
  readonly object: T;
  readonly manifest: Manifest;
}

export interface LocatedObjects {
  /** In the order of the input. */
  readonly all: readonly Manifest[];
  of<T extends KubeObject>(kind: Kind<T>): readonly Located<T>[];
  named<T extends KubeObject>(apiVersion: string, kind: string): readonly Located<T>[];
}

/** The source keeps the order of the manifests within a type, so that the two lists go together one by one. */
export function locatedObjects(manifests: readonly Manifest[], source: ObjectSource): LocatedObjects {
  const byType = Map.groupBy(manifests, ({ object }) => `${object.apiVersion} ${object.kind}`);
  const named = <T extends KubeObject>(apiVersion: string, kind: string): Located<T>[] => {
    const ofType = byType.get(`${apiVersion} ${kind}`) ?? [];
    return source.named<T>(apiVersion, kind).map((object, index) => ({ object, manifest: ofType[index]! }));
  };
  return { all: manifests, named, of: (kind) => named(apiVersionOf(kind), kind.kind) };
}

export function nameOf({ metadata }: KubeObject): string {
  return metadata?.name ?? "";
}

export function namespaceOf({ metadata }: KubeObject): string {
  return metadata?.namespace ?? "default";
}
