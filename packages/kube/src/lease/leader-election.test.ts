import { type Lease, Leases } from "@joinery/api";
import fc from "fast-check";
import { expect, test } from "vitest";
import { type Clock, sleepOn } from "../clock/clock.ts";
import { createRandom } from "../clock/random.ts";
import { createVirtualClock, type VirtualClock } from "../clock/virtual-clock.ts";
import { createEventRecorder } from "../events/recorder.ts";
import { createKubeClient } from "../kube-client.ts";
import { brokenConnection, createFakeApi, type FakeApi, refusal } from "../testing/fake-api.ts";
import type { Transport } from "../wire/transport.ts";
import { createLeaderElection, type LeaderElectionOptions, type LeadershipEnd } from "./leader-election.ts";

const LEASE = "/apis/coordination.k8s.io/v1/namespaces/karpenter/leases/karpenter-leader-election";
const START_MS = Date.UTC(2026, 11, 1);

interface Machine {
  readonly clock: Clock;
  readonly transport: Transport;
  /** A frozen process runs nothing: its timers and the answers to its requests wait. */
  freeze(): void;
  thaw(): void;
  link: "up" | "down" | "answers-lost";
  readonly isFrozen: boolean;
}

/** A process with a clock of its own (skewed, running fast or slow) and a connection of its own. */
function aMachine(world: VirtualClock, api: FakeApi, { rate = 1, skewMs = 0 } = {}): Machine {
  let frozen: Promise<void> | undefined;
  let thaw = () => {};
  const after: Clock["after"] = (ms, action) => {
    let isCancelled = false;
    const cancel = world.after(ms / rate, () => {
      if (frozen === undefined) action();
      else void frozen.then(() => isCancelled || action());
    });
    return () => {
      isCancelled = true;
      cancel();
    };
  };
  const machine: Machine = {
    clock: {
      wallMs: () => world.wallMs() + skewMs,
      monotonicMs: () => world.monotonicMs() * rate,
      after,
      sleep: (ms, signal) => sleepOn(after, ms, signal),
    },
    link: "up",
    get isFrozen() {
      return frozen !== undefined;
    },
    freeze() {
      frozen ??= new Promise((resolve) => {
        thaw = resolve;
      });
    },
    thaw() {
      frozen = undefined;
      thaw();
    },
    transport: {
      async send(request, signal) {
        const leave = () => (machine.link === "down" ? Promise.reject(brokenConnection()) : undefined);
        await world.sleep(20, signal);
        await leave();
        const response = await api.transport.send(request, signal);
        await world.sleep(20, signal);
        while (frozen !== undefined) await frozen;
        if (machine.link !== "up") throw brokenConnection();
        return response;
      },
      async stream(request, signal) {
        if (machine.link !== "up") throw brokenConnection();
        const { values, ...head } = await api.transport.stream(request, signal);
        return {
          ...head,
          values: (async function* () {
            for await (const value of values) {
              while (frozen !== undefined) await frozen;
              if (machine.link !== "up") throw brokenConnection();
              yield value;
            }
          })(),
        };
      },
      close: async () => {},
    },
  };
  return machine;
}

function aCandidate(
  world: VirtualClock,
  api: FakeApi,
  identity: string,
  options: Partial<LeaderElectionOptions> & { rate?: number; skewMs?: number } = {},
) {
  const machine = aMachine(world, api, options);
  const client = createKubeClient(machine.transport);
  const election = createLeaderElection({
    client,
    clock: machine.clock,
    random: createRandom(identity),
    identity,
    namespace: "karpenter",
    ...options,
  });
  const stop = new AbortController();
  const spans: { fromMs: number; toMs?: number }[] = [];
  const ends: LeadershipEnd[] = [];
  let signal: AbortSignal | undefined;
  /** As a controller acts: until the signal aborts, then it needs a moment to end. */
  const lead = async (leadership: AbortSignal) => {
    signal = leadership;
    spans.push({ fromMs: world.monotonicMs() });
    await new Promise<void>((resolve) => {
      if (leadership.aborted) resolve();
      else leadership.addEventListener("abort", () => resolve(), { once: true });
    });
    spans.at(-1)!.toMs = world.monotonicMs();
    await machine.clock.sleep(300);
  };
  return {
    machine,
    election,
    spans,
    ends,
    stop: () => stop.abort(),
    start: async () => void ends.push(await election.run(lead, stop.signal)),
    /** Whether the process could act at this instant. */
    isActing: () => !machine.isFrozen && election.isLeader(),
    signal: () => signal,
  };
}

