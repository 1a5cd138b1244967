import type { Lease } from "@joinery/api";
import { expect, test } from "vitest";
import { createRandom } from "../clock/random.ts";
import { createVirtualClock } from "../clock/virtual-clock.ts";
import { createKubeClient } from "../kube-client.ts";
import { createFakeApi, refusal } from "../testing/fake-api.ts";
import { createForeignLeases, type ForeignLease } from "./foreign-leases.ts";

const leaseIn = (namespace: string, name = "karpenter-leader-election") =>
  `/apis/coordination.k8s.io/v1/namespaces/${namespace}/leases/${name}`;
/** A Lease; `renewal` makes it another than before. */
const heldBy = (holderIdentity: string, renewal = 0): Lease => ({
  metadata: {},
  spec: { holderIdentity, leaseDurationSeconds: 15, leaseTransitions: renewal },
});

function watchForeign() {
  const clock = createVirtualClock({ startMs: 0 });
  const api = createFakeApi();
  const changes: (ForeignLease | undefined)[] = [];
  const errors: unknown[] = [];
  const refusals: unknown[] = [];
  const stop = new AbortController();
  const leases = createForeignLeases({
    client: createKubeClient(api.transport, { userAgent: "test" }),
    clock,
    random: createRandom(1),
    name: "karpenter-leader-election",
    namespace: "karpenter",
    leaseMs: 15_000,
    onError: (error) => errors.push(error),
    onForbidden: (error) => refusals.push(error),
  });
  leases.onChange(() => changes.push(leases.held));
  const start = () => void leases.run(stop.signal);
  return { clock, api, changes, errors, refusals, leases, start, stop };
}

test("a Lease of the name in another namespace is held while it is renewed, and for its duration after that", async () => {
  const { clock, api, leases, start } = watchForeign();
  api.put(leaseIn("kube-system"), heldBy("karpenter-1"));
  start();
  await clock.advance(0);
  const other = { namespace: "kube-system", holder: "karpenter-1" };
  expect(leases.held).toEqual(other);
  for (let renewal = 1; renewal <= 20; renewal++) {
    await clock.advance(2000);
    api.put(leaseIn("kube-system"), heldBy("karpenter-1", renewal));
  }
  await clock.advance(14_900);
  expect(leases.held).toEqual(other);
  await clock.advance(200);
  expect(leases.held).toBeUndefined();
});

test.each([
  { what: "our own namespace", path: leaseIn("karpenter"), lease: heldBy("us") },
  { what: "another name", path: leaseIn("kube-system", "kube-scheduler"), lease: heldBy("scheduler") },
  { what: "nobody holds it", path: leaseIn("kube-system"), lease: heldBy("") },
])("not foreign: $what", async ({ path, lease }) => {
  const { clock, api, leases, changes, start } = watchForeign();
  api.put(path, lease);
  start();
  await clock.advance(1000);
  api.put(path, lease);
  await clock.advance(1000);
  expect(leases.held).toBeUndefined();
  expect(changes).toEqual([]);
});

test("it is told when one appears, when the next takes its place, and when all are given back", async () => {
  const { clock, api, changes, start } = watchForeign();
  start();
  await clock.advance(1000);
  api.put(leaseIn("b"), heldBy("two"));
  await clock.advance(1000);
  api.put(leaseIn("a"), heldBy("one"));
  await clock.advance(1000);
  api.put(leaseIn("a"), heldBy(""));
  await clock.advance(1000);
  api.put(leaseIn("b"), heldBy(""));
  await clock.advance(1000);
  const [one, two] = [
    { namespace: "a", holder: "one" },
    { namespace: "b", holder: "two" },
  ];
  expect(changes).toEqual([two, one, two, undefined]);
});

test("a Lease that is deleted is held until its time is over: its holder may not know", async () => {
  const { clock, api, leases, start } = watchForeign();
  api.put(leaseIn("kube-system"), heldBy("karpenter-1"));
  start();
  await clock.advance(1000);
  api.remove(leaseIn("kube-system"));
  await clock.advance(13_000);
  expect(leases.held).toBeDefined();
  await clock.advance(2000);
  expect(leases.held).toBeUndefined();
});

test("a watch that hangs does not make a Lease look abandoned", async () => {
  const { clock, api, leases, start } = watchForeign();
  api.put(leaseIn("kube-system"), heldBy("karpenter-1"));
  const { stream } = api.transport;
  Object.assign(api.transport, { stream: async () => ({ status: 200, values: silence() }) });
  start();
  for (let renewal = 1; renewal <= 20; renewal++) {
    await clock.advance(2000);
    api.put(leaseIn("kube-system"), heldBy("karpenter-1", renewal));
  }
  expect(leases.held).toBeDefined();
  Object.assign(api.transport, { stream });
});

test("while the API server does not answer, what was held stays held", async () => {
  const { clock, api, leases, errors, start } = watchForeign();
  api.put(leaseIn("kube-system"), heldBy("karpenter-1"));
  start();
  await clock.advance(1000);
  api.faults.before = () => refusal(500, "InternalError", "etcd is away");
  await clock.advance(60_000);
  expect(leases.held).toBeDefined();
  expect(errors.length).toBeGreaterThan(0);
  api.faults.before = undefined;
  await clock.advance(3000);
  expect(leases.held).toBeUndefined();
});

test("where the role may not look, it is known that nothing can be known, and it is tried again seldom", async () => {
  const { clock, api, leases, refusals, start, stop } = watchForeign();
  api.put(leaseIn("kube-system"), heldBy("karpenter-1"));
  api.faults.before = () => refusal(403, "Forbidden", "may not list leases");
  start();
  let isKnown = false;
  void leases.whenLooked(stop.signal).then(() => {
    isKnown = true;
  });
  await clock.advance(500_000);
  expect(isKnown).toBe(true);
  expect(leases.held).toBeUndefined();
  expect(refusals).toHaveLength(1);
  api.faults.before = undefined;
  await clock.advance(100_000);
  expect(leases.held).toEqual({ namespace: "kube-system", holder: "karpenter-1" });
});

test("nothing is known before the first look", async () => {
  const { clock, api, leases, start, stop } = watchForeign();
  api.faults.before = () => refusal(500, "InternalError", "etcd is away");
  start();
  let isKnown = false;
  void leases.whenLooked(stop.signal).then(() => {
    isKnown = true;
  });
  await clock.advance(60_000);
  expect(isKnown).toBe(false);
  api.faults.before = undefined;
  await clock.advance(60_000);
  expect(isKnown).toBe(true);
});

function silence(): AsyncIterable<unknown> {
  return { [Symbol.asyncIterator]: () => ({ next: () => new Promise<IteratorResult<unknown>>(() => {}) }) };
}
