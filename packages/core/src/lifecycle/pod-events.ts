/**
 * Keeps `status.lastPodEventTime`: when a pod last came to the node, ended there or began to leave; consolidation waits for quiet after
 * it. Rules L-244…L-247.
 */
import { formatTime, type NodeClaim, parseTime } from "@joinery/api";
import type { Change } from "@joinery/kube";
import type { Rooms } from "../rooms.ts";
import { createLoop, type Loop, type Source } from "../runtime/loop.ts";
import { asleep } from "../runtime/step.ts";
import { isManaged } from "../state/managed.ts";
import { isActive, isTerminal, type PodRecord } from "../state/pod-record.ts";
import { claimsOf } from "./nodes-of.ts";

/** L-246: a burst of pods is one write. */
const STAMP_PERIOD_MS = 10_000;

/** The loop of `nodeclaim.podevents`. */
export function createPodEventsLoop(rooms: Rooms): Loop {
  const { caches, clock, writes } = rooms;
  return createLoop(
    {
      name: "nodeclaim.podevents",
      find: caches.nodeClaims.find,
      reconciler: {
        async reconcile(claim, signal) {
          const nowMs = clock.wallMs();
          if (nowMs - (stampOf(claim) ?? Number.NEGATIVE_INFINITY) < STAMP_PERIOD_MS) return asleep;
          await writes.saveNodeClaim(claim, { ...claim, status: { ...claim.status, lastPodEventTime: formatTime(nowMs) } }, signal);
          return asleep;
        },
      },
      sources: [podEvents(rooms)],
      workers: 1,
    },
    rooms,
  );
}

/** Wakes the NodeClaim of the node on which something happened. */
function podEvents(rooms: Rooms): Source {
  const { pods } = rooms.caches;
  return (wake) => {
    const tell = (claim: NodeClaim | undefined) => claim !== undefined && wake(claim.metadata?.name ?? "");
    for (const pod of pods.values()) {
      const claim = isActive(pod) ? claimOf(pod, rooms) : undefined;
      if (claim !== undefined && isMissed(pod, claim)) tell(claim);
    }
    return pods.onChange((change) => isPodEvent(change) && tell(claimOf(change.object, rooms)));
  };
}

/** L-244: came, ended, or begins to leave. */
export function isPodEvent(change: Change<PodRecord>): boolean {
  const { type, object: pod } = change;
  if (type === "deleted" || pod.nodeName === "") return false;
  if (type === "added") return true;
  const { previous } = change;
  if (previous.nodeName === "") return true;
  return (isTerminal(pod) && !isTerminal(previous)) || (pod.deletingAtMs !== undefined && previous.deletingAtMs === undefined);
}

/** A pod that came while nobody looked. Those that are known leave the time as it is, or every restart would make all nodes look busy. */
function isMissed(pod: PodRecord, claim: NodeClaim): boolean {
  const stampedAtMs = stampOf(claim);
  return stampedAtMs === undefined || (pod.scheduledAtMs ?? pod.createdAtMs) - stampedAtMs >= STAMP_PERIOD_MS;
}

/** L-245. */
function claimOf(pod: PodRecord, { caches, provider }: Rooms): NodeClaim | undefined {
  if (pod.owner === "daemon-set") return undefined;
  const node = caches.nodes.find(pod.nodeName);
  const claims = node === undefined ? [] : claimsOf(node, caches);
  const [claim] = claims;
  return claims.length === 1 && isManaged(claim!.spec.nodeClassRef, provider.nodeClassKinds) ? claim : undefined;
}

function stampOf({ status }: NodeClaim): number | undefined {
  return parseTime(status?.lastPodEventTime);
}
