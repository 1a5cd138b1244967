/** What evictions come to. Rule O-205 with L-152, L-154. */
import { expect, test } from "vitest";
import { expectRow } from "../testing/metric-rows.ts";
import { scrape } from "../testing/scrape.ts";
import { createWorldWithNode, NODE_CLAIMS, NODES, type World } from "../testing/world.ts";

const EVICTIONS = "karpenter_pods_eviction_requests_total";
const DRAINED = "karpenter_pods_drained_total";

test.each([
  { status: 404, message: 'pods "a" not found' },
  { status: 409, message: "the UID in the precondition does not match" },
  { status: 429, message: "Cannot evict pod as it would violate the pod's disruption budget." },
  { status: 500, message: "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support." },
])("O-205, L-152: an eviction that is answered $status is counted as such, and drains nobody", async ({ status, message }) => {
  const { world, node, controller } = await createWorldWithNode();
  let asked = 0;
  world.api.faults.before = ({ path }) => {
    if (!path.endsWith("/eviction")) return undefined;
    asked++;
    return { status, body: { code: status, reason: "Refused", message } };
  };
  world.api.remove(`${NODES}/${node}`);
  await world.clock.advance(5000);
  expect(asked).toBeGreaterThan(0);
  const of = { code: String(status) };
  await expectRow(controller.registry, { rule: "O-205", name: EVICTIONS, type: "counter", labels: ["code"], of, value: asked });
  expect((await scrape(controller.registry)).series(DRAINED)).toEqual([]);
});

const disrupt = (status: string) => (world: World) => {
  const conditions = [...(world.claims()[0]!.status!.conditions ?? []), { type: "DisruptionReason", status, reason: "Drifted" }];
  world.api.put(`${NODE_CLAIMS}/${world.claims()[0]!.metadata!.name}`, { status: { conditions } });
};

test.each([
  { what: "a disruption gave its reason", arrange: disrupt("True"), reason: "Drifted" },
  { what: "a disruption was called off", arrange: disrupt("False"), reason: "Forceful Termination" },
  { what: "nobody gave one", arrange: () => {}, reason: "Forceful Termination" },
  {
    what: "the Node has no NodeClaim",
    arrange: (world: World, node: string) => world.api.put(`${NODES}/${node}`, { spec: { providerID: "fake:///other" } }),
    reason: "",
  },
])("O-205, L-154: pods that are drained, where $what", async ({ arrange, reason }) => {
  const { world, node, controller } = await createWorldWithNode();
  arrange(world, node);
  await world.clock.settle();
  world.api.remove(`${NODES}/${node}`);
  await world.clock.advance(30_000);
  await expectRow(controller.registry, { rule: "O-205", name: DRAINED, type: "counter", labels: ["reason"], of: { reason }, value: 1 });
});
