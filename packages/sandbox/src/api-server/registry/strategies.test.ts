/** What the sandbox lacks is said when somebody asks for it, not found out later. */
import { createRandom, createVirtualClock } from "@joinery/kube";
import { expect, test } from "vitest";
import { createApiServer } from "../api-server.ts";

test.each([
  ["/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers", /no pod autoscaler/],
  ["/api/v1/namespaces/default/resourcequotas", /no quota/],
  ["/api/v1/namespaces/default/configmaps", undefined],
])("%s warns of what it does not do: %s", async (path, warning) => {
  const server = createApiServer({ clock: createVirtualClock({ startMs: 0 }), random: createRandom(1) });
  const spec = path.includes("configmaps") ? {} : { spec: { maxReplicas: 3, scaleTargetRef: { kind: "Deployment", name: "d" } } };
  const body = { metadata: { name: "x" }, ...(path.includes("quotas") ? { spec: { hard: { pods: "1" } } } : spec) };
  const { status, headers } = await server.transport().send({ method: "POST", path, body });
  expect(status).toBe(201);
  if (warning === undefined) expect(headers?.Warning).toBeUndefined();
  else expect(headers?.Warning).toMatch(warning);
});
