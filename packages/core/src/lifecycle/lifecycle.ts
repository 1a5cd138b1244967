/**
 * A NodeClaim's life: finalizer, then launch, registration, initialization and liveness in this order, each whatever became of the
 * one before, and one write of what they found. Rules L-75…L-80.
 */
import { type NodeClaim, TERMINATION_FINALIZER } from "@joinery/api";
import { withFinalizer } from "@joinery/kube";
import type { Rooms } from "../rooms.ts";
import { bucketFor, workersFor } from "../runtime/concurrency.ts";
import { createLoop, type Loop } from "../runtime/loop.ts";
import { changesOf } from "../runtime/source.ts";
import { again, asleep, type Reconciler, type Step, soonest } from "../runtime/step.ts";
import { openClaimConditions } from "../state/conditions.ts";
import { isManaged } from "../state/managed.ts";
import type { NodeRecord } from "../state/node-record.ts";
import { nodeOfSlice } from "../state/resource-slices.ts";
import { createFinalization } from "./finalization.ts";
import { initialize } from "./initialization.ts";
import { createLaunchMemory, launch } from "./launch.ts";
import { checkLiveness } from "./liveness.ts";
import { claimsOf } from "./nodes-of.ts";
import type { PhaseResult } from "./phase.ts";
import { tellProgress } from "./progress.ts";
import { register } from "./registration.ts";

const NAME = "nodeclaim.lifecycle";

function createLifecycle(rooms: Rooms): Reconciler<NodeClaim> {
  const memory = createLaunchMemory(rooms.clock);
  const finalization = createFinalization(rooms, memory);
  type Phase = (claim: NodeClaim, signal: AbortSignal, stored: NodeClaim) => Promise<PhaseResult>;
  const phases: readonly Phase[] = [
    (claim, signal) => launch(claim, memory, rooms, signal),
    (claim, signal, { status }) => register(claim, status?.providerID, rooms, signal),
    (claim, signal) => initialize(claim, rooms, signal),
    (claim, signal) => checkLiveness(claim, rooms, signal),
  ];

  return {
    async reconcile(cached, signal) {
      if (!isManaged(cached.spec.nodeClassRef, rooms.provider.nodeClassKinds)) return asleep;
      if (cached.metadata?.deletionTimestamp !== undefined) return finalization.reconcile(cached, signal);
      // L-76: nothing is launched before the finalizer is there.
      const stored = await rooms.writes.saveNodeClaim(cached, withFinalizer(cached, TERMINATION_FINALIZER), signal);
      let claim = openClaimConditions(stored);
      const steps: Step[] = [];
      const errors: unknown[] = [];
      for (const phase of phases) {
        try {
          const result = await phase(claim, signal, stored);
          if (result.isDeleted) return asleep;
          claim = result.claim;
          steps.push(result.step);
          if (result.error !== undefined) errors.push(result.error);
        } catch (error) {
          signal.throwIfAborted();
          errors.push(error);
        }
      }
      await rooms.writes.saveNodeClaim(stored, claim, signal);
      tellProgress(stored, claim, rooms);
      if (errors.length > 0) throw errors[0];
      // A Node that joined before the cache knew whose it is has woken nobody.
      if (claim.status?.providerID !== stored.status?.providerID) return again(0);
      return soonest(steps);
    },
  };
}

/** The loop of `nodeclaim.lifecycle`: woken by the NodeClaim and by Nodes of its instance. L-80, section 1.4. */
export function createLifecycleLoop(rooms: Rooms): Loop {
  const { caches, writes, options } = rooms;
  const workers = workersFor({ min: 1000, max: 5000 }, options.cpuRequestsMillicores);
  const claimNames = (node: NodeRecord) => claimsOf(node, caches).map(({ metadata }) => metadata?.name ?? "");
  return createLoop(
    {
      name: NAME,
      find: caches.nodeClaims.find,
      reconciler: createLifecycle(rooms),
      sources: [
        changesOf(caches.nodeClaims, undefined, writes.isOwn),
        changesOf(caches.nodes, claimNames),
        changesOf(caches.resourceSlices, (slice) => {
          const node = caches.nodes.find(nodeOfSlice(slice) ?? "");
          return node === undefined ? [] : claimNames(node);
        }),
      ],
      workers,
      backoff: { baseMs: 1000, maxMs: 60_000, bucket: bucketFor(10, 1000, workers) },
    },
    rooms,
  );
}
