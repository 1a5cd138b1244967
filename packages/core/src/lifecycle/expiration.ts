/** NodeClaims that are old enough go, whatever stands on their nodes. Rules L-163…L-166. */
import { type NodeClaim, nanosToMs, parseNillableDuration, parseTime } from "@joinery/api";
import type { Rooms } from "../rooms.ts";
import { createLoop, type Loop } from "../runtime/loop.ts";
import { changesOf } from "../runtime/source.ts";
import { again, asleep } from "../runtime/step.ts";
import { isManaged } from "../state/managed.ts";
import { deleteFor } from "./deletion.ts";

/** L-163: counted from the NodeClaim's creation; undefined for one that does not expire. Epoch milliseconds. */
export function expiresAtMs({ metadata, spec }: NodeClaim): number | undefined {
  const expireAfter = parseNillableDuration(spec.expireAfter ?? "Never");
  const createdAtMs = parseTime(metadata?.creationTimestamp);
  if (expireAfter === undefined || expireAfter === "Never" || createdAtMs === undefined) return undefined;
  return createdAtMs + nanosToMs(expireAfter);
}

/** The loop of `nodeclaim.expiration`. L-164: budgets, disruption budgets of pods, nominations do not matter; draining is what it always is. */
export function createExpirationLoop(rooms: Rooms): Loop {
  const { caches, clock, provider } = rooms;
  return createLoop(
    {
      name: "nodeclaim.expiration",
      find: caches.nodeClaims.find,
      reconciler: {
        async reconcile(claim, signal) {
          if (!isManaged(claim.spec.nodeClassRef, provider.nodeClassKinds) || claim.metadata?.deletionTimestamp !== undefined)
            return asleep;
          const atMs = expiresAtMs(claim);
          if (atMs === undefined) return asleep;
          const leftMs = atMs - clock.wallMs();
          if (leftMs > 0) return again(leftMs);
          await deleteFor("expired", claim, rooms, signal);
          return asleep;
        },
      },
      sources: [changesOf(caches.nodeClaims)],
      workers: 1,
    },
    rooms,
  );
}
