import { createKubeClient, createRandom, createVirtualClock } from "@joinery/kube";
import { expect, test } from "vitest";
import { silentLogger } from "../logger.ts";
import { createFakeApi } from "../testing/fake-api.ts";
import { TestNodeClasses } from "../testing/fake-cloud.ts";
import { createCaches } from "./caches.ts";

const named = (objects: Iterable<{ readonly metadata?: { readonly name?: string } }>) =>
  Array.from(objects, ({ metadata }) => metadata?.name);

test("O-68: who is asked for by one fact is found without looking through all, and by the fact as it stands now", async () => {
  const clock = createVirtualClock({ startMs: 0 });
  const api = createFakeApi(clock);
  const caches = createCaches({
    kube: createKubeClient(api.transport),
    clock,
    random: createRandom(1),
    nodeClassKinds: [TestNodeClasses],
    log: silentLogger,
  });
  void caches.run(new AbortController().signal);
  const claim = { spec: { nodeClassRef: { group: "g", kind: "K", name: "n" }, requirements: [] } };
  const labels = { "karpenter.sh/nodepool": "pool" };
  api.put("/api/v1/namespaces/a/pods/p", { spec: { nodeName: "n1", containers: [] } });
  api.put("/api/v1/nodes/n1", { spec: { providerID: "i-1" } });
  api.put("/api/v1/nodes/n2", {});
  api.put("/apis/karpenter.sh/v1/nodeclaims/c1", { ...claim, metadata: { labels }, status: { providerID: "i-1" } });
  api.put("/apis/karpenter.sh/v1/nodeclaims/c2", { ...claim, metadata: { labels } });
  api.put("/apis/storage.k8s.io/v1/volumeattachments/v", { spec: { nodeName: "n1", attacher: "a", source: {} } });
  await clock.settle();
  expect(named(caches.pods.by("node", "n1"))).toEqual(["p"]);
  expect(named(caches.nodes.by("providerId", "i-1"))).toEqual(["n1"]);
  expect(named(caches.nodeClaims.by("providerId", "i-1"))).toEqual(["c1"]);
  expect(named(caches.nodeClaims.by("nodePool", "pool")).sort()).toEqual(["c1", "c2"]);
  expect(named(caches.volumeAttachments.by("node", "n1"))).toEqual(["v"]);
  api.put("/api/v1/nodes/n2", { spec: { providerID: "i-2" } });
  api.put("/apis/karpenter.sh/v1/nodeclaims/c1", { status: { providerID: "i-2" } });
  await clock.settle();
  expect(named(caches.nodes.by("providerId", "i-2"))).toEqual(["n2"]);
  expect(named(caches.nodeClaims.by("providerId", "i-2"))).toEqual(["c1"]);
  expect(named(caches.nodeClaims.by("providerId", "i-1"))).toEqual([]);
});
