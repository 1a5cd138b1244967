/** Node ↔ NodeClaim, joined by provider ID alone. Rules L-4, L-5. */
import type { NodeClaim } from "@joinery/api";
import type { Caches } from "../state/caches.ts";
import type { NodeRecord } from "../state/node-record.ts";

/** Every Node of the instance: none, one, or (a fault that nobody may paper over) several. */
export function nodesOf({ status }: NodeClaim, caches: Caches): readonly NodeRecord[] {
  return status?.providerID ? [...caches.nodes.by("providerId", status.providerID)] : [];
}

export function claimsOf({ providerId }: NodeRecord, caches: Caches): readonly NodeClaim[] {
  return providerId === "" ? [] : [...caches.nodeClaims.by("providerId", providerId)];
}
