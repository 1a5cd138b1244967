/** Writes a status only when it differs, so that a quiet cluster is a silent one. */
import type { Kind, KubeObject } from "@joinery/api";
import type { KubeClient } from "@joinery/kube";
import { canonicalJson } from "./fnv.ts";

export interface StatusWriteOptions {
  /** Refuse (409) when somebody has written since: for fields that others write too. */
  readonly isGuarded?: boolean;
}

/** Merges `wish` into the status; returns the object as it is now. Fields set to null are removed. */
export async function writeStatus<T extends KubeObject & { readonly status?: object }>(
  client: KubeClient,
  kind: Kind<T>,
  object: T,
  wish: Readonly<Record<string, unknown>>,
  { isGuarded = false }: StatusWriteOptions = {},
): Promise<T> {
  const old: Readonly<Record<string, unknown>> = { ...object.status };
  const changed = Object.entries(wish).filter(([field, value]) => canonicalJson(old[field] ?? null) !== canonicalJson(value ?? null));
  if (changed.length === 0) {
    return object;
  }
  const key = { name: object.metadata?.name ?? "", namespace: object.metadata?.namespace };
  const guard = isGuarded ? { metadata: { resourceVersion: object.metadata?.resourceVersion } } : {};
  const body = { ...guard, status: Object.fromEntries(changed) };
  return client.patch(kind, key, { type: "merge", body }, { subresource: "status" });
}

/** Counts of zero are left out, as Kubernetes' own types leave them out. */
export function withoutZeros(counts: Readonly<Record<string, number>>): Record<string, number | null> {
  return Object.fromEntries(Object.entries(counts).map(([name, count]) => [name, count === 0 ? null : count]));
}
