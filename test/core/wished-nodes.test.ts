/**
 * Nodes that are there because somebody wished for them and not for a pod that waits: static pools, room of buffers; and nodes that expire.
 * With EC2, in good weather and in bad: processes die, calls fail before and after they took effect. L-163…L-166, L-192…L-224.
 */
import { CapacityBuffers, type NodeClaim, type NodePool, NodePools } from "@joinery/api";
import { createRandom, type Random } from "@joinery/kube";
import { expect, test } from "vitest";
import type { Call } from "../failover/killable-process.ts";
import { aSimulation, type Simulation } from "../failover/simulation.ts";

const MINUTE = 60_000;
const options = { isStaticCapacityOn: true, isCapacityBufferOn: true };

async function until({ clock }: Simulation, what: string, isDone: () => boolean, withinMs = 30 * MINUTE): Promise<void> {
  if (!(await clock.runUntil(isDone, withinMs))) throw new Error(`never: ${what}`);
}

/** The world's answer to something that a person does. */
async function done<T>({ clock }: Simulation, call: Promise<T>): Promise<T> {
  await clock.settle();
  return call;
}

const template = (spec: object = {}): NodePool["spec"]["template"] => ({
  spec: {
    nodeClassRef: { group: "karpenter.k8s.aws", kind: "EC2NodeClass", name: "default" },
    requirements: [{ key: "karpenter.k8s.aws/instance-family", operator: "In", values: ["m6a"] }],
    expireAfter: "Never",
    ...spec,
  },
});

const of = (pool: string) => (claim: NodeClaim) => claim.metadata?.labels?.["karpenter.sh/nodepool"] === pool;
const isReady = ({ status }: NodeClaim) => status?.conditions?.some((each) => each.type === "Ready" && each.status === "True") ?? false;
const nodesOf = ({ world }: Simulation, pool: string) =>
  world.nodes().filter(({ metadata }) => metadata?.labels?.["karpenter.sh/nodepool"] === pool);

async function expectSettled(simulation: Simulation): Promise<readonly NodeClaim[]> {
  await simulation.clock.advance(25 * MINUTE); // longer than every time limit and grace
  const claims = await simulation.nodeClaims();
  const all = simulation.ec2.control.instances();
  const ids = all
    .filter(({ instance }) => ["pending", "running"].includes(instance.State.Name))
    .map(({ instance }) => `aws:///${instance.Placement.AvailabilityZone}/${instance.InstanceId}`);
  expect(claims.map(({ status }) => status?.providerID).sort()).toEqual(ids.toSorted());
  expect(claims.every(isReady)).toBe(true);
  return claims;
}

test("L-196: EC2 launches the nodes of a static pool from its requirements alone", async () => {
  const simulation = await aSimulation({ seed: 11, options });
  try {
    const { user } = simulation;
    await done(simulation, user.create(NodePools, { metadata: { name: "fixed" }, spec: { replicas: 3, template: template() } }));
    await until(simulation, "three nodes", () => nodesOf(simulation, "fixed").length === 3);
    const claims = await expectSettled(simulation);
    expect(claims.filter(of("fixed"))).toHaveLength(3);
    const types = claims.map(({ metadata }) => metadata!.labels!["node.kubernetes.io/instance-type"]);
    expect(types.every((type) => type!.startsWith("m6a."))).toBe(true);
  } finally {
    await simulation.stop();
  }
});

test("L-206…L-224: the room of a buffer is launched, taken, and launched anew", async () => {
  const simulation = await aSimulation({ seed: 12, options });
  try {
    const { user, world } = simulation;
    await simulation.deploy("web", 4, "1500m", "1Gi");
    await until(simulation, "all run", () => world.pods().length >= 4 && simulation.pendingPods().length === 0);
    const buffer = {
      metadata: { name: "room", namespace: "default" },
      spec: { scalableRef: { kind: "Deployment", name: "web" }, percentage: 100 },
    };
    await done(simulation, user.create(CapacityBuffers, buffer as never));
    const fits = async () => {
      const { status } = await done(simulation, user.get(CapacityBuffers, { namespace: "default", name: "room" }));
      return status?.conditions?.find(({ type }) => type === "Provisioning");
    };
    await simulation.clock.advance(5 * MINUTE);
    expect(await fits()).toMatchObject({ status: "True", message: "4/4 virtual pods fit existing capacity" });
    const before = (await simulation.nodeClaims()).length;
    await simulation.scale("web", 8);
    await until(simulation, "all run at once", () => world.pods().length === 8 && simulation.pendingPods().length === 0, 30_000);
    await simulation.clock.advance(5 * MINUTE);
    expect(await fits()).toMatchObject({ status: "True", message: "8/8 virtual pods fit existing capacity" });
    expect((await expectSettled(simulation)).length).toBeGreaterThan(before);
  } finally {
    await simulation.stop();
  }
});

