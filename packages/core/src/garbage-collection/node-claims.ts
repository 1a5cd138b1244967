/** NodeClaims whose instance is gone. Rules L-167…L-169. */
import { type NodeClaim, TERMINATION_FINALIZER } from "@joinery/api";
import { hasFinalizer } from "@joinery/kube";
import type { ListedInstance } from "../cloud-provider.ts";
import { deleteFor } from "../lifecycle/deletion.ts";
import { nodesOf } from "../lifecycle/nodes-of.ts";
import type { Rooms } from "../rooms.ts";
import { createLoop, type Loop } from "../runtime/loop.ts";
import { once, SINGLETON } from "../runtime/source.ts";
import { again, type Step } from "../runtime/step.ts";
import { claimCondition } from "../state/conditions.ts";
import { isManaged } from "../state/managed.ts";

/** L-167. */
const PERIOD_MS = 120_000;

export function createNodeClaimCollector(rooms: Rooms): Loop {
  return createLoop(
    {
      name: "nodeclaim.garbagecollection",
      find: (key) => (key === SINGLETON ? rooms : undefined),
      reconciler: { reconcile: (_, signal) => collect(rooms, signal) },
      sources: [once],
      workers: 1,
    },
    rooms,
  );
}

/** Candidates are chosen before the cloud is asked: an instance that is launched meanwhile is not missed in an older list. */
async function collect(rooms: Rooms, signal: AbortSignal): Promise<Step> {
  const candidates = [...rooms.caches.nodeClaims.values()].filter((claim) => isCandidate(claim, rooms));
  if (candidates.length === 0) return again(PERIOD_MS);
  const present = new Set(providerIds(await rooms.provider.list(signal)));
  const gone = candidates.filter(({ status }) => !present.has(status?.providerID ?? ""));
  await Promise.all(
    gone.filter((claim) => !hasReadyNode(claim, rooms)).map((claim) => deleteFor("garbage_collected", claim, rooms, signal)),
  );
  return again(PERIOD_MS);
}

function isCandidate(claim: NodeClaim, { provider }: Rooms): boolean {
  if (!isManaged(claim.spec.nodeClassRef, provider.nodeClassKinds)) return false;
  if (claim.metadata?.deletionTimestamp !== undefined || !hasFinalizer(claim, TERMINATION_FINALIZER)) return false;
  return claimCondition(claim, "Registered").status === "True" && Boolean(claim.status?.providerID);
}

function* providerIds(instances: readonly ListedInstance[]): Iterable<string> {
  for (const { providerId, isTerminating } of instances) if (!isTerminating) yield providerId;
}

/** L-168: a kubelet that reports is worth more than the cloud's list. */
function hasReadyNode(claim: NodeClaim, { caches }: Rooms): boolean {
  const nodes = nodesOf(claim, caches);
  return nodes.length === 1 && nodes[0]!.ready === "True";
}
