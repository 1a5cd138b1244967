/**
 * Both sides of every call fail, before and after it took effect, processes die, people delete Nodes and NodeClaims meanwhile: when the weather is over,
 * every pod runs and wish and machines agree. Laws 2 and 3; L-82, L-117…L-131, L-170.
 */
import { NodeClaims, Nodes } from "@joinery/api";
import { createRandom, type Random } from "@joinery/kube";
import { expect, test } from "vitest";
import type { Call } from "../failover/killable-process.ts";
import { aSimulation, type Simulation } from "../failover/simulation.ts";

const MINUTE = 60_000;
const SEEDS = 4;

const oneIn = (random: Random, count: number) => random.below(count) === 0;

/** What becomes of one call. */
function fate({ moment, what }: Call, random: Random): "passes" | "fails" | "kills" {
  if (what.kind === "api" && what.request.path.includes("/leases/")) return oneIn(random, 60) ? "fails" : "passes";
  if (what.kind === "api" && what.request.method === "GET") return oneIn(random, 20) ? "fails" : "passes";
  if (!oneIn(random, moment === "before" ? 10 : 8)) return "passes";
  return oneIn(random, 25) ? "kills" : "fails";
}

/** The world's answer to something that a person does. */
async function done<T>({ clock }: Simulation, call: Promise<T>): Promise<T> {
  await clock.settle();
  return call;
}

async function peopleAtWork(simulation: Simulation, random: Random): Promise<void> {
  const { clock, user, world } = simulation;
  await simulation.deploy("web", 14, "900m", "1Gi");
  await clock.advance(5000 + random.below(20_000));
  await simulation.deploy("api", 6, "3", "2Gi");
  await clock.advance(3 * MINUTE);
  const ours = world.nodes().filter(({ metadata }) => metadata?.labels?.["karpenter.sh/nodepool"] !== undefined);
  for (const { metadata } of ours.slice(0, 2)) await done(simulation, user.delete(Nodes, { name: metadata!.name! }));
  await clock.advance(20_000 + random.below(60_000));
  const last = (await simulation.nodeClaims()).at(-1);
  if (last !== undefined) await done(simulation, user.delete(NodeClaims, { name: last.metadata!.name! }));
  await simulation.scale("web", 20);
  await clock.advance(8 * MINUTE);
}

async function expectSettled(simulation: Simulation): Promise<void> {
  const { clock, ec2, world } = simulation;
  const isCalm = () => world.pods().length === 26 && simulation.pendingPods().length === 0;
  expect(await clock.runUntil(isCalm, 30 * MINUTE), "all pods run").toBe(true);
  await clock.advance(25 * MINUTE); // longer than every time limit and grace
  const claims = await simulation.nodeClaims();
  const all = ec2.control.instances();
  const ids = all
    .filter(({ instance }) => ["pending", "running"].includes(instance.State.Name))
    .map(({ instance }) => `aws:///${instance.Placement.AvailabilityZone}/${instance.InstanceId}`);
  expect(claims.map(({ status }) => status?.providerID).sort()).toEqual(ids.toSorted());
  expect(
    world
      .nodes()
      .map(({ spec }) => spec?.providerID)
      .sort(),
  ).toEqual(ids.toSorted());
  expect(claims.every(({ status }) => status?.conditions?.some(({ type, status: is }) => type === "Ready" && is === "True"))).toBe(true);
}

test.each(Array.from({ length: SEEDS }, (_, index) => index + 1))("bad weather, seed %i", async (seed) => {
  const random = createRandom(seed).split("weather");
  let isBad = true;
  const simulation = await aSimulation({
    seed,
    onCall: (call, process) => {
      const what = isBad ? fate(call, random) : "passes";
      if (what === "kills") process.kill();
      if (what === "fails") throw new Error(`the network failed ${call.moment} the call`);
    },
  });
  try {
    await peopleAtWork(simulation, random);
    isBad = false;
    await expectSettled(simulation);
  } finally {
    await simulation.stop();
  }
});
