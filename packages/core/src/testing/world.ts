/** A virtual clock, an API server, a cloud and a controller, with builders for what tests put in. */
import type { NodeClaim, NodePool, Pod } from "@joinery/api";
import { createRandom, createVirtualClock, type Transport, type VirtualClock } from "@joinery/kube";
import { type Controller, type ControllerOptions, createController } from "../controller.ts";
import { claimCondition } from "../state/conditions.ts";
import { createFakeApi, type FakeApi } from "./fake-api.ts";
import { createFakeCloud, type FakeCloud } from "./fake-cloud.ts";

export interface World {
  readonly clock: VirtualClock;
  readonly api: FakeApi;
  readonly cloud: FakeCloud;
  /** Starts a controller; `kill` waits for its end, which moves the clock where it has to; `abort` does not. */
  start(settings?: Partial<ControllerOptions>): {
    readonly controller: Controller;
    readonly abort: () => void;
    readonly kill: () => Promise<void>;
  };
  /** Moves time until it holds; throws when it never does. */
  until(what: string, isDone: () => boolean, withinMs?: number): Promise<void>;
  claims(): NodeClaim[];
  pods(): Pod[];
  events(): { readonly reason: string; readonly message: string; readonly involvedObject: { readonly name: string } }[];
}

export const NODE_CLAIMS = "/apis/karpenter.sh/v1/nodeclaims";
export const NODE_POOLS = "/apis/karpenter.sh/v1/nodepools";
export const PODS = "/api/v1/pods";
export const NODES = "/api/v1/nodes";

export function createWorld(): World {
  const clock = createVirtualClock({ startMs: Date.parse("2026-01-01T00:00:00Z") });
  const api = createFakeApi(clock);
  const cloud = createFakeCloud(api, clock);
  let replicas = 0;
  return {
    clock,
    api,
    cloud,
    start(settings = {}) {
      const random = createRandom(`replica-${++replicas}`);
      const controller = createController({ transport: api.transport, provider: cloud.factory, clock, random, ...settings });
      const stop = new AbortController();
      let isOver = false;
      void controller
        .run(stop.signal)
        .catch(() => {})
        .finally(() => {
          isOver = true;
        });
      const abort = () => stop.abort(new Error("killed"));
      return {
        controller,
        abort,
        async kill() {
          abort();
          if (!(await clock.runUntil(() => isOver, 60_000))) throw new Error("the controller does not stop");
        },
      };
    },
    async until(what, isDone, withinMs = 600_000) {
      if (!(await clock.runUntil(isDone, withinMs))) throw new Error(`never: ${what}`);
    },
    claims: () => api.objects<NodeClaim>(NODE_CLAIMS),
    pods: () => api.objects<Pod>(PODS),
    events: () => api.objects("/api/v1/events") as never,
  };
}

/** A pool with a node class that is ready; the controller finds both fit. */
export function putPool(world: World, name = "default", spec: Partial<NodePool["spec"]> = {}): void {
  world.api.put("/apis/test.joinery.dev/v1/testnodeclasses/default", { status: { conditions: [{ type: "Ready", status: "True" }] } });
  world.api.put(`${NODE_POOLS}/${name}`, {
    spec: {
      template: {
        spec: {
          nodeClassRef: { group: "test.joinery.dev", kind: "TestNodeClass", name: "default" },
          requirements: [],
          expireAfter: "720h",
        },
      },
      ...spec,
    },
  });
}

/** A pod that the scheduler found no node for. */
export function putPendingPod(world: World, name: string, cpu = "1", change: Partial<Pod["spec"]> = {}): void {
  world.api.put(`/api/v1/namespaces/default/pods/${name}`, {
    metadata: {
      labels: { app: "web" },
      ownerReferences: [{ apiVersion: "apps/v1", kind: "ReplicaSet", name: "web", uid: "rs", controller: true }],
    },
    spec: { containers: [{ name: "main", resources: { requests: { cpu } } }], terminationGracePeriodSeconds: 30, ...change },
    status: { phase: "Pending", conditions: [{ type: "PodScheduled", status: "False", reason: "Unschedulable" }] },
  });
}

/** What kube-scheduler and kubelet do. */
export function bindPod(world: World, name: string, nodeName: string): void {
  world.api.put(`/api/v1/namespaces/default/pods/${name}`, {
    spec: { nodeName },
    status: { phase: "Running", conditions: [{ type: "PodScheduled", status: "True" }] },
  });
}

/**
 * A world with a controller and one initialized node, and pods on it that were pending before. `spec`: the pool's template; `wired`: the
 * controller's own way to the API server.
 */
export async function createWorldWithNode(
  pods: readonly string[] = ["a"],
  spec: Partial<NodePool["spec"]["template"]["spec"]> = {},
  settings: Partial<ControllerOptions> = {},
  wired: (transport: Transport) => Transport = (transport) => transport,
): Promise<{ readonly world: World; readonly node: string } & ReturnType<World["start"]>> {
  const world = createWorld();
  const nodeClassRef = { group: "test.joinery.dev", kind: "TestNodeClass", name: "default" };
  putPool(world, "default", { template: { spec: { nodeClassRef, requirements: [], ...spec } } });
  for (const name of pods) putPendingPod(world, name, "100m");
  const started = world.start({ ...settings, transport: wired(world.api.transport) });
  await world.until("Ready", () => world.claims().some((claim) => claimCondition(claim, "Ready").status === "True"));
  const node = world.claims()[0]!.status!.nodeName!;
  for (const name of pods) bindPod(world, name, node);
  await world.clock.settle();
  return { world, node, ...started };
}
