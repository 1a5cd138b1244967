/** How many nodes a static NodePool has, and how many more it may have. Rules L-57…L-61. */
import { NODE_POOL_LABEL, type NodeClaim, type NodePool, parseResources } from "@joinery/api";
import type { Caches } from "./caches.ts";
import type { Cluster } from "./cluster.ts";

export interface NodeCensus {
  /** On their way or there. */
  readonly active: readonly NodeClaim[];
  readonly deleting: readonly NodeClaim[];
}

/**
 * L-57: from the cache itself, where a NodeClaim is as soon as its creation is answered, and its deletion too. A NodeClaim that goes
 * before it has an instance is one that goes.
 */
export function censusOf(pool: string, caches: Pick<Caches, "nodeClaims">, cluster: Pick<Cluster, "find" | "isMarked">): NodeCensus {
  const claims = [...caches.nodeClaims.by("nodePool", pool)];
  const isDeleting = ({ metadata, status }: NodeClaim) => {
    const state = cluster.find(status?.providerID ?? "");
    return metadata?.deletionTimestamp !== undefined || (state !== undefined && cluster.isMarked(state));
  };
  return { active: claims.filter((claim) => !isDeleting(claim)), deleting: claims.filter(isDeleting) };
}

export function poolNameOfClaim({ metadata }: NodeClaim): string {
  return metadata?.labels?.[NODE_POOL_LABEL] ?? "";
}

/** `spec.limits.nodes`; Infinity without it. */
export function nodeLimit({ spec }: NodePool): number {
  return parseResources(spec.limits).nodes ?? Number.POSITIVE_INFINITY;
}

/** Slots that are promised to NodeClaims which are about to be created: whoever creates in parallel cannot pass the limit together. */
export interface NodeSlots {
  /** L-60: grants up to `wanted`, as far as `limit` lets it beside the `held` NodeClaims that exist. */
  reserve(pool: string, question: { readonly limit: number; readonly held: number; readonly wanted: number }): number;
  /** L-61. */
  release(pool: string, count: number): void;
}

export function createNodeSlots(): NodeSlots {
  const reserved = new Map<string, number>();
  return {
    reserve(pool, { limit, held, wanted }) {
      const before = reserved.get(pool) ?? 0;
      const granted = Math.max(0, Math.min(wanted, limit - held - before));
      if (granted > 0) reserved.set(pool, before + granted);
      return granted;
    },
    release(pool, count) {
      const left = Math.max(0, (reserved.get(pool) ?? 0) - count);
      if (left > 0) reserved.set(pool, left);
      else reserved.delete(pool);
    },
  };
}