test("L-163, L-164: nodes expire one after the other for days, and the pods run on", async () => {
  const simulation = await aSimulation({ seed: 13, options });
  try {
    const { user, world, clock } = simulation;
    await done(simulation, user.delete(NodePools, { name: "default" }));
    const aging = { metadata: { name: "aging" }, spec: { template: template({ expireAfter: "6h" }) } };
    await done(simulation, user.create(NodePools, aging));
    await simulation.deploy("web", 6, "900m", "1Gi");
    await until(simulation, "all run", () => world.pods().length >= 6 && simulation.pendingPods().length === 0);
    const seen = new Set<string>();
    for (let hours = 0; hours < 48; hours++) {
      await clock.advance(60 * MINUTE);
      for (const claim of await simulation.nodeClaims()) seen.add(claim.metadata!.uid!);
      const ageMs = (claim: NodeClaim) => clock.wallMs() - Date.parse(claim.metadata!.creationTimestamp!);
      expect((await simulation.nodeClaims()).every((claim) => ageMs(claim) < 6.5 * 60 * MINUTE)).toBe(true);
    }
    await until(simulation, "all run", () => world.pods().length === 6 && simulation.pendingPods().length === 0);
    expect(seen.size).toBeGreaterThanOrEqual(8);
  } finally {
    await simulation.stop();
  }
});

const oneIn = (random: Random, count: number) => random.below(count) === 0;

function fate({ moment, what }: Call, random: Random): "passes" | "fails" | "kills" {
  if (what.kind === "api" && what.request.path.includes("/leases/")) return oneIn(random, 60) ? "fails" : "passes";
  if (what.kind === "api" && what.request.method === "GET") return oneIn(random, 20) ? "fails" : "passes";
  if (!oneIn(random, moment === "before" ? 10 : 8)) return "passes";
  return oneIn(random, 25) ? "kills" : "fails";
}

test.each([1, 2, 3])("L-193, L-198: in bad weather a static pool is never doubled, nor beyond its limit (seed %i)", async (seed) => {
  const random = createRandom(seed).split("weather");
  let isBad = true;
  const simulation = await aSimulation({
    seed,
    options,
    onCall: (call, process) => {
      const what = isBad ? fate(call, random) : "passes";
      if (what === "kills") process.kill();
      if (what === "fails") throw new Error(`the network failed ${call.moment} the call`);
    },
  });
  try {
    const { user, clock } = simulation;
    const pool = { metadata: { name: "fixed" }, spec: { replicas: 4, limits: { nodes: "6" }, template: template() } };
    await done(simulation, user.create(NodePools, pool));
    const scale = (replicas: number) =>
      done(simulation, user.patch(NodePools, { name: "fixed" }, { type: "merge", body: { spec: { replicas } } }));
    let most = 0;
    const watchFor = async (minutes: number) => {
      for (let n = 0; n < minutes * 4; n++) {
        await clock.advance(MINUTE / 4);
        most = Math.max(most, (await simulation.nodeClaims()).filter(of("fixed")).length);
      }
    };
    await watchFor(4);
    await scale(9);
    await watchFor(4);
    await scale(2);
    await watchFor(4);
    await scale(5);
    await watchFor(4);
    isBad = false;
    await until(simulation, "five nodes", () => nodesOf(simulation, "fixed").length === 5);
    const claims = await expectSettled(simulation);
    expect(claims.filter(of("fixed"))).toHaveLength(5);
    expect(most).toBeLessThanOrEqual(6);
  } finally {
    await simulation.stop();
  }
});