function aWorld() {
  const world = createVirtualClock({ startMs: START_MS });
  const api = createFakeApi();
  const lease = () => api.objects(LEASE.slice(0, LEASE.lastIndexOf("/")))[0] as Lease | undefined;
  return { world, api, lease };
}

test("O-73, O-74: the first one takes the Lease and renews it every two seconds", async () => {
  const { world, api, lease } = aWorld();
  const a = aCandidate(world, api, "a");
  void a.start();
  await world.advance(1000);
  expect(a.isActing()).toBe(true);
  expect(lease()?.spec).toEqual({
    holderIdentity: "a",
    leaseDurationSeconds: 15,
    acquireTime: "2026-12-01T00:00:00.040000Z",
    renewTime: "2026-12-01T00:00:00.040000Z",
    leaseTransitions: 0,
  });
  await world.advance(60_000);
  const renewals = api.requests.filter(({ method }) => method === "PUT").length;
  expect(renewals).toBeGreaterThan(27);
  expect(renewals).toBeLessThan(31);
  expect(lease()?.spec).toMatchObject({ acquireTime: "2026-12-01T00:00:00.040000Z", leaseTransitions: 0 });
});

test("O-83: a clean stop hands the Lease over at once, after the work has ended", async () => {
  const { world, api, lease } = aWorld();
  const a = aCandidate(world, api, "a");
  const b = aCandidate(world, api, "b");
  void a.start();
  await world.advance(1000);
  void b.start();
  await world.advance(30_000);
  expect([a.isActing(), b.isActing(), b.election.leader]).toEqual([true, false, "a"]);
  const stoppedAtMs = world.monotonicMs();
  a.stop();
  await world.advance(200);
  expect([a.election.isLeader(), b.election.isLeader(), lease()?.spec?.holderIdentity]).toEqual([false, false, "a"]);
  await world.advance(1000);
  expect(a.ends).toEqual(["stopped"]);
  expect(b.spans[0]!.fromMs - stoppedAtMs).toBeLessThan(600);
  expect(lease()?.spec).toMatchObject({ holderIdentity: "b", leaseTransitions: 1 });
});

test("O-80: after a crash the standby takes over when the lease has run out, not before", async () => {
  const { world, api } = aWorld();
  const a = aCandidate(world, api, "a", { skewMs: 3_600_000 });
  const b = aCandidate(world, api, "b", { skewMs: -3_600_000 });
  void a.start();
  await world.advance(1000);
  void b.start();
  await world.advance(20_000);
  const crashedAtMs = world.monotonicMs();
  a.machine.freeze();
  await world.runUntil(() => b.isActing(), 60_000);
  expect(world.monotonicMs() - crashedAtMs).toBeGreaterThan(13_000);
  expect(world.monotonicMs() - crashedAtMs).toBeLessThan(17_500);
});

test("O-78: without renewals the leader stops at the deadline, five seconds before another can start", async () => {
  const { world, api } = aWorld();
  const a = aCandidate(world, api, "a");
  const b = aCandidate(world, api, "b");
  void a.start();
  await world.advance(1000);
  void b.start();
  await world.advance(20_000);
  a.machine.link = "down";
  const cutAtMs = world.monotonicMs();
  await world.runUntil(() => !a.election.isLeader(), 60_000);
  const lostAfterMs = world.monotonicMs() - cutAtMs;
  expect(lostAfterMs).toBeGreaterThan(7_900);
  expect(lostAfterMs).toBeLessThanOrEqual(10_000);
  expect(a.signal()?.aborted).toBe(true);
  await world.runUntil(() => b.isActing(), 60_000);
  expect(world.monotonicMs() - cutAtMs - lostAfterMs).toBeGreaterThanOrEqual(5000);
  expect(a.ends).toEqual(["lost"]);
});

