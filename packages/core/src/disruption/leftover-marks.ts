/**
 * A node that was chosen for disruption is tainted, and its NodeClaim says why. Whoever begins to lead takes both off nodes that are not
 * going: who put them there is gone, and nobody would ever schedule to them again. Rules L-68, L-69, O-280, V-31.
 */
import { clearCondition, DISRUPTED_TAINT, isConditionTrue, NODE_CLAIM_CONDITIONS, type NodeClaim, withConditions } from "@joinery/api";
import { isNotFound, isSameTaint, keyOf } from "@joinery/kube";
import { claimsOf } from "../lifecycle/nodes-of.ts";
import type { Rooms } from "../rooms.ts";
import { createLoop, type Loop } from "../runtime/loop.ts";
import { asleep, type Step } from "../runtime/step.ts";
import { isManaged } from "../state/managed.ts";
import type { NodeRecord } from "../state/node-record.ts";

const WORKERS = 10;
const CONDITION = "DisruptionReason";

/** The loop of `disruption.leftovers`: looks at each Node once in a term, and again only until it could be written. */
export function createLeftoverMarksLoop(rooms: Rooms): Loop {
  const { caches } = rooms;
  return createLoop(
    {
      name: "disruption.leftovers",
      find: caches.nodes.find,
      reconciler: { reconcile: (node, signal) => unmark(node, rooms, signal) },
      sources: [
        (wake) => {
          for (const node of caches.nodes.values()) if (isTainted(node) || hasReason(claimsOf(node, caches)[0])) wake(keyOf(node));
          return () => {};
        },
      ],
      workers: WORKERS,
    },
    rooms,
  );
}

async function unmark(node: NodeRecord, { caches, cluster, provider, writes, log }: Rooms, signal: AbortSignal): Promise<Step> {
  const [claim, ...others] = claimsOf(node, caches);
  if (claim === undefined || others.length > 0 || !isManaged(claim.spec.nodeClassRef, provider.nodeClassKinds)) return asleep;
  if (node.metadata.deletionTimestamp !== undefined || isConditionTrue(claim, "Rebooting")) return asleep;
  const state = cluster.find(node.providerId);
  if (state === undefined || cluster.isMarked(state)) return asleep;
  try {
    if (isTainted(node)) {
      await writes.patchNode(node, { spec: { taints: node.taints.filter((taint) => !isSameTaint(taint, DISRUPTED_TAINT)) } }, signal);
    }
    if (hasReason(claim)) {
      const conditions = clearCondition(NODE_CLAIM_CONDITIONS, claim, CONDITION);
      await writes.saveNodeClaim(claim, withConditions(claim, conditions), signal);
    }
  } catch (error) {
    if (isNotFound(error)) return asleep;
    throw error;
  }
  log.info(
    { Node: { name: node.metadata.name }, NodeClaim: { name: claim.metadata?.name } },
    "removed marks of a disruption that nobody carries out",
  );
  return asleep;
}

function isTainted({ taints }: NodeRecord): boolean {
  return taints.some((taint) => isSameTaint(taint, DISRUPTED_TAINT));
}

function hasReason(claim: NodeClaim | undefined): boolean {
  return claim?.status?.conditions?.some(({ type }) => type === CONDITION) === true;
}
