/** For how many pods a CapacityBuffer keeps room. Rule A-61. */
import type { Resources } from "./resources.ts";

export interface BufferSize {
  readonly replicas?: number;
  /** Per cent of `scalableReplicas`, rounded up. */
  readonly percentage?: number;
  /** Replicas that the referenced workload has now; absent for a buffer with a pod template. */
  readonly scalableReplicas?: number;
  readonly limits?: Resources;
  /** What one pod of the buffer asks for. */
  readonly requests: Resources;
}

/** The greatest of what is asked for, within the limits. */
export function bufferCount({ replicas, percentage, scalableReplicas = 0, limits, requests }: BufferSize): number {
  const candidates = [
    ...(replicas === undefined ? [] : [replicas]),
    ...(percentage === undefined || scalableReplicas === 0 ? [] : [shareOf(scalableReplicas, percentage)]),
  ];
  const cap = limits === undefined ? undefined : countWithin(limits, requests);
  if (candidates.length === 0) return cap ?? 0;
  return Math.min(Math.max(...candidates), cap ?? Number.POSITIVE_INFINITY);
}

function shareOf(replicas: number, percentage: number): number {
  const share = Math.ceil((replicas * percentage) / 100);
  return percentage > 0 ? Math.max(share, 1) : share;
}

/** How many pods fit the limits; undefined when the limits say nothing about what the pods ask for. */
function countWithin(limits: Resources, requests: Resources): number | undefined {
  const counts = Object.entries(limits).flatMap(([name, limit]) => {
    const request = Object.hasOwn(requests, name) ? requests[name]! : 0;
    return request > 0 && Number.isFinite(limit) ? [Math.max(0, Math.floor(limit / request))] : [];
  });
  return counts.length === 0 ? undefined : Math.min(...counts);
}
