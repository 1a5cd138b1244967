import { expect, test } from "vitest";
import { serveHealth, serveMetrics } from "./endpoints.ts";

const host = "127.0.0.1";

test.each([
  { path: "/healthz", crd: undefined, status: 200, body: /^ok$/ },
  { path: "/healthz", crd: "missing", status: 200, body: /^ok$/ },
  { path: "/healthz/healthz", crd: undefined, status: 200, body: /^ok$/ },
  { path: "/readyz", crd: undefined, status: 200, body: /^ok$/ },
  {
    path: "/readyz",
    crd: "missing",
    status: 500,
    body: /\[\+\]manager ok\n\[-\]crd failed: missing\n\[\+\]readyz ok\nreadyz check failed/,
  },
  { path: "/readyz/manager", crd: "missing", status: 200, body: /^ok$/ },
  { path: "/readyz/crd", crd: "missing", status: 500, body: /crd failed/ },
  { path: "/readyz?exclude=crd", crd: "missing", status: 200, body: /^ok$/ },
  { path: "/readyz?verbose=1", crd: undefined, status: 200, body: /\[\+\]readyz ok\nreadyz check passed/ },
  { path: "/readyz/nothing", crd: undefined, status: 404, body: /not found/ },
  { path: "/metrics", crd: undefined, status: 404, body: /not found/ },
])("O-92, O-93, O-94: $path with crd $crd", async ({ path, crd, status, body }) => {
  const endpoint = await serveHealth({ port: 0, host }, { manager: () => undefined, crd: async () => crd });
  try {
    const response = await fetch(`http://${host}:${endpoint.port}${path}`);
    expect(response.status).toBe(status);
    expect(await response.text()).toMatch(body);
  } finally {
    await endpoint.close();
  }
});

test("O-95: metrics with their content type", async () => {
  const endpoint = await serveMetrics({ port: 0, host }, { contentType: "text/plain; version=0.0.4", metrics: async () => "a 1\n" });
  const response = await fetch(`http://${host}:${endpoint.port}/metrics`);
  expect(response.headers.get("content-type")).toBe("text/plain; version=0.0.4");
  expect(await response.text()).toBe("a 1\n");
  await endpoint.close();
});

test("O-10, O-11: port 0 takes a free one, each its own", async () => {
  const source = { contentType: "text/plain", metrics: async () => "a 1\n" };
  const health = await serveHealth({ port: 0, host }, {});
  const metrics = await serveMetrics({ port: 0, host }, source);
  try {
    expect(health.port).toBeGreaterThan(0);
    expect(metrics.port).toBeGreaterThan(0);
    expect(metrics.port).not.toBe(health.port);
    expect((await fetch(`http://${host}:${metrics.port}/healthz`)).status).toBe(404);
  } finally {
    await health.close();
    await metrics.close();
  }
});
