/** What a controller does while something that it needs is away: it stays alive, is not ready, says what it waits for, and goes on. O-67, F-197. */
import { TransportError } from "@joinery/kube";
import { expect, test } from "vitest";
import { claimCondition } from "./state/conditions.ts";
import { recordingLog } from "./testing/recording-log.ts";
import { createWorld, putPendingPod, putPool, type World } from "./testing/world.ts";

const ready = (world: World) =>
  world.until("Ready", () => world.claims().some((claim) => claimCondition(claim, "Ready").status === "True"));

/** A world whose API server is away until `come` is called. */
function awayWorld(why: string) {
  const world = createWorld();
  let isAway = true;
  const { transport } = world.api;
  const passing = <T>(call: () => Promise<T>): Promise<T> => (isAway ? Promise.reject(new TransportError("unreachable", why)) : call());
  const wired: typeof transport = {
    send: (request, signal) => passing(() => transport.send(request, signal)),
    stream: (request, signal) => passing(() => transport.stream(request, signal)),
    close: async () => {},
  };
  return { world, wired, set: (away: boolean) => (isAway = away) };
}

test.each([{ election: undefined }, { election: { namespace: "karpenter", identity: "us" } }])(
  "O-63, O-67: DNS or API server away at the start (election: $election)",
  async ({ election: leaderElection }) => {
    const { world, wired, set } = awayWorld("getaddrinfo ENOTFOUND kubernetes.default.svc");
    putPool(world);
    putPendingPod(world, "a");
    const { log, lines } = recordingLog();
    const { controller } = world.start({ transport: wired, log, leaderElection });
    await world.clock.advance(600_000);
    expect([controller.isHealthy, controller.isReady]).toEqual([true, false]);
    expect(controller.waitsFor).toBe("the API server: getaddrinfo ENOTFOUND kubernetes.default.svc");
    const waits = lines.filter(({ level }) => level === "error");
    expect(new Set(waits.map(({ message }) => message))).toEqual(new Set(["waiting for the API server"]));
    expect(waits.length).toBeGreaterThan(5);
    expect(waits.length).toBeLessThanOrEqual(20);
    set(false);
    await ready(world);
    expect(lines.map(({ message }) => message)).toContain("the API server answers again");
    expect(controller.waitsFor).toBeUndefined();
  },
);

test("an API server that goes away later: the replica stays ready, and goes on when it is back", async () => {
  const { world, wired, set } = awayWorld("connect ECONNREFUSED 10.0.0.1:443");
  set(false);
  putPool(world);
  const { controller } = world.start({ transport: wired });
  await world.until("leading", () => controller.state === "leading");
  set(true);
  putPendingPod(world, "a");
  await world.clock.advance(120_000);
  expect([controller.isHealthy, controller.isReady, world.claims().length]).toEqual([true, true, 0]);
  set(false);
  await ready(world);
});

test("O-69: a missing definition is named, and waited for", async () => {
  const world = createWorld();
  let isInstalled = false;
  world.api.faults.before = ({ path }) =>
    !isInstalled && path === "/apis/karpenter.sh/v1/nodepools" ? { status: 404, body: "404 page not found" } : undefined;
  const { log, lines } = recordingLog();
  const { controller } = world.start({ log });
  await world.clock.advance(60_000);
  const error = "nodepools.karpenter.sh v1 is not served: its CustomResourceDefinition is missing or has another version";
  expect(controller.waitsFor).toBe(`the caches of NodePool (${error})`);
  expect(lines).toContainEqual({ level: "error", message: "cannot watch, trying again", kind: "NodePool", error });
  isInstalled = true;
  putPool(world);
  putPendingPod(world, "a");
  await ready(world);
});

test("O-64, O-65, O-67: a cloud that is away when the term begins is asked again; nothing is planned before", async () => {
  const world = createWorld();
  putPool(world);
  putPendingPod(world, "a");
  const { factory } = world.cloud;
  let isAway = true;
  const { log, lines } = recordingLog();
  const { controller } = world.start({
    log,
    provider: {
      ...factory,
      async create(context) {
        if (isAway) throw new Error("getaddrinfo ENOTFOUND ec2.eu-west-1.amazonaws.com");
        return factory.create(context);
      },
    },
  });
  await world.clock.advance(100_000);
  expect([controller.state, controller.isHealthy, controller.isReady]).toEqual(["leading", true, false]);
  expect(controller.waitsFor).toBe("the cloud provider: getaddrinfo ENOTFOUND ec2.eu-west-1.amazonaws.com");
  expect(lines.filter(({ message }) => message === "waiting for the cloud provider")).toHaveLength(2);
  isAway = false;
  await ready(world);
  expect(controller.waitsFor).toBeUndefined();
});

test("a replica that waits is stopped at once", async () => {
  const { world, wired } = awayWorld("away");
  const { controller, kill } = world.start({ transport: wired, leaderElection: { namespace: "karpenter", identity: "us" } });
  await world.clock.advance(30_000);
  const stoppedAtMs = world.clock.monotonicMs();
  await kill();
  expect(world.clock.monotonicMs() - stoppedAtMs).toBe(0);
  expect(controller.waitsFor).toBe("its end: it has stopped");
});
