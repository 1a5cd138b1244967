/** A Node goes: cordoned, drained, its volumes detached, its instance ended, then released. Rules L-124…L-131, L-161, L-162. */
import {
  DISRUPTED_TAINT,
  EXCLUDE_FROM_LOAD_BALANCERS_LABEL,
  formatTime,
  isConditionTrue,
  NODE_POOL_LABEL,
  type NodeClaim,
  parseTime,
  TERMINATION_FINALIZER,
  ZONE_LABEL,
} from "@joinery/api";
import { hasFinalizer, isNotFound, isSameTaint, keyOf } from "@joinery/kube";
import { INSTANCE_POLL_MS } from "../lifecycle/finalization.ts";
import { claimsOf, nodesOf } from "../lifecycle/nodes-of.ts";
import { seconds } from "../metrics/core-metrics.ts";
import type { Rooms } from "../rooms.ts";
import { bucketFor, workersFor } from "../runtime/concurrency.ts";
import { createLoop, type Loop } from "../runtime/loop.ts";
import { changesOf } from "../runtime/source.ts";
import { again, asleep, type Reconciler, type Step } from "../runtime/step.ts";
import { setClaimCondition } from "../state/conditions.ts";
import { isManaged, isManagedNode } from "../state/managed.ts";
import type { NodeRecord } from "../state/node-record.ts";
import { deadlineMs } from "./deadline.ts";
import { type Draining, drain } from "./drain.ts";
import { nodeExpiring } from "./events.ts";
import type { EvictionQueue } from "./eviction-queue.ts";
import type { StageResult } from "./stage.ts";
import { awaitVolumes } from "./volumes.ts";

function createNodeTermination(rooms: Rooms, queue: EvictionQueue): Reconciler<NodeRecord> {
  const { provider, writes, events, clock, metrics } = rooms;

  return {
    async reconcile(node, signal) {
      if (node.metadata.deletionTimestamp === undefined || !hasFinalizer(node, TERMINATION_FINALIZER)) return asleep;
      if (!isManagedNode(node, provider.nodeClassKinds)) return asleep;
      const claim = findClaim(node, rooms);
      if (claim !== undefined && claim.metadata?.deletionTimestamp === undefined) await writes.deleteNodeClaim(claim, signal);
      // L-126: a machine that is gone cannot be drained.
      if (node.ready !== "True" && (await provider.find(node.providerId, signal)) === undefined) return release(node, rooms, signal);
      const deadline = deadlineMs(claim);
      if (deadline !== undefined) events.publish(nodeExpiring(node, formatTime(deadline)));
      await cordon(node, rooms, signal);
      return runStages({ node, claim, deadlineMs: deadline }, signal);
    },
  };

  /** L-129: in one pass, up to the first that has to wait; what was found out is written in any case. */
  async function runStages(draining: Draining, signal: AbortSignal): Promise<Step> {
    const stages: readonly ((draining: Draining) => Promise<StageResult> | StageResult)[] = [
      (current) => drain(current, queue, rooms, signal),
      (current) => awaitVolumes(current, rooms),
      (current) => endInstance(current, signal),
    ];
    let current = draining;
    try {
      for (const stage of stages) {
        const { claim, wait } = await stage(current);
        current = { ...current, claim };
        if (wait !== undefined) return wait;
      }
    } finally {
      const { claim: before, node } = draining;
      if (before !== undefined && current.claim !== undefined) {
        await saveStatus(before, current.claim, signal);
        // Once it is written: a pass that is repeated after a conflict drains nothing anew.
        if (!isConditionTrue(before, "Drained") && isConditionTrue(current.claim, "Drained"))
          metrics.nodesDrained.inc({ nodepool: node.metadata.labels?.[NODE_POOL_LABEL] ?? "" });
      }
    }
    return release(draining.node, rooms, signal);
  }

  async function saveStatus(before: NodeClaim, after: NodeClaim, signal: AbortSignal): Promise<void> {
    try {
      await writes.saveNodeClaim(before, after, signal);
    } catch (error) {
      if (!isNotFound(error)) throw error;
    }
  }

  /** L-161. */
  async function endInstance({ claim }: Draining, signal: AbortSignal): Promise<StageResult> {
    if (claim === undefined) return { claim };
    const outcome = await provider.terminate(claim, signal);
    const ending = setClaimCondition(claim, { type: "InstanceTerminating", status: "True" }, clock.wallMs());
    return outcome === "accepted" ? { claim: ending, wait: again(INSTANCE_POLL_MS) } : { claim: ending };
  }
}