test("a process that was frozen past its deadline is no leader when it wakes, even before its timers have run", async () => {
  const { world, api } = aWorld();
  const a = aCandidate(world, api, "a");
  void a.start();
  await world.advance(1000);
  a.machine.freeze();
  await world.advance(30_000);
  a.machine.thaw();
  expect(a.election.isLeader()).toBe(false);
  await world.advance(1000);
  expect(a.ends).toEqual(["lost"]);
});

test("an answer that got lost: the leader finds its own name in the Lease and goes on", async () => {
  const { world, api } = aWorld();
  const a = aCandidate(world, api, "a");
  void a.start();
  await world.advance(1000);
  a.machine.link = "answers-lost";
  await world.advance(5000);
  a.machine.link = "up";
  await world.advance(20_000);
  expect(a.isActing()).toBe(true);
  expect(a.ends).toEqual([]);
});

test("a Lease that says another name ends leadership at once", async () => {
  const { world, api, lease } = aWorld();
  const a = aCandidate(world, api, "a");
  void a.start();
  await world.advance(1000);
  api.put(LEASE, { ...lease()!, spec: { ...lease()?.spec, holderIdentity: "someone" } } as Lease);
  await world.advance(3000);
  expect(a.ends).toEqual(["lost"]);
});

test("a Lease that is deleted is made again by its holder, and no standby that knew the holder takes it meanwhile", async () => {
  const { world, api, lease } = aWorld();
  const a = aCandidate(world, api, "a");
  const b = aCandidate(world, api, "b");
  void a.start();
  await world.advance(1000);
  void b.start();
  await world.advance(10_000);
  api.remove(LEASE);
  await world.advance(10_000);
  expect([a.isActing(), b.isActing(), lease()?.spec?.holderIdentity]).toEqual([true, false, "a"]);
});

test("a standby whose watch is silent still sees renewals, and still takes over", async () => {
  const { world, api } = aWorld();
  api.faults.before = ({ query }) => (query?.watch ? refusal(403, "Forbidden", "no watch") : undefined);
  const a = aCandidate(world, api, "a");
  const b = aCandidate(world, api, "b");
  void a.start();
  await world.advance(1000);
  void b.start();
  await world.advance(60_000);
  expect([a.isActing(), b.isActing()]).toEqual([true, false]);
  a.stop();
  await world.advance(6000);
  expect(b.isActing()).toBe(true);
});

test("with its watch a standby hardly asks", async () => {
  const { world, api } = aWorld();
  const a = aCandidate(world, api, "a");
  void a.start();
  await world.advance(1000);
  const b = aCandidate(world, api, "b");
  void b.start();
  await world.advance(10_000);
  const count = () => api.requests.filter(({ method }) => method === "GET").length;
  const before = count();
  await world.advance(120_000);
  expect(count() - before).toBeLessThanOrEqual(1);
});

test("work that ends by itself gives the Lease back; work that throws does, too", async () => {
  const { world, api, lease } = aWorld();
  const { machine } = aCandidate(world, api, "a");
  const election = createLeaderElection({
    client: createKubeClient(machine.transport),
    clock: machine.clock,
    random: createRandom(1),
    identity: "a",
    namespace: "karpenter",
  });
  const finished = election.run(async () => {}, new AbortController().signal);
  await world.advance(1000);
  expect(await finished).toBe("finished");
  expect(lease()?.spec?.holderIdentity).toBe("");
  const thrown = election.run(() => Promise.reject(new Error("broken")), new AbortController().signal);
  thrown.catch(() => {});
  await world.advance(1000);
  await expect(thrown).rejects.toThrow("broken");
  expect(lease()?.spec?.holderIdentity).toBe("");
  expect(await election.run(async () => {}, AbortSignal.abort())).toBe("stopped");
});

