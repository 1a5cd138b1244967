import { type KubeEvent, Nodes } from "@joinery/api";
import { expect, test } from "vitest";
import { createRandom } from "../clock/random.ts";
import { createVirtualClock } from "../clock/virtual-clock.ts";
import { createKubeClient } from "../kube-client.ts";
import { brokenConnection, createFakeApi, refusal } from "../testing/fake-api.ts";
import { createEventRecorder, type EventRecorderOptions, type EventToRecord, referenceTo } from "./recorder.ts";

const MINUTE_MS = 60_000;

function aWorld(options: Partial<EventRecorderOptions> = {}) {
  const clock = createVirtualClock({ startMs: Date.UTC(2026, 11, 1) });
  const api = createFakeApi();
  const errors: unknown[] = [];
  const recorder = createEventRecorder({
    client: createKubeClient(api.transport),
    clock,
    random: createRandom("events"),
    onError: (error) => void errors.push(error),
    ...options,
  });
  const events = (namespace = "default") => api.objects(`/api/v1/namespaces/${namespace}/events`) as KubeEvent[];
  return { clock, api, recorder, events, errors };
}

function anEvent(change: Partial<EventToRecord> & { name?: string; uid?: string } = {}): EventToRecord {
  const { name = "n", uid = "u", ...rest } = change;
  return { subject: referenceTo(Nodes, { metadata: { name, uid } }), type: "Normal", reason: "Launched", message: "it is there", ...rest };
}

test("O-242: an event as kubectl describe reads it; cluster-scoped subjects speak in default", async () => {
  const { clock, recorder, events } = aWorld({ instance: "host-1" });
  recorder.publish(anEvent());
  recorder.publish(
    anEvent({ subject: { apiVersion: "v1", kind: "Pod", name: "p", namespace: "team", uid: "p" }, type: "Warning", reason: "Stuck" }),
  );
  await clock.settle();
  expect(events()[0]).toMatchObject({
    involvedObject: { apiVersion: "v1", kind: "Node", name: "n", uid: "u" },
    reason: "Launched",
    message: "it is there",
    type: "Normal",
    count: 1,
    firstTimestamp: "2026-12-01T00:00:00Z",
    lastTimestamp: "2026-12-01T00:00:00Z",
    source: { component: "karpenter", host: "host-1" },
    reportingComponent: "karpenter",
    reportingInstance: "host-1",
  });
  expect(events()[0]?.metadata?.name).toMatch(/^n\.[0-9a-f]{16}$/);
  expect(events("team")[0]).toMatchObject({ reason: "Stuck", type: "Warning" });
});

test("L-21, O-243: within the window an event with equal values is dropped, whatever its message", async () => {
  const { clock, recorder, events } = aWorld();
  recorder.publish(anEvent());
  recorder.publish(anEvent({ message: "another text" }));
  recorder.publish(anEvent({ reason: "LAUNCHED" }));
  recorder.publish(anEvent({ uid: "other", name: "m" }));
  await clock.advance(2 * MINUTE_MS - 1);
  recorder.publish(anEvent());
  await clock.settle();
  expect(events().map(({ count }) => count)).toEqual([1, 1]);
  await clock.advance(1);
  recorder.publish(anEvent());
  await clock.settle();
  expect(events().map(({ count }) => count)).toEqual([2, 1]);
});

test("L-21: an event may bring a window and values of its own, or none", async () => {
  const { clock, recorder, events } = aWorld();
  const say = (dedupeValues: readonly string[]) => recorder.publish(anEvent({ dedupeValues, dedupeMs: 15 * MINUTE_MS }));
  say(["a", "b"]);
  await clock.advance(14 * MINUTE_MS);
  say(["a", "b"]);
  await clock.settle();
  expect(events()[0]?.count).toBe(1);
  await clock.advance(MINUTE_MS);
  say(["a", "b"]);
  say([]);
  say([]);
  await clock.settle();
  expect(events()[0]?.count).toBe(4);
});

test("O-245, O-244: Nominated is limited over all pods, and what is refused stays muted", async () => {
  const { clock, recorder, events } = aWorld();
  const nominate = () => {
    for (let n = 0; n < 30; n++) recorder.publish(anEvent({ reason: "Nominated", bucket: "Nominated", name: `p${n}`, uid: `p${n}` }));
  };
  nominate();
  await clock.advance(10_000);
  nominate();
  await clock.settle();
  expect(events()).toHaveLength(10);
});

