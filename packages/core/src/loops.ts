/** Every loop of the controller, by the names that logs, metrics and dashboards know. Rules O-98…O-100. */
import { CapacityBuffers, type Kind, NodeClaims, NodePools, Nodes, Pods } from "@joinery/api";
import { createServerVersionLoop } from "./api-server/server-version.ts";
import { createBufferLoop } from "./buffers/buffer-loop.ts";
import { createProvisionedBuffers, noBuffers } from "./buffers/provisioned-buffers.ts";
import type { CloudProvider } from "./cloud-provider.ts";
import { createLeftoverMarksLoop } from "./disruption/leftover-marks.ts";
import { createInstanceCollector } from "./garbage-collection/instances.ts";
import { createNodeClaimCollector } from "./garbage-collection/node-claims.ts";
import { createConsistencyLoop } from "./lifecycle/consistency.ts";
import { createExpirationLoop } from "./lifecycle/expiration.ts";
import { createClaimHydrationLoop, createNodeHydrationLoop } from "./lifecycle/hydration.ts";
import { createLifecycleLoop } from "./lifecycle/lifecycle.ts";
import { createPodEventsLoop } from "./lifecycle/pod-events.ts";
import { createPricingLoop } from "./metrics/pricing-loop.ts";
import { createCounterLoop } from "./node-pool/counter.ts";
import { createHashLoop } from "./node-pool/hash.ts";
import { createHealthResetLoop } from "./node-pool/health-reset.ts";
import { createReadinessLoop } from "./node-pool/readiness.ts";
import { createValidationLoop } from "./node-pool/validation.ts";
import { createOverlayLoop } from "./overlays/evaluation.ts";
import { createOverlayStore, withOverlays } from "./overlays/overlay-store.ts";
import { createCostQueue } from "./pod-deletion-cost/cost-queue.ts";
import { createDeletionCostLoop } from "./pod-deletion-cost/ranking-loop.ts";
import { createProvisioner } from "./provisioning/provisioner.ts";
import type { Rooms } from "./rooms.ts";
import { controllerLog } from "./runtime/log-context.ts";
import { createWrites } from "./runtime/writes.ts";
import { createStaticDeprovisioningLoop } from "./static-capacity/deprovisioning.ts";
import { createStaticProvisioningLoop } from "./static-capacity/provisioning.ts";
import { createEvictionQueue } from "./termination/eviction-queue.ts";
import { createNodeTerminationLoop } from "./termination/node-termination.ts";

/** Something that works until its signal aborts. */
export interface Runnable {
  readonly name: string;
  run(signal: AbortSignal): Promise<void>;
}

/** @param measured the provider as seen by one controller */
export function createLoops(rooms: Rooms, measured: (controller: string) => CloudProvider): readonly Runnable[] {
  const { isStaticCapacityOn, isNodeOverlayOn, isCapacityBufferOn, isPodDeletionCostManaged, isClusterStateObservabilityDisabled } =
    rooms.options;
  const overlays = createOverlayStore();
  const bareRoomsOf = (name: string, kind?: Kind): Rooms => ({
    ...rooms,
    kind,
    log: controllerLog(rooms.log, name, kind),
    provider: measured(name),
    writes: createWrites(rooms.kube, rooms.caches),
  });
  const roomsOf = (name: string, kind?: Kind): Rooms => {
    const bare = bareRoomsOf(name, kind);
    return isNodeOverlayOn ? { ...bare, provider: withOverlays(bare.provider, overlays) } : bare;
  };
  const queue = createEvictionQueue(roomsOf("eviction-queue", Pods));
  const provisionerRooms = roomsOf("provisioner");
  const buffers = isCapacityBufferOn ? createProvisionedBuffers(provisionerRooms, rooms.buffers) : noBuffers;
  const provisioner = createProvisioner(provisionerRooms, buffers);
  return [
    { name: "provisioner", run: provisioner.run },
    createLifecycleLoop(roomsOf("nodeclaim.lifecycle", NodeClaims)),
    createExpirationLoop(roomsOf("nodeclaim.expiration", NodeClaims)),
    createConsistencyLoop(roomsOf("nodeclaim.consistency", NodeClaims)),
    createClaimHydrationLoop(roomsOf("nodeclaim.hydration", NodeClaims)),
    createNodeHydrationLoop(roomsOf("node.hydration", Nodes)),
    createPodEventsLoop(roomsOf("nodeclaim.podevents")),
    queue.loop,
    createNodeTerminationLoop(roomsOf("node.termination", Nodes), queue),
    ...(isClusterStateObservabilityDisabled ? [] : [createPricingLoop(roomsOf("state.pricing", NodePools), rooms.costs)]),
    showing(roomsOf("cloudprovider.metrics")),
    createServerVersionLoop(roomsOf("providers.version")),
    createNodeClaimCollector(roomsOf("nodeclaim.garbagecollection")),
    createInstanceCollector(roomsOf("instance.garbagecollection")),
    createReadinessLoop(roomsOf("nodepool.readiness", NodePools)),
    createValidationLoop(roomsOf("nodepool.validation", NodePools)),
    createHashLoop(roomsOf("nodepool.hash", NodePools)),
    createCounterLoop(roomsOf("nodepool.counter", NodePools)),
    createHealthResetLoop(roomsOf("nodepool.registrationhealth", NodePools)),
    createLeftoverMarksLoop(roomsOf("disruption.leftovers", Nodes)),
    ...(isNodeOverlayOn ? [createOverlayLoop(bareRoomsOf("nodeoverlay.controller"), overlays, () => provisioner.trigger())] : []),
    ...(isCapacityBufferOn ? [createBufferLoop(roomsOf("capacitybuffer", CapacityBuffers), rooms.buffers, provisioner.trigger)] : []),
    ...(isPodDeletionCostManaged ? deletionCostLoops() : []),
    ...(isStaticCapacityOn
      ? [
          createStaticProvisioningLoop(roomsOf("static.provisioning", NodePools)),
          createStaticDeprovisioningLoop(roomsOf("static.deprovisioning", NodePools)),
        ]
      : []),
  ];

  /** Nothing runs: what is sold is asked for when somebody looks at the metrics. */
  function showing({ provider, log, showInstanceTypes }: Rooms): Runnable {
    return {
      name: "cloudprovider.metrics",
      run: (signal) =>
        new Promise((resolve) => {
          const end = showInstanceTypes(provider, log);
          signal.addEventListener("abort", () => resolve(end()), { once: true });
        }),
    };
  }

  function deletionCostLoops(): readonly Runnable[] {
    const costs = createCostQueue(roomsOf("pod.deletioncost.queue", Pods));
    return [costs.loop, createDeletionCostLoop(roomsOf("pod.deletioncost"), costs)];
  }
}