test("O-75: an Event on the Lease says who became leader", async () => {
  const { world, api } = aWorld();
  const client = createKubeClient(api.transport);
  const recorder = createEventRecorder({ client, clock: world, random: createRandom(1) });
  const leaders: string[] = [];
  const a = aCandidate(world, api, "a", { recorder, onNewLeader: (leader) => void leaders.push(leader) });
  void a.start();
  await world.advance(1000);
  expect(api.objects("/api/v1/namespaces/karpenter/events")[0]).toMatchObject({
    reason: "LeaderElection",
    type: "Normal",
    message: "a became leader",
    involvedObject: { apiVersion: "coordination.k8s.io/v1", kind: "Lease", name: "karpenter-leader-election" },
  });
  expect(leaders).toEqual(["a"]);
});

test("a namespace that is not there is told, not waited for in silence", async () => {
  const { world, api } = aWorld();
  api.faults.before = ({ method }) => (method === "POST" ? refusal(404, "NotFound", 'namespaces "karpenter" not found') : undefined);
  const errors: string[] = [];
  const a = aCandidate(world, api, "a", { onError: (error) => void errors.push(String(error)) });
  void a.start();
  await world.advance(10_000);
  expect(errors.length).toBeGreaterThan(1);
  expect(errors[0]).toContain('namespaces "karpenter" not found');
});

test("spans that cannot be safe are refused", () => {
  const { world, api } = aWorld();
  const make = (options: Partial<LeaderElectionOptions>) => () => aCandidate(world, api, "a", options);
  expect(make({ leaseMs: 10_000 })).toThrow("wanted lease > deadline");
  expect(make({ retryMs: 9000 })).toThrow("wanted lease > deadline");
  expect(Leases.resource).toBe("leases");
});

test("two never act at once, whatever freezes, breaks or loses answers; and in calm one acts", async () => {
  const step = fc.record({
    who: fc.integer({ min: 0, max: 1 }),
    act: fc.constantFrom("freeze", "thaw", "down", "lose-answers", "up", "drop-watches", "stop", "wait", "wait"),
    forMs: fc.constantFrom(0, 100, 1500, 4000, 9000, 14_000, 20_000),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 40 }), fc.integer({ min: 0, max: 1000 }), async (script, seed) => {
      const { world, api } = aWorld();
      const rates = [0.95 + (seed % 11) / 100, 0.95 + (seed % 7) / 60];
      const lives: ReturnType<typeof aCandidate>[] = [];
      const all: ReturnType<typeof aCandidate>[] = [];
      let count = 0;
      // When a life ends (stopped or lost), its pod starts again under a new name.
      const begin = (who: number) => {
        const life = aCandidate(world, api, `${who}-${count++}-${seed}`, { rate: rates[who], skewMs: who * 7_200_000 - seed * 1000 });
        lives[who] = life;
        all.push(life);
        void life.start().then(() => world.after(500, () => begin(who)));
      };
      begin(0);
      begin(1);
      const check = () => expect(all.filter((life) => life.isActing()).length).toBeLessThanOrEqual(1);
      const pass = async (ms: number) => {
        await world.runUntil(() => {
          check();
          return false;
        }, ms);
      };
      for (const { who, act, forMs } of script) {
        const life = lives[who]!;
        if (act === "freeze") life.machine.freeze();
        else if (act === "thaw") life.machine.thaw();
        else if (act === "down") life.machine.link = "down";
        else if (act === "lose-answers") life.machine.link = "answers-lost";
        else if (act === "up") life.machine.link = "up";
        else if (act === "drop-watches") api.dropWatches(brokenConnection());
        else if (act === "stop") life.stop();
        check();
        await pass(forMs);
      }
      for (const life of lives) {
        life.machine.link = "up";
        life.machine.thaw();
      }
      check();
      await pass(60_000);
      expect(lives.filter((life) => life.isActing())).toHaveLength(1);
      for (const life of all) life.stop();
    }),
    { numRuns: 100 },
  );
});