/** L-125: with none or with several, the Node goes alone. */
function findClaim(node: NodeRecord, { caches, provider }: Rooms): NodeClaim | undefined {
  const claims = claimsOf(node, caches).filter(({ spec }) => isManaged(spec.nodeClassRef, provider.nodeClassKinds));
  return claims.length === 1 ? claims[0] : undefined;
}

/** L-128. */
async function cordon(node: NodeRecord, { writes, log }: Rooms, signal: AbortSignal): Promise<void> {
  const { metadata, taints } = node;
  const isTainted = taints.some((taint) => isSameTaint(taint, DISRUPTED_TAINT));
  const isExcluded = metadata.labels?.[EXCLUDE_FROM_LOAD_BALANCERS_LABEL] === "karpenter";
  if (isTainted && isExcluded) return;
  const others = taints.filter(({ key }) => key !== DISRUPTED_TAINT.key);
  await writes.patchNode(
    node,
    {
      metadata: { labels: { [EXCLUDE_FROM_LOAD_BALANCERS_LABEL]: "karpenter" } },
      spec: { taints: isTainted ? taints : [...others, DISRUPTED_TAINT] },
    },
    signal,
  );
  const { key, value = "", effect } = DISRUPTED_TAINT;
  if (!isTainted)
    log.info({ Node: { name: metadata.name }, "taint.Key": key, "taint.Value": value, "taint.Effect": effect }, "tainted node");
}

/** L-130. */
async function release(node: NodeRecord, { writes, metrics, clock, log, caches }: Rooms, signal: AbortSignal): Promise<Step> {
  const current = caches.nodes.find(node.metadata.name) ?? node;
  const finalizers = current.metadata.finalizers?.filter((finalizer) => finalizer !== TERMINATION_FINALIZER) ?? [];
  try {
    await writes.patchNode(current, { metadata: { finalizers } }, signal);
  } catch (error) {
    if (!isNotFound(error)) throw error;
    return asleep;
  }
  const nowMs = clock.wallMs();
  const nodepool = node.metadata.labels?.[NODE_POOL_LABEL] ?? "";
  metrics.nodesTerminated.inc({ nodepool, zone: node.metadata.labels?.[ZONE_LABEL] ?? "" });
  metrics.nodeTermination.observe({ nodepool }, seconds(nowMs - (parseTime(node.metadata.deletionTimestamp) ?? nowMs)));
  metrics.nodeLifetime.observe({ nodepool }, seconds(nowMs - (parseTime(node.metadata.creationTimestamp) ?? nowMs)));
  log.info({ Node: { name: node.metadata.name } }, "deleted node");
  return asleep;
}

/** The loop of `node.termination`: woken by the Node, its NodeClaim, and by pods and volumes on Nodes that go. Section 1.4. */
export function createNodeTerminationLoop(rooms: Rooms, queue: EvictionQueue): Loop {
  const { caches, writes, options } = rooms;
  const workers = workersFor({ min: 100, max: 5000 }, options.cpuRequestsMillicores);
  const leaving = (name: string) => (caches.nodes.find(name)?.metadata.deletionTimestamp === undefined ? [] : [name]);
  return createLoop(
    {
      name: "node.termination",
      find: caches.nodes.find,
      reconciler: createNodeTermination(rooms, queue),
      sources: [
        changesOf(caches.nodes, undefined, writes.isOwn),
        changesOf(caches.nodeClaims, (claim) => nodesOf(claim, caches).map(keyOf), writes.isOwn),
        changesOf(caches.pods, ({ nodeName }) => (nodeName === "" ? [] : leaving(nodeName))),
        changesOf(caches.volumeAttachments, ({ spec }) => leaving(spec.nodeName)),
      ],
      workers,
      backoff: { baseMs: 100, maxMs: 10_000, bucket: bucketFor(10, 100, workers) },
    },
    rooms,
  );
}
