import { createRandom, createVirtualClock } from "@joinery/kube";
import { expect, test } from "vitest";
import { createApiServer } from "./api-server.ts";

/** Answers in process are the stored objects themselves: frozen, they make every write into them throw. */
function frozen<T>(value: T): T {
  if (typeof value === "object" && value !== null && !Object.isFrozen(value)) Object.values(Object.freeze(value)).forEach(frozen);
  return value;
}

const MERGE = "application/merge-patch+json";
const POD = {
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name: "p", finalizers: ["example.com/wait"] },
  spec: { serviceAccountName: "default", containers: [{ name: "c", image: "i", ports: [{ containerPort: 80 }] }] },
};
const DEPLOYMENT = {
  apiVersion: "apps/v1",
  kind: "Deployment",
  metadata: { name: "d" },
  spec: { selector: { matchLabels: { a: "b" } }, template: { metadata: { labels: { a: "b" } }, spec: POD.spec } },
};

test.each([
  { collection: "/api/v1/namespaces/default/pods", object: POD, path: "/p" },
  { collection: "/apis/apps/v1/namespaces/default/deployments", object: DEPLOYMENT, path: "/d" },
])("what is stored in $collection is never written into", async ({ collection, object, path }) => {
  const server = createApiServer({ clock: createVirtualClock({ startMs: Date.UTC(2026, 0, 1) }), random: createRandom(1) });
  const transport = server.transport();
  const send = async (method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE", at: string, body?: object, contentType?: string) => {
    const answer = await transport.send({ method, path: collection + at, body: frozen(body), contentType });
    expect([200, 201]).toContain(answer.status);
    return frozen(answer.body) as object;
  };
  await send("POST", "", object);
  await send("PATCH", `${path}/status`, { status: { conditions: [{ type: "Ready", status: "True" }] } }, MERGE);
  await send("PATCH", path, { metadata: { labels: { x: "y" } } }, MERGE);
  const held = (await send("GET", path)) as { readonly metadata: object };
  await send("PUT", path, { ...held, metadata: { ...held.metadata, labels: { x: "z" } } });
  await send("PATCH", `${path}/status`, { status: { observedGeneration: 1 } }, MERGE);
  await send("DELETE", path);
  server.close();
});
