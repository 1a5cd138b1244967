import type { CapacityBuffer, PodTemplate } from "@joinery/api";
import { createVirtualClock } from "@joinery/kube";
import { shapeOf } from "@joinery/scheduling";
import { expect, test } from "vitest";
import { silentLogger } from "../logger.ts";
import type { Rooms } from "../rooms.ts";
import { createBufferStore } from "./buffer-store.ts";
import { createProvisionedBuffers } from "./provisioned-buffers.ts";

const { signal } = new AbortController();

const buffer = (name: string, isReady: boolean, replicas: number): CapacityBuffer => ({
  metadata: { name, namespace: "default", uid: name },
  spec: { podTemplateRef: { name: "room" } },
  status: {
    replicas,
    conditions: [
      {
        type: "ReadyForProvisioning",
        status: isReady ? "True" : "False",
        reason: "X",
        message: "",
        lastTransitionTime: "2026-01-01T00:00:00Z",
      },
    ],
  },
});

function aStore(buffers: readonly CapacityBuffer[], findPodTemplate: () => PodTemplate | undefined) {
  const store = createBufferStore();
  const rooms = {
    caches: { buffers: { values: () => buffers }, podTemplates: { find: findPodTemplate }, shapeOf },
    clock: createVirtualClock({ startMs: 0 }),
    log: silentLogger,
  };
  return { store, provisioned: createProvisionedBuffers(rooms as unknown as Rooms, store) };
}

test("L-220: who asks first gets what earlier processes found ready, and it is read once", async () => {
  let reads = 0;
  const { provisioned } = aStore([buffer("a", true, 2), buffer("b", false, 5), buffer("c", true, 1)], () => {
    reads++;
    return { template: { spec: { containers: [{ name: "main" }] } } };
  });
  const pods = await provisioned.virtualPods(signal);
  expect(pods.map(({ key }) => key)).toEqual(["default/capacity-buffer-a-1", "default/capacity-buffer-a-2", "default/capacity-buffer-c-1"]);
  expect(await provisioned.virtualPods(signal)).toBe(pods);
  expect(reads).toBe(2);
});

test("L-220: one that cannot be resolved is left out", async () => {
  const { provisioned } = aStore([buffer("a", true, 2)], () => undefined);
  expect(await provisioned.virtualPods(signal)).toEqual([]);
});

test("L-224: counts by node take the place of those before", async () => {
  const { provisioned, store } = aStore([], () => undefined);
  const outcome = (counts: Record<string, number>) => ({
    places: new Map(),
    podsByNode: new Map(Object.entries(counts)),
    nodesWithRealPods: new Set<string>(),
  });
  const keys = new Map([["node-1", "aws:///1"]]);
  await provisioned.tell(outcome({ "node-1": 3 }), keys, signal);
  expect([store.podCountOn("aws:///1"), store.podCountOn("aws:///2")]).toEqual([3, 0]);
  await provisioned.tell(outcome({}), keys, signal);
  expect(store.podCountOn("aws:///1")).toBe(0);
});
