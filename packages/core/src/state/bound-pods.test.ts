/** Whose wishes about other pods count: those of pods that are bound to a Node that is there. */
import { createKubeClient, createRandom, createVirtualClock } from "@joinery/kube";
import { expect, test } from "vitest";
import { silentLogger } from "../logger.ts";
import { createFakeApi } from "../testing/fake-api.ts";
import { TestNodeClasses } from "../testing/fake-cloud.ts";
import { bindPod, createWorld, putPendingPod, putPool } from "../testing/world.ts";
import { boundPods } from "./bound-pods.ts";
import { createCaches } from "./caches.ts";
import { createCluster, nominationMs } from "./cluster.ts";
import { claimCondition } from "./conditions.ts";

const term = { topologyKey: "kubernetes.io/hostname", labelSelector: { matchLabels: { app: "web" } } };
const REQUIRED = { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [term] } };
const PREFERRED = { podAntiAffinity: { preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 1, podAffinityTerm: term }] } };

test("L-31: of pods with anti-affinity those count that are bound to a Node that is known; a Node that goes first takes its pods along", async () => {
  const clock = createVirtualClock({ startMs: 0 });
  const api = createFakeApi(clock);
  const nodeClassKinds = [TestNodeClasses];
  const caches = createCaches({ kube: createKubeClient(api.transport), clock, random: createRandom(1), nodeClassKinds, log: silentLogger });
  void caches.run(new AbortController().signal);
  const put = (name: string, nodeName: string | undefined, phase = "Running") =>
    api.put(`/api/v1/namespaces/default/pods/${name}`, {
      metadata: { labels: { app: name } },
      spec: { ...(nodeName && { nodeName }), affinity: REQUIRED, containers: [{ name: "c" }] },
      status: { phase },
    });
  api.put("/api/v1/nodes/there", { spec: { providerID: "p1" } });
  api.put("/api/v1/nodes/going", { spec: { providerID: "p2" } });
  put("bound", "there");
  put("ended", "there", "Succeeded");
  put("unbound", undefined);
  put("ahead", "unknown");
  put("left", "going");
  await clock.settle();
  const cluster = createCluster({ caches, clock, nodeClassKinds, nominationMs: nominationMs(10_000) });
  const seen = () => boundPods(cluster, []).map(({ shape, site }) => `${shape.labels.app} on ${site.name}`);
  expect(seen().sort()).toEqual(["bound on there", "left on going"]);
  api.remove("/api/v1/nodes/going");
  await clock.settle();
  expect(seen()).toEqual(["bound on there"]);
});

test.each([
  { what: "required", affinity: REQUIRED, nodes: 2 },
  { what: "preferred", affinity: PREFERRED, nodes: 1 },
  { what: "no", affinity: undefined, nodes: 1 },
])("L-31: beside a pod with $what anti-affinity there is room on a node of its own or the same: $nodes", async ({ affinity, nodes }) => {
  const world = createWorld();
  putPool(world);
  putPendingPod(world, "first", "100m", { affinity });
  world.start();
  await world.until("Ready", () => world.claims().some((claim) => claimCondition(claim, "Ready").status === "True"));
  bindPod(world, "first", world.claims()[0]!.status!.nodeName!);
  putPendingPod(world, "second", "100m");
  await world.clock.advance(60_000);
  expect(world.claims()).toHaveLength(nodes);
});
