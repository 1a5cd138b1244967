/** Eviction and the arithmetic of disruption budgets. */
import { createRandom, createVirtualClock } from "@joinery/kube";
import { expect, test } from "vitest";
import { createApiServer } from "./api-server.ts";

interface Case {
  readonly rule: string;
  readonly budgets: readonly {
    readonly allowed: number;
    readonly healthy?: number;
    readonly desired?: number;
    readonly generation?: number;
    readonly policy?: string;
  }[];
  readonly isReady?: boolean;
  readonly phase?: string;
  readonly status: number;
  readonly message?: string;
}

const cases: readonly Case[] = [
  { rule: "no budget", budgets: [], status: 201 },
  { rule: "one left", budgets: [{ allowed: 1 }], status: 201 },
  {
    rule: "none left",
    budgets: [{ allowed: 0, healthy: 2, desired: 2 }],
    status: 429,
    message: "The disruption budget b0 needs 2 healthy pods and has 2 currently",
  },
  {
    rule: "budget not yet observed",
    budgets: [{ allowed: 1, generation: 0 }],
    status: 429,
    message: "The disruption budget b0 is still being processed by the server.",
  },
  {
    rule: "two budgets",
    budgets: [{ allowed: 1 }, { allowed: 1 }],
    status: 500,
    message: "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.",
  },
  { rule: "not running", budgets: [{ allowed: 0 }], phase: "Pending", status: 201 },
  { rule: "ended", budgets: [{ allowed: 0 }], phase: "Succeeded", status: 201 },
  { rule: "not ready, budget healthy", budgets: [{ allowed: 0, healthy: 2, desired: 2 }], isReady: false, status: 201 },
  {
    rule: "not ready, budget not healthy",
    budgets: [{ allowed: 0, healthy: 1, desired: 2 }],
    isReady: false,
    status: 429,
    message: "The disruption budget b0 needs 2 healthy pods and has 1 currently",
  },
  {
    rule: "not ready, always allowed",
    budgets: [{ allowed: 0, healthy: 1, desired: 2, policy: "AlwaysAllow" }],
    isReady: false,
    status: 201,
  },
];

const home = "/api/v1/namespaces/default";
const budgetsPath = "/apis/policy/v1/namespaces/default/poddisruptionbudgets";

test.each(cases)("$rule: $status", async ({ budgets, isReady = true, phase = "Running", status, message }) => {
  const server = createApiServer({ clock: createVirtualClock({ startMs: Date.UTC(2026, 0, 1) }), random: createRandom(1) });
  const transport = server.transport();
  const patch = (path: string, body: unknown) =>
    transport.send({ method: "PATCH", path, contentType: "application/merge-patch+json", body });
  await transport.send({
    method: "POST",
    path: `${home}/pods`,
    body: { metadata: { name: "p", labels: { app: "x" } }, spec: { nodeName: "n", containers: [{ name: "a", image: "b" }] } },
  });
  await patch(`${home}/pods/p/status`, { status: { phase, conditions: [{ type: "Ready", status: isReady ? "True" : "False" }] } });
  for (const [index, { allowed, healthy = 3, desired = 1, generation = 1, policy }] of budgets.entries()) {
    const spec = { minAvailable: 1, selector: { matchLabels: { app: "x" } }, ...(policy && { unhealthyPodEvictionPolicy: policy }) };
    await transport.send({ method: "POST", path: budgetsPath, body: { metadata: { name: `b${index}` }, spec } });
    await patch(`${budgetsPath}/b${index}/status`, {
      status: {
        observedGeneration: generation,
        disruptionsAllowed: allowed,
        currentHealthy: healthy,
        desiredHealthy: desired,
        expectedPods: 3,
      },
    });
  }
  const answer = await transport.send({
    method: "POST",
    path: `${home}/pods/p/eviction`,
    body: { apiVersion: "policy/v1", kind: "Eviction", metadata: { name: "p" } },
  });
  expect(answer.status).toBe(status);
  const said = answer.body as { message?: string; details?: { causes?: { message: string }[] } };
  if (message !== undefined) expect(said.details?.causes?.[0]?.message ?? said.message).toBe(message);
  const pod = (await transport.send({ method: "GET", path: `${home}/pods/p` })).body as { metadata?: { deletionTimestamp?: string } };
  if (phase === "Running") expect(pod.metadata?.deletionTimestamp !== undefined).toBe(status === 201);
  if (budgets[0]?.allowed === 1 && status === 201) {
    const budget = (await transport.send({ method: "GET", path: `${budgetsPath}/b0` })).body;
    expect(budget).toMatchObject({ status: { disruptionsAllowed: 0, disruptedPods: { p: expect.any(String) } } });
  }
});
