/** The server over HTTPS: tokens, trust, busy ports, streamed watches. */
import { request } from "node:https";
import { createHttpTransport, createRandom, createRealClock } from "@joinery/kube";
import { afterEach, expect, test } from "vitest";
import { createApiServer } from "../api-server.ts";
import type { ServedApi } from "./serve.ts";

const open: ServedApi[] = [];
afterEach(async () => {
  for (const served of open.splice(0)) await served.close();
});

function aServer() {
  return createApiServer({ clock: createRealClock(), random: createRandom(1) });
}

async function serve(server: ReturnType<typeof aServer>, options: Parameters<typeof server.serve>[0] = { port: 0 }): Promise<ServedApi> {
  const served = await server.serve(options);
  open.push(served);
  return served;
}

const client = (served: ServedApi, token = served.token) =>
  createHttpTransport({
    clock: createRealClock(),
    server: served.url,
    credentials: async () => ({ headers: { authorization: `Bearer ${token}` } }),
    tls: { ca: served.certificate },
  });

test("a token is needed, and any of the configured ones will do", async () => {
  const served = await serve(aServer(), { port: 0, tokens: ["one", "two"] });
  expect((await client(served, "two").send({ method: "GET", path: "/api/v1/namespaces/default" })).status).toBe(200);
  expect((await client(served, "three").send({ method: "GET", path: "/api/v1/namespaces/default" })).status).toBe(401);
  expect(served.kubeconfig("two")).toContain("token: two");
});

test("a busy port is no error", async () => {
  const first = await serve(aServer());
  const second = await serve(aServer(), { port: first.port });
  expect(second.port).toBeGreaterThan(first.port);
});

test("bodies may be YAML", async () => {
  const served = await serve(aServer());
  const ask = (method: string, path: string, contentType: string, body: string) =>
    new Promise<{ status: number; text: string }>((resolve, reject) => {
      const headers = { authorization: `Bearer ${served.token}`, "content-type": contentType };
      const asked = request(`${served.url}/api/v1/namespaces/default/configmaps${path}`, { method, headers, ca: served.certificate });
      asked.on("error", reject).on("response", (answer) => {
        let text = "";
        answer.on("data", (chunk) => {
          text += chunk;
        });
        answer.on("end", () => resolve({ status: answer.statusCode ?? 0, text }));
      });
      asked.end(body);
    });
  const text = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: m\ndata:\n  day: 2026-01-02\n";
  expect((await ask("PATCH", "/m?fieldManager=me", "application/apply-patch+yaml", text)).status).toBe(201);
  const again = await ask(
    "PATCH",
    "/m?fieldManager=me",
    "application/apply-patch+yaml",
    JSON.stringify({ apiVersion: "v1", kind: "ConfigMap", data: { a: "b" } }),
  );
  expect(again.text).toContain('"data":{"a":"b"}');
  const posted = await ask("POST", "", "application/yaml", text.replace("name: m", "name: other"));
  expect(posted).toMatchObject({ status: 201, text: expect.stringContaining('"day":"2026-01-02"') });
  expect(await ask("POST", "", "application/yaml", "a: [b")).toMatchObject({ status: 400, text: expect.stringContaining("no YAML") });
});

test("a watch is a stream that begins at once and ends with its reader", async () => {
  const served = await serve(aServer());
  const transport = client(served);
  const stopping = new AbortController();
  const { status, values } = await transport.stream(
    { method: "GET", path: "/api/v1/configmaps", query: { watch: "true", resourceVersion: "1" } },
    stopping.signal,
  );
  expect(status).toBe(200);
  await transport.send({
    method: "POST",
    path: "/api/v1/namespaces/default/configmaps",
    body: { metadata: { name: "m" }, data: { a: "b" } },
  });
  for await (const value of values) {
    expect(value).toMatchObject({ type: "ADDED", object: { metadata: { name: "m", managedFields: [{ operation: "Update" }] } } });
    break;
  }
  stopping.abort();
  await transport.close();
});
