import { createVirtualClock } from "@joinery/kube";
import { expect, test } from "vitest";
import { aPodRecord } from "../testing/pod-records.ts";
import { createPodTimes } from "./pod-times.ts";

const pod = aPodRecord({ name: "a", uid: "1", spec: { nodeName: "" } });
const bound = aPodRecord({ name: "a", uid: "1" });
const again = aPodRecord({ name: "a", uid: "2", spec: { nodeName: "" } });

async function times() {
  const clock = createVirtualClock({ startMs: 1_000_000 });
  return { clock, podTimes: createPodTimes(clock) };
}

test("L-62, L-64: time counts from when the pod was first seen until the first decision, which is told once", async () => {
  const { clock, podTimes } = await times();
  podTimes.acknowledge(pod);
  await clock.advance(2000);
  podTimes.acknowledge(pod);
  await clock.advance(1000);
  expect([...podTimes.undecided()]).toEqual([["default/a", 3000]]);
  expect(podTimes.decide(pod, false)).toBe(3000);
  await clock.advance(1000);
  expect([podTimes.decide(pod, true), [...podTimes.undecided()]]).toEqual([undefined, []]);
});

test("L-62: a pod of the same name that came later is another", async () => {
  const { clock, podTimes } = await times();
  podTimes.acknowledge(pod);
  await clock.advance(5000);
  podTimes.acknowledge(again);
  await clock.advance(1000);
  expect(podTimes.decide(again, true)).toBe(1000);
});

test("L-63: when a place was found stays, until there is none any more", async () => {
  const { clock, podTimes } = await times();
  podTimes.decide(pod, true);
  await clock.advance(4000);
  podTimes.decide(pod, true);
  expect(podTimes.placedAtMs(pod)).toBe(1_000_000);
  podTimes.decide(pod, false);
  expect(podTimes.placedAtMs(pod)).toBeUndefined();
  podTimes.decide(pod, true);
  expect([podTimes.placedAtMs(pod), podTimes.placedAtMs(again)]).toEqual([1_004_000, undefined]);
});

test("L-65: a pod that is bound, as those of a node that leaves, gets no place by a solve", async () => {
  const { podTimes } = await times();
  podTimes.acknowledge(pod);
  podTimes.settle(pod);
  expect([podTimes.decide(bound, true), podTimes.placedAtMs(bound), [...podTimes.undecided()]]).toEqual([undefined, undefined, []]);
});

test("L-249d: a new term knows nothing", async () => {
  const { podTimes } = await times();
  podTimes.acknowledge(pod);
  podTimes.decide(pod, true);
  podTimes.clear();
  expect([podTimes.placedAtMs(pod), podTimes.decide(pod, true)]).toEqual([undefined, undefined]);
});
