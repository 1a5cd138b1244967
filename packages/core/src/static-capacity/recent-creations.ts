/**
 * NodeClaims of static NodePools that were created a moment ago and did not stay, because there was no capacity or somebody deleted
 * them. The end of each wakes the pool, which would create the next at once, as fast as API server and cloud answer (L-192).
 */
import type { Clock } from "@joinery/kube";

/** As long as pods wait that found no place (S-1). */
const REST_MS = 10_000;

export interface RecentCreations {
  /** @param uid of the NodeClaim: the next may get the same name */
  note(pool: string, uid: string): void;
  /** How many of those that were created within `REST_MS` are not among `active`, and after what time the first may be made again. */
  lost(pool: string, active: ReadonlySet<string>): { readonly count: number; readonly restMs: number };
}

export function createRecentCreations(clock: Clock): RecentCreations {
  const createdAtMs = new Map<string, Map<string, number>>();
  return {
    note(pool, uid) {
      const created = createdAtMs.get(pool) ?? new Map<string, number>();
      createdAtMs.set(pool, created.set(uid, clock.monotonicMs()));
    },
    lost(pool, active) {
      const created = createdAtMs.get(pool) ?? new Map<string, number>();
      const nowMs = clock.monotonicMs();
      let [count, restMs] = [0, REST_MS];
      for (const [uid, atMs] of created) {
        const leftMs = atMs + REST_MS - nowMs;
        if (leftMs <= 0) created.delete(uid);
        else if (!active.has(uid)) {
          count++;
          restMs = Math.min(restMs, leftMs);
        }
      }
      if (created.size === 0) createdAtMs.delete(pool);
      return { count, restMs };
    },
  };
}
