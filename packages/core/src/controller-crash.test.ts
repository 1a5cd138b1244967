/** Law 3: killed between any two answers of the API server or the cloud, the work is taken up without a leaked or doubled instance. */
import type { Node, NodeClaim } from "@joinery/api";
import { createRandom } from "@joinery/kube";
import { describe, expect, test } from "vitest";
import { claimCondition } from "./state/conditions.ts";
import { bindPod, createWorld, NODE_CLAIMS, NODES, putPendingPod, putPool, type World } from "./testing/world.ts";

const isReady = (claim: NodeClaim) => claimCondition(claim, "Ready").status === "True";

/** A storm in which replicas die at the n-th request that they make, then calm. */
async function storm(world: World, seed: number, deaths: number): Promise<void> {
  const random = createRandom(seed);
  const election = (identity: string) => ({ namespace: "karpenter", identity });
  let alive = 0;
  let countdown = Number.POSITIVE_INFINITY;
  let replica: ReturnType<World["start"]>;
  const die = () => {
    countdown = Number.POSITIVE_INFINITY;
    replica.abort();
  };
  const step = () => {
    if (--countdown <= 0) die();
  };
  world.api.faults.before = ({ path, method }) => {
    if (!path.includes("/leases/") && method !== "GET") step();
    return undefined;
  };
  world.api.faults.after = ({ path, method }) => {
    if (!path.includes("/leases/") && method !== "GET") step();
  };
  world.cloud.onLaunched = () => {
    step();
    if (random.below(4) === 0) throw new Error("the answer was lost");
  };
  for (; alive < deaths; alive++) {
    replica = world.start({ leaderElection: election(`replica-${alive}`) });
    countdown = 1 + random.below(12);
    await world.clock.advance(1000 * (1 + random.below(40)));
    await replica.kill();
  }
  world.api.faults.before = undefined;
  world.api.faults.after = undefined;
  world.cloud.onLaunched = undefined;
  world.start({ leaderElection: election("last") });
}

describe.each(Array.from({ length: 20 }, (_, seed) => seed))("seed %i", (seed) => {
  test("O-281: what is deleted goes entirely", async () => {
    const world = createWorld();
    putPool(world);
    for (let n = 0; n < 10; n++) putPendingPod(world, `pod-${n}`);
    const first = world.start();
    await world.until("Ready", () => world.claims().length === 3 && world.claims().every(isReady));
    await first.kill();
    const nodes = world.api.objects<Node>(NODES).map(({ metadata }) => metadata!.name!);
    for (let n = 0; n < 10; n++) bindPod(world, `pod-${n}`, nodes[n % 3]!);
    const random = createRandom(seed);
    // One by its Node, one by its NodeClaim, one by both.
    world.api.remove(`${NODES}/${nodes[0]}`);
    world.api.remove(`${NODES}/${nodes[1]}`);
    for (const { metadata } of world.claims().slice(1)) world.api.remove(`${NODE_CLAIMS}/${metadata!.name}`);
    const evicted = new Set<string>();
    world.api.onEvicted = (name) => void evicted.add(name);
    await storm(world, seed + random.below(1000), 4);
    await world.clock.advance(30 * 60_000);
    expect(nodes.filter((name) => world.api.find(`${NODES}/${name}`) !== undefined)).toEqual([]);
    const wished = world.claims().map(({ status }) => status?.providerID);
    expect([...world.cloud.instances.keys()].sort()).toEqual(wished.sort());
    expect(evicted.size).toBe(10);
  });
});

describe.each(Array.from({ length: 30 }, (_, seed) => seed))("seed %i", (seed) => {
  test("O-282: wish and machines agree in the end", async () => {
    const world = createWorld();
    putPool(world);
    for (let n = 0; n < 10; n++) putPendingPod(world, `pod-${n}`);
    await storm(world, seed, 5);
    await world.clock.advance(30 * 60_000);
    // Ten pods of one core on nodes of four: three nodes, however often the planning began anew.
    expect(world.claims().filter(isReady)).toHaveLength(3);
    expect(world.claims()).toHaveLength(3);
    const wished = world.claims().map(({ status }) => status?.providerID);
    expect([...world.cloud.instances.keys()].sort()).toEqual(wished.sort());
  });
});
