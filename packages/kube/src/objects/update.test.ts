import { Nodes } from "@joinery/api";
import { expect, test } from "vitest";
import { createKubeClient } from "../kube-client.ts";
import { createFakeApi } from "../testing/fake-api.ts";
import { isConflict } from "../wire/errors.ts";
import { withFinalizer, withLabels, withTaint } from "./metadata.ts";
import { createOnce, lockedPatch, openPatch, updateOwned } from "./update.ts";

const NODE = "/api/v1/nodes/n";

function aWorld() {
  const api = createFakeApi();
  return { api, client: createKubeClient(api.transport) };
}

test("L-17: a patch holds what changed and the version that was read, nothing else", () => {
  const node = { metadata: { name: "n", resourceVersion: "7", labels: { a: "1", b: "2" } }, spec: { providerID: "p" } };
  expect(lockedPatch(node, withLabels(node, { a: undefined, c: "3" }))).toEqual({
    type: "merge",
    body: { metadata: { resourceVersion: "7", labels: { a: null, c: "3" } } },
  });
  expect(openPatch(node, { ...node, spec: { providerID: "q" } })).toEqual({ type: "merge", body: { spec: { providerID: "q" } } });
  expect(lockedPatch(node, structuredClone(node))).toBeUndefined();
});

test("L-17: on a conflict the change is made again on what the other writer left", async () => {
  const { api, client } = aWorld();
  const stale = api.put(NODE, { metadata: { name: "n" } });
  api.put(NODE, { metadata: { name: "n", finalizers: ["other"] } });
  const result = await updateOwned(client, Nodes, { name: "n" }, (node) => withFinalizer(node, "mine"), { from: stale });
  expect(result?.metadata?.finalizers).toEqual(["other", "mine"]);
  expect(api.requests.map(({ method }) => method)).toEqual(["PATCH", "GET", "PATCH"]);
});

test("nothing to change is no request beyond the read; an object that is gone gives undefined", async () => {
  const { api, client } = aWorld();
  api.put(NODE, { metadata: { name: "n", labels: { a: "1" } } });
  expect((await updateOwned(client, Nodes, { name: "n" }, (node) => withLabels(node, { a: "1" })))?.metadata?.name).toBe("n");
  expect(api.requests).toHaveLength(1);
  expect(await updateOwned(client, Nodes, { name: "gone" }, (node) => withLabels(node, { a: "2" }))).toBeUndefined();
  const held = api.objects("/api/v1/nodes")[0]!;
  api.remove(NODE);
  expect(await updateOwned(client, Nodes, { name: "n" }, (node) => withLabels(node, { a: "2" }), { from: held })).toBeUndefined();
});

test("a fight without end is given up with the conflict", async () => {
  const { api, client } = aWorld();
  api.put(NODE, { metadata: { name: "n" } });
  api.faults.before = ({ method }) => {
    if (method === "PATCH") api.put(NODE, { metadata: { name: "n" } });
    return undefined;
  };
  const change = updateOwned(client, Nodes, { name: "n" }, (node) => withTaint(node, { key: "k", effect: "NoSchedule" }), {
    attemptsMax: 3,
  });
  await expect(change).rejects.toSatisfy(isConflict);
  expect(api.requests.filter(({ method }) => method === "PATCH")).toHaveLength(3);
});

test("createOnce finds its own work after a rerun", async () => {
  const { client } = aWorld();
  const first = await createOnce(client, Nodes, { metadata: { name: "n" } });
  const second = await createOnce(client, Nodes, { metadata: { name: "n" } });
  expect([first.isNew, second.isNew]).toEqual([true, false]);
  expect(second.object.metadata?.uid).toBe(first.object.metadata?.uid);
});
