/** Puts the node class's label where objects of older versions lack it; it makes a Node count as ours. Rules L-176, L-177, L-3. */
import { type NodeClaim, nodeClassLabel } from "@joinery/api";
import { keyOf, withLabels } from "@joinery/kube";
import type { Rooms } from "../rooms.ts";
import { workersFor } from "../runtime/concurrency.ts";
import { createLoop, type Loop } from "../runtime/loop.ts";
import { changesOf } from "../runtime/source.ts";
import { asleep } from "../runtime/step.ts";
import { isManaged } from "../state/managed.ts";
import { claimsOf, nodesOf } from "./nodes-of.ts";

const WORKERS = { min: 1000, max: 5000 };
/** Limiter "R" of section 1.3. */
const BACKOFF = { baseMs: 100, bucket: { perSecond: 10, burst: 100 } };

/** The loop of `nodeclaim.hydration`. */
export function createClaimHydrationLoop(rooms: Rooms): Loop {
  const { caches, provider, writes, options } = rooms;
  return createLoop(
    {
      name: "nodeclaim.hydration",
      find: caches.nodeClaims.find,
      reconciler: {
        async reconcile(claim, signal) {
          if (!isManaged(claim.spec.nodeClassRef, provider.nodeClassKinds)) return asleep;
          await writes.saveNodeClaim(claim, withLabels(claim, classLabel(claim)), signal);
          return asleep;
        },
      },
      sources: [changesOf(caches.nodeClaims, undefined, writes.isOwn)],
      workers: workersFor(WORKERS, options.cpuRequestsMillicores),
      backoff: BACKOFF,
    },
    rooms,
  );
}

/** The loop of `node.hydration`. */
export function createNodeHydrationLoop(rooms: Rooms): Loop {
  const { caches, provider, writes, options } = rooms;
  return createLoop(
    {
      name: "node.hydration",
      find: caches.nodes.find,
      reconciler: {
        async reconcile(node, signal) {
          const [claim, ...others] = claimsOf(node, caches);
          if (claim === undefined || others.length > 0 || !isManaged(claim.spec.nodeClassRef, provider.nodeClassKinds)) return asleep;
          const labels = classLabel(claim);
          if (Object.entries(labels).every(([key, value]) => node.metadata.labels?.[key] === value)) return asleep;
          await writes.patchNode(node, { metadata: { labels } }, signal);
          return asleep;
        },
      },
      sources: [
        changesOf(caches.nodes, undefined, writes.isOwn),
        changesOf(caches.nodeClaims, (claim) => nodesOf(claim, caches).map(keyOf)),
      ],
      workers: workersFor(WORKERS, options.cpuRequestsMillicores),
      backoff: BACKOFF,
    },
    rooms,
  );
}

function classLabel({ spec: { nodeClassRef } }: NodeClaim): Readonly<Record<string, string>> {
  return { [nodeClassLabel(nodeClassRef)]: nodeClassRef.name };
}
