import { TransportError } from "@joinery/kube";
import { expect, test } from "vitest";
import { createClientMetrics, labelsOf } from "./client-metrics.ts";
import { createMetricsRegistry } from "./prometheus.ts";

test.each([
  { method: "GET", path: "/api/v1/pods", labels: ["LIST", "", "v1", "pods", ""] },
  { method: "GET", path: "/api/v1/namespaces/default/pods", labels: ["LIST", "", "v1", "pods", ""] },
  { method: "GET", path: "/api/v1/namespaces/default/pods/a", labels: ["GET", "", "v1", "pods", ""] },
  { method: "POST", path: "/api/v1/namespaces/default/pods/a/eviction", labels: ["CREATE", "", "v1", "pods", "eviction"] },
  { method: "GET", path: "/api/v1/namespaces", labels: ["LIST", "", "v1", "namespaces", ""] },
  { method: "GET", path: "/api/v1/namespaces/default", labels: ["GET", "", "v1", "namespaces", ""] },
  { method: "PATCH", path: "/apis/karpenter.sh/v1/nodeclaims/a/status", labels: ["PATCH", "karpenter.sh", "v1", "nodeclaims", "status"] },
  {
    method: "PUT",
    path: "/apis/coordination.k8s.io/v1/namespaces/n/leases/l",
    labels: ["UPDATE", "coordination.k8s.io", "v1", "leases", ""],
  },
  { method: "DELETE", path: "/api/v1/nodes/a", labels: ["DELETE", "", "v1", "nodes", ""] },
  { method: "GET", path: "/apis/karpenter.sh/v1", labels: ["LIST", "karpenter.sh", "v1", "", ""] },
] as const)("O-240: $method $path", ({ method, path, labels }) => {
  expect(Object.values(labelsOf({ method, path }))).toEqual(labels);
});

test("O-240: requests are counted by status, and those without an answer as errors", async () => {
  const registry = createMetricsRegistry();
  const count = createClientMetrics(registry);
  const request = { method: "GET", path: "/api/v1/nodes" } as const;
  count({ request, durationMs: 2, status: 200 });
  count({ request, durationMs: 2, error: new TransportError("unreachable", "away") });
  const text = await registry.metrics();
  expect(text).toMatch(/^client_go_request_total{code="200",method="GET"} 1$/m);
  expect(text).toMatch(/^client_go_request_total{code="<error>",method="GET"} 1$/m);
  expect(text).toMatch(
    /^client_go_request_duration_seconds_bucket{le="0.0015",verb="LIST",group="",version="v1",kind="nodes",subresource=""} 0$/m,
  );
  expect(text).toMatch(/^client_go_request_duration_seconds_bucket{le="0.0022500000000000003",verb="LIST",.*} 2$/m);
});
