/** Nodes that are deleted in the sandbox really go, their pods find new places, and budgets hold. Rules L-117…L-162, L-263, S-2, S-15. */
import { type Node, NodeClaims, NodePools, Nodes, PodDisruptionBudgets } from "@joinery/api";
import { expect, test } from "vitest";
import { aSimulation, type Simulation } from "../failover/simulation.ts";

const MINUTE = 60_000;

async function aBusyCluster(seed: number): Promise<Simulation> {
  const simulation = await aSimulation({ seed });
  await simulation.deploy("web", 12, "900m", "1Gi");
  await until(simulation, "all run", () => simulation.world.pods().length >= 12 && simulation.pendingPods().length === 0);
  return simulation;
}

async function until({ clock }: Simulation, what: string, isDone: () => boolean, withinMs = 20 * MINUTE): Promise<void> {
  if (!(await clock.runUntil(isDone, withinMs))) throw new Error(`never: ${what}`);
}

const ours = ({ world }: Simulation): Node[] =>
  world.nodes().filter(({ metadata }) => metadata?.labels?.["karpenter.sh/nodepool"] !== undefined);
const running = ({ world }: Simulation) => world.pods().filter(({ status }) => status?.phase === "Running").length;

async function expectSettled(simulation: Simulation): Promise<void> {
  const claims = await simulation.nodeClaims();
  const living = simulation.world.instances().map(({ providerId }) => providerId);
  expect(claims.map(({ status }) => status!.providerID!).sort()).toEqual([...living].sort());
  expect(ours(simulation)).toHaveLength(claims.length);
}

test.each([1, 2, 3])(
  "L-125: every node is deleted under a budget, one leader dies, and all pods run in the end (seed %i)",
  async (seed) => {
    const simulation = await aBusyCluster(seed);
    try {
      const before = ours(simulation).map(({ metadata }) => metadata!.name!);
      const budget = {
        metadata: { name: "web", namespace: "default" },
        spec: { minAvailable: 9, selector: { matchLabels: { app: "web" } } },
      };
      await simulation.user.create(PodDisruptionBudgets, budget);
      await simulation.clock.advance(MINUTE);
      let least = Number.POSITIVE_INFINITY;
      for (const name of before) await simulation.user.delete(Nodes, { name });
      await simulation.clock.advance(20_000 + seed * 7000);
      simulation.processes[0]!.kill();
      await until(simulation, "the old nodes gone", () => {
        least = Math.min(least, running(simulation));
        return simulation.world.nodes().every(({ metadata }) => !before.includes(metadata!.name!));
      });
      await until(simulation, "all run", () => simulation.pendingPods().length === 0 && running(simulation) === 12);
      expect(least).toBeGreaterThanOrEqual(9);
      await simulation.clock.advance(5 * MINUTE);
      await expectSettled(simulation);
    } finally {
      await simulation.stop();
    }
  },
);

test.each([1, 2, 3])(
  "L-121, L-170: a NodeClaim that is deleted after CreateFleet, before anybody wrote down the launch, leaves no instance (seed %i)",
  async (seed) => {
    let wasLaunched = false;
    const simulation = await aSimulation({
      seed,
      onCall: ({ moment, what }, process) => {
        if (wasLaunched || moment !== "after" || what.kind !== "ec2" || what.name !== "createFleet") return;
        wasLaunched = true;
        // Nobody is left who could remember it.
        for (const each of [process, ...simulation.processes]) each.kill();
      },
    });
    const instances = () => simulation.ec2.control.instances().filter(({ instance }) => /pending|running/.test(instance.State.Name));
    try {
      await simulation.deploy("web", 1, "900m", "1Gi");
      await until(simulation, "a launch", () => wasLaunched);
      const claims = await simulation.nodeClaims();
      expect(claims.map(({ status }) => status?.providerID)).toEqual([undefined]);
      await simulation.scale("web", 0);
      const deletion = simulation.user.delete(NodeClaims, { name: claims[0]!.metadata!.name! });
      await simulation.clock.settle();
      await deletion;
      await until(simulation, "a new leader", () => simulation.processes.some(({ isLeading }) => isLeading), 5 * MINUTE);
      expect(instances()).toHaveLength(1);
      // Thirty seconds of grace, counted from the launch, and the ten of a collector that has just begun (W-740).
      await until(simulation, "the instance gone", () => instances().length === 0, 40_000);
      await simulation.clock.advance(MINUTE);
      expect(await simulation.nodeClaims()).toEqual([]);
    } finally {
      await simulation.stop();
    }
  },
);

test("L-262, L-3: a NodeClaim without a pool, made by hand, becomes a node and goes again", async () => {
  const simulation = await aSimulation({ seed: 6 });
  try {
    const { clock, user, world } = simulation;
    await until(simulation, "a leader", () => simulation.processes.some(({ isLeading }) => isLeading));
    const creation = user.create(NodeClaims, {
      metadata: { name: "by-hand" },
      spec: {
        nodeClassRef: { group: "karpenter.k8s.aws", kind: "EC2NodeClass", name: "default" },
        requirements: [{ key: "karpenter.k8s.aws/instance-family", operator: "In", values: ["m6a"] }],
      },
    });
    await clock.settle();
    await creation;
    await until(simulation, "a node", () =>
      world.nodes().some(({ metadata }) => metadata?.labels?.["karpenter.sh/initialized"] === "true"),
    );
    const deletion = user.delete(NodeClaims, { name: "by-hand" });
    await clock.settle();
    await deletion;
    await until(simulation, "all gone", () => world.nodes().length === 0 && world.instances().length === 0);
    await clock.advance(MINUTE);
    expect(await simulation.nodeClaims()).toEqual([]);
  } finally {
    await simulation.stop();
  }
});

test("L-263: a deleted NodePool takes its NodeClaims, Nodes and instances along", async () => {
  const simulation = await aBusyCluster(4);
  try {
    await simulation.user.delete(NodePools, { name: "default" });
    await until(simulation, "all gone", () => ours(simulation).length === 0 && simulation.world.instances().length === 0);
    await simulation.clock.advance(MINUTE);
    expect(await simulation.nodeClaims()).toEqual([]);
  } finally {
    await simulation.stop();
  }
});

test("L-119: a deleted NodeClaim takes its Node along; its pods run elsewhere", async () => {
  const simulation = await aBusyCluster(5);
  try {
    const [first] = await simulation.nodeClaims();
    await simulation.user.delete(NodeClaims, { name: first!.metadata!.name! });
    const { nodeName } = first!.status!;
    await until(simulation, "its node gone", () => simulation.world.nodes().every(({ metadata }) => metadata!.name !== nodeName));
    await until(simulation, "all run", () => simulation.pendingPods().length === 0 && running(simulation) === 12);
    await simulation.clock.advance(5 * MINUTE);
    await expectSettled(simulation);
  } finally {
    await simulation.stop();
  }
});