test("O-244, O-245, V-94: each bucket has its own tokens; what is said again takes none, and who shares none is not limited", async () => {
  const { clock, recorder, events } = aWorld();
  const say = (reason: string, bucket: string | undefined, name: string) => recorder.publish(anEvent({ reason, bucket, name, uid: name }));
  for (let n = 0; n < 9; n++) say("InsufficientCapacityError", "InsufficientCapacityError", "p0");
  for (let n = 0; n < 20; n++) say("InsufficientCapacityError", "InsufficientCapacityError", `p${n}`);
  for (let n = 0; n < 20; n++) say("Nominated", "Nominated", `p${n}`);
  for (let n = 0; n < 20; n++) say("InsufficientCapacityError", undefined, `claim${n}`);
  await clock.settle();
  const count = (reason: string, prefix: string) =>
    events().filter(({ involvedObject, ...event }) => event.reason === reason && involvedObject.name?.startsWith(prefix)).length;
  expect([count("InsufficientCapacityError", "p"), count("Nominated", "p"), count("InsufficientCapacityError", "claim")]).toEqual([
    10, 10, 20,
  ]);
});

test("O-247: what was said is remembered in the process alone", async () => {
  const { clock, api, recorder, events } = aWorld();
  recorder.publish(anEvent());
  await clock.settle();
  const successor = createEventRecorder({ client: createKubeClient(api.transport), clock, random: createRandom("another") });
  successor.publish(anEvent());
  await clock.settle();
  expect(events()).toHaveLength(2);
});

test("O-246: many messages of one kind become one; a subject that talks without end is cut off", async () => {
  const { clock, recorder, events } = aWorld();
  for (let n = 0; n < 40; n++) recorder.publish(anEvent({ message: `text ${n}`, dedupeValues: [] }));
  await clock.settle();
  const messages = events().map(({ message, count }) => `${message} x${count}`);
  expect(messages).toHaveLength(11);
  expect(messages.at(-1)).toBe("(combined from similar events): text 24 x15");
  await clock.advance(5 * MINUTE_MS);
  recorder.publish(anEvent({ message: "text 99", dedupeValues: [] }));
  await clock.settle();
  expect(events().at(-1)).toMatchObject({
    message: "(combined from similar events): text 99",
    count: 16,
    firstTimestamp: "2026-12-01T00:00:00Z",
    lastTimestamp: "2026-12-01T00:05:00Z",
  });
});

test("an event that the server has forgotten is made anew", async () => {
  const { clock, api, recorder, events } = aWorld();
  recorder.publish(anEvent());
  await clock.settle();
  api.remove(`/api/v1/namespaces/default/events/${events()[0]?.metadata?.name}`);
  await clock.advance(3 * MINUTE_MS);
  recorder.publish(anEvent());
  await clock.settle();
  expect(events().map(({ count }) => count)).toEqual([2]);
});

test("an unreachable server is tried again, a refusal is not, and neither reaches the caller", async () => {
  const { clock, api, recorder, events, errors } = aWorld();
  api.faults.before = () => {
    throw brokenConnection();
  };
  recorder.publish(anEvent());
  await clock.advance(30_000);
  expect(errors).toEqual([]);
  api.faults.before = () => refusal(403, "Forbidden", "the namespace is terminating");
  const flushed = recorder.flush();
  await clock.advance(30_000);
  await flushed;
  expect(errors.map(String)).toEqual(["ApiError: the namespace is terminating"]);
  api.faults.before = () => {
    throw brokenConnection();
  };
  for (let n = 0; n < 1100; n++) recorder.publish(anEvent({ name: `n${n}`, uid: `n${n}` }));
  expect(errors).toHaveLength(1 + 100);
  await clock.advance(5 * MINUTE_MS);
  api.faults.before = undefined;
  const all = recorder.flush();
  await clock.advance(MINUTE_MS);
  await all;
  expect(events().length).toBeGreaterThan(990);
});

test("names of events are valid and repeat with the seed", async () => {
  const names = async () => {
    const { clock, recorder, events } = aWorld();
    recorder.publish(anEvent({ name: `${"x".repeat(235)}.${"y".repeat(17)}` }));
    await clock.settle();
    return events()[0]?.metadata?.name;
  };
  const name = await names();
  expect(name).toMatch(/^x{235}\.[0-9a-f]{16}$/);
  expect(await names()).toBe(name);
});
