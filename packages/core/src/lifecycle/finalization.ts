/** A NodeClaim goes: its Node first, then its instance, then itself. Rules L-117…L-123. */
import {
  CAPACITY_TYPE_LABEL,
  findCondition,
  formatTime,
  type KubeObject,
  NODE_POOL_LABEL,
  type NodeClaim,
  Nodes,
  parseTime,
  REGISTERED_LABEL,
  TERMINATION_FINALIZER,
  TERMINATION_TIMESTAMP_ANNOTATION,
  ZONE_LABEL,
} from "@joinery/api";
import { hasFinalizer, isNotFound, withAnnotations, withoutFinalizer } from "@joinery/kube";
import { seconds } from "../metrics/core-metrics.ts";
import type { Rooms } from "../rooms.ts";
import { again, asleep, type Reconciler, type Step } from "../runtime/step.ts";
import { claimCondition, setClaimCondition } from "../state/conditions.ts";
import type { NodeRecord } from "../state/node-record.ts";
import { claimExpiring } from "../termination/events.ts";
import { gracePeriodMs } from "./deletion.ts";
import type { LaunchMemory } from "./launch.ts";
import { nodesOf } from "./nodes-of.ts";

/** L-120: until the instance is gone. */
export const INSTANCE_POLL_MS = 5000;

/** @param memory what was launched and may not be written down: the NodeClaim can be deleted in between */
export function createFinalization(rooms: Rooms, memory: LaunchMemory): Reconciler<NodeClaim> {
  const { writes, caches, clock, provider, kube } = rooms;

  return {
    async reconcile(cached, signal) {
      if (!hasFinalizer(cached, TERMINATION_FINALIZER)) return asleep;
      const stored = await writeDeadline(cached, rooms, signal);
      let claim = withLaunch(stored, memory);
      if (await deleteNodes(claim, signal)) return asleep;
      if (claim.status?.providerID) {
        const outcome = await provider.terminate(claim, signal);
        claim = await writes.saveNodeClaim(
          stored,
          setClaimCondition(claim, { type: "InstanceTerminating", status: "True" }, clock.wallMs()),
          signal,
        );
        if (outcome === "accepted") return again(INSTANCE_POLL_MS);
      }
      return release(claim, signal);
    },
  };

  /** L-119. True while a Node is still there that has been let in, and may have pods. */
  async function deleteNodes(claim: NodeClaim, signal: AbortSignal): Promise<boolean> {
    let isAnyThere = false;
    for (const node of nodesOf(claim, caches)) {
      if (!(await isLetIn(node, claim, signal))) continue;
      isAnyThere = true;
      if (node.metadata.deletionTimestamp === undefined) await writes.deleteNode(node, signal);
    }
    return isAnyThere && nodesOf(claim, caches).length > 0;
  }

  /**
   * A Node can have been let in though the NodeClaim was deleted before that was written down, and though the answer to the write that
   * let it in was lost: then only the API server knows.
   */
  async function isLetIn(node: NodeRecord, claim: NodeClaim, signal: AbortSignal): Promise<boolean> {
    if (claimCondition(claim, "Registered").status === "True" || isLabelled(node)) return true;
    const stored = await kube.find(Nodes, { name: node.metadata.name }, signal);
    return stored !== undefined && stored.metadata?.uid === node.metadata.uid && isLabelled(stored);
  }

  /** L-122. */
  async function release(claim: NodeClaim, signal: AbortSignal): Promise<Step> {
    try {
      await writes.saveNodeClaim(claim, withoutFinalizer(claim, TERMINATION_FINALIZER), signal);
    } catch (error) {
      if (!isNotFound(error)) throw error;
      return asleep;
    }
    const nodepool = labelOf(claim, NODE_POOL_LABEL);
    // L-120: told here, since what is told before the write is told again after a conflict.
    const terminating = findCondition(claim, "InstanceTerminating");
    if (terminating !== undefined) {
      const sinceMs = parseTime(terminating.lastTransitionTime) ?? clock.wallMs();
      rooms.metrics.instanceTermination.observe({ nodepool }, seconds(clock.wallMs() - sinceMs));
    }
    const deletedAtMs = parseTime(claim.metadata?.deletionTimestamp) ?? clock.wallMs();
    rooms.metrics.nodeClaimTermination.observe({ nodepool }, seconds(clock.wallMs() - deletedAtMs));
    rooms.metrics.nodeClaimsTerminated.inc({
      nodepool,
      capacity_type: labelOf(claim, CAPACITY_TYPE_LABEL),
      zone: labelOf(claim, ZONE_LABEL),
    });
    const [nodeClaim, node] = [claim.metadata?.name, claim.status?.nodeName ?? ""];
    const subject = { NodeClaim: { name: nodeClaim }, Node: { name: node }, "provider-id": claim.status?.providerID };
    rooms.log.info(subject, "deleted nodeclaim");
    return asleep;
  }
}

function isLabelled({ metadata }: KubeObject): boolean {
  return metadata?.labels?.[REGISTERED_LABEL] === "true";
}

/** L-82: an instance whose launch was answered, but not written down before the NodeClaim was deleted. */
function withLaunch(claim: NodeClaim, memory: LaunchMemory): NodeClaim {
  const launched = claim.status?.providerID ? undefined : memory.find(claim.metadata?.uid ?? "");
  return launched === undefined ? claim : { ...claim, status: { ...claim.status, providerID: launched.providerId } };
}

/** L-118: written once, from the NodeClaim's own deletion. */
async function writeDeadline(claim: NodeClaim, { writes, events, log }: Rooms, signal: AbortSignal): Promise<NodeClaim> {
  const graceMs = gracePeriodMs(claim);
  const deletedAtMs = parseTime(claim.metadata?.deletionTimestamp);
  if (graceMs === undefined || deletedAtMs === undefined) return claim;
  if (claim.metadata?.annotations?.[TERMINATION_TIMESTAMP_ANNOTATION] !== undefined) return claim;
  const deadline = formatTime(deletedAtMs + graceMs);
  events.publish(claimExpiring(claim, deadline));
  const annotations = { [TERMINATION_TIMESTAMP_ANNOTATION]: deadline };
  const saved = await writes.saveNodeClaim(claim, withAnnotations(claim, annotations), signal);
  log.info({ NodeClaim: { name: claim.metadata?.name }, ...annotations }, "annotated nodeclaim");
  return saved;
}

function labelOf({ metadata }: NodeClaim, label: string): string {
  return metadata?.labels?.[label] ?? "";
}
