/** However calls fail, answers are lost and processes are replaced: at most one instance per NodeClaim, and in the end exactly one. */
import type { NodeClaim } from "@joinery/api";
import type { AwsProvider } from "@joinery/aws";
import { createRandom } from "@joinery/kube";
import fc from "fast-check";
import { expect, test } from "vitest";
import { type AwsWorld, aClaim, aReadyWorld } from "./aws-world.test-support.ts";

const BACKOFF_MS = 7_000;
const TRIES_MAX = 300;

/** As core does it: again after a while until launched; now and then by a new process. */
async function launchStubbornly(world: AwsWorld, claim: NodeClaim, crashChance: number, seed: number): Promise<string> {
  const random = createRandom(`crash/${seed}/${claim.metadata?.uid}`);
  let provider: AwsProvider = world.provider;
  for (let attempt = 0; attempt < TRIES_MAX; attempt++) {
    if (random.fraction() < crashChance) provider = await world.makeProvider();
    const outcome = await world.finish(provider.launch(claim)).catch(() => undefined);
    const isCrashed = random.fraction() < crashChance;
    // A crash after the launch, before anyone wrote it down.
    if (isCrashed) provider = await world.makeProvider();
    else if (outcome?.kind === "launched") return outcome.instance.providerId;
    else if (outcome !== undefined && outcome.kind !== "failed") throw new Error(JSON.stringify(outcome));
    await world.clock.advance(BACKOFF_MS);
  }
  throw new Error("not launched");
}

test("lost replies, errors and crashes never double a launch", async () => {
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 1, max: 1_000_000 }), async (seed) => {
      const world = await aReadyWorld({ seed, timing: { lagMs: [0, 15_000] } });
      try {
        world.ec2.control.setWeather({ lostReplyChance: 0.12, errorChance: 0.05, throttleChance: 0.05 });
        const claims = Array.from({ length: 3 }, (_, index) => aClaim({ uid: `uid-${seed}-0000${index}` }));
        const launched: string[] = [];
        for (const claim of claims) launched.push(await launchStubbornly(world, claim, 0.25, seed));
        const actual = world.ec2.control.instances().map(({ instance, pool }) => `aws:///${pool.zone}/${instance.InstanceId}`);
        expect(actual.sort()).toEqual(launched.sort());
      } finally {
        world.stop();
      }
    }),
    { numRuns: 20 },
  );
});

test("a restarted process that would ask for something else finds the instance of the first", async () => {
  const world = await aReadyWorld({ timing: { lagMs: [20_000, 20_000] } });
  world.ec2.control.script("createFleet", { code: "NetworkingError", fault: "network", afterEffect: true });
  await expect(world.finish(world.provider.launch(aClaim()))).rejects.toThrow("NetworkingError");
  const successor = await world.makeProvider();
  world.ec2.control.setSpotPrice("m5.large", "us-east-1a", 0.001);
  const early = await world.finish(successor.launch(aClaim()));
  expect(early).toMatchObject({ kind: "failed", message: expect.stringContaining("not visible yet") });
  await world.clock.advance(20_000);
  expect((await world.finish(successor.launch(aClaim()))).kind).toBe("launched");
  expect(world.ec2.control.instances()).toHaveLength(1);
  world.stop();
});

test("a fleet that came back empty does not block the NodeClaim: the next try has a token of its own", async () => {
  const world = await aReadyWorld();
  const { profiles } = world.ec2.control;
  const [profile] = profiles.list("/");
  const name = profile?.InstanceProfileName ?? "";
  profiles.dropRole(name);
  profiles.delete(name);
  expect(await world.finish(world.provider.launch(aClaim()))).toMatchObject({ kind: "failed", reason: "InstanceProfileNameInvalid" });
  profiles.create(name, profile?.Path ?? "/");
  expect((await world.finish(world.provider.launch(aClaim()))).kind).toBe("launched");
  world.stop();
});

test("the same seed gives the same instances", async () => {
  const run = async () => {
    const world = await aReadyWorld({ seed: 42, weather: { lostReplyChance: 0.2, errorChance: 0.1 } });
    await launchStubbornly(world, aClaim(), 0.3, 42);
    world.stop();
    return JSON.stringify(world.ec2.control.instances());
  };
  expect(await run()).toBe(await run());
});
