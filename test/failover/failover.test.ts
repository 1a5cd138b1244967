/**
 * kill -9 of the leader in the middle of a launch: the other replica takes over, every pod runs in the end, and no instance is leaked or doubled.
 * Laws 2 and 3 of the house; L-82, W-rules on client tokens; F-rules on two replicas.
 */
import { describe, expect, test } from "vitest";
import type { Call, KillableProcess } from "./killable-process.ts";
import { aSimulation, type Simulation } from "./simulation.ts";

const SEEDS = 50;
const PODS = 24;
const MINUTE = 60_000;

/** Where in a launch the process dies; each seed picks one, and which occurrence of it. */
const MOMENTS: readonly { readonly name: string; matches(call: Call): boolean }[] = [
  { name: "before a NodeClaim is created", matches: (call) => call.moment === "before" && isWrite(call, "POST", /\/nodeclaims$/) },
  { name: "after a NodeClaim was created", matches: (call) => call.moment === "after" && isWrite(call, "POST", /\/nodeclaims$/) },
  {
    name: "before the finalizer is written",
    matches: (call) => call.moment === "before" && isWrite(call, "PATCH", /\/nodeclaims\/[^/]+$/),
  },
  { name: "before CreateFleet", matches: (call) => call.moment === "before" && isEc2(call, "createFleet") },
  { name: "after CreateFleet, before its answer", matches: (call) => call.moment === "after" && isEc2(call, "createFleet") },
  {
    name: "before the launch is written down",
    matches: (call) => call.moment === "before" && isWrite(call, "PATCH", /\/nodeclaims\/[^/]+\/status$/),
  },
  {
    name: "after the launch was written down",
    matches: (call) => call.moment === "after" && isWrite(call, "PATCH", /\/nodeclaims\/[^/]+\/status$/),
  },
  { name: "before a Node is registered", matches: (call) => call.moment === "before" && isWrite(call, "PATCH", /\/nodes\/[^/]+$/) },
];

function isWrite({ what }: Call, method: string, path: RegExp): boolean {
  return what.kind === "api" && what.request.method === method && path.test(what.request.path);
}

function isEc2({ what }: Call, name: string): boolean {
  return what.kind === "ec2" && what.name === name;
}

describe(`kill -9 of the leader in the middle of a launch, ${SEEDS} seeds`, () => {
  test.each(Array.from({ length: SEEDS }, (_, index) => index + 1))("seed %i", async (seed) => {
    const killing = killer(seed);
    const simulation = await aSimulation({ seed, onCall: killing.onCall });
    try {
      await storm(simulation, seed);
      expect(killing.killed, `${killing.moment} never came`).toBe(true);
      expect(simulation.ends.filter((end) => end.endsWith(": killed"))).toHaveLength(1);
      await expectSettled(simulation);
    } finally {
      await simulation.stop();
    }
  });

  test("a seed replays byte for byte", async () => {
    const run = async () => {
      const simulation = await aSimulation({ seed: "replay", onCall: killer(4).onCall });
      await storm(simulation, 4);
      const state = JSON.stringify([
        await simulation.nodeClaims(),
        simulation.ec2.control.instances(),
        simulation.ends,
        simulation.world.pods(),
      ]);
      await simulation.stop();
      return state;
    };
    const first = await run();
    expect(await run()).toBe(first);
    expect(first.length).toBeGreaterThan(10_000);
  });
});

test("SIGTERM of the leader hands the Lease over at once", async () => {
  const simulation = await aSimulation({ seed: 7 });
  await simulation.clock.runUntil(() => simulation.processes.some(({ isLeading }) => isLeading), MINUTE);
  const leader = simulation.processes.find(({ isLeading }) => isLeading);
  const stopped = leader?.stop();
  const began = simulation.clock.monotonicMs();
  await simulation.clock.runUntil(() => simulation.processes.some((process) => process !== leader && process.isLeading), MINUTE);
  await stopped;
  expect(simulation.clock.monotonicMs() - began).toBeLessThanOrEqual(2000);
  await simulation.stop();
});

/** Kills whoever reaches the seed's moment for the n-th time, once. */
function killer(seed: number) {
  const moment = MOMENTS[seed % MOMENTS.length] ?? MOMENTS[0]!;
  let remaining = 1 + (Math.floor(seed / MOMENTS.length) % 3);
  const state = {
    killed: false,
    moment: moment.name,
    onCall(call: Call, process: KillableProcess): void {
      if (state.killed || !moment.matches(call) || --remaining > 0) return;
      state.killed = true;
      process.kill();
    },
  };
  return state;
}

/** Two waves of pods; the kill falls into one of them. */
async function storm({ clock, deploy, scale, pendingPods, world }: Simulation, seed: number): Promise<void> {
  await deploy("web", PODS, "900m", "1500Mi");
  await clock.advance((seed % 5) * 1000);
  await deploy("api", 6, "3", "2Gi");
  await clock.advance(2 * MINUTE);
  await scale("web", PODS + 8);
  const total = PODS + 8 + 6;
  const isCalm = () => world.pods().length === total && pendingPods().length === 0;
  if (!(await clock.runUntil(isCalm, 20 * MINUTE))) {
    throw new Error(`pods pend: ${pendingPods().map(({ metadata, status }) => `${metadata?.name} ${JSON.stringify(status?.conditions)}`)}`);
  }
}

/** Wish and machines agree: each living instance has exactly one NodeClaim, and each NodeClaim its instance and its Node. */
async function expectSettled(simulation: Simulation): Promise<void> {
  const { clock, ec2, world } = simulation;
  await clock.advance(10 * MINUTE); // longer than every grace of the collectors
  const claims = await simulation.nodeClaims();
  const all = ec2.control.instances(); // with those that ended within the last hour: longer than the whole run
  const owners = all.map(({ instance }) => instance.Tags?.find(({ Key }) => Key === "joinery.dev/nodeclaim-uid")?.Value);
  expect(new Set(owners).size, "instances per NodeClaim, ended ones included").toBe(all.length);
  const living = all.filter(({ instance }) => ["pending", "running"].includes(instance.State.Name));
  const ids = living.map(({ instance }) => `aws:///${instance.Placement.AvailabilityZone}/${instance.InstanceId}`).sort();
  expect(claims.map(({ status }) => status?.providerID).sort()).toEqual(ids);
  expect(
    world
      .nodes()
      .map(({ spec }) => spec?.providerID)
      .sort(),
  ).toEqual(ids);
  expect(claims.every(({ status }) => status?.conditions?.some(({ type, status: is }) => type === "Ready" && is === "True"))).toBe(true);
}
