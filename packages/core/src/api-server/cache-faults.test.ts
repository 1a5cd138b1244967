import { NodePools, Pods } from "@joinery/api";
import { apiErrorFrom, createVirtualClock, TransportError } from "@joinery/kube";
import { expect, test } from "vitest";
import { type Logger, silentLogger } from "../logger.ts";
import { createCacheFaults, whyUnwatched } from "./cache-faults.ts";

test.each([
  {
    rule: "O-69: a missing definition",
    kind: NodePools,
    error: apiErrorFrom(404, "404 page not found"),
    text: "nodepools.karpenter.sh v1 is not served: its CustomResourceDefinition is missing or has another version",
  },
  {
    rule: "O-160: a role that lacks something",
    kind: Pods,
    error: apiErrorFrom(403, { message: 'pods is forbidden: User "u" cannot list resource "pods"' }),
    text: 'pods is forbidden: User "u" cannot list resource "pods": the role needs get, list and watch of pods',
  },
  { rule: "a server in trouble", kind: Pods, error: apiErrorFrom(500, "etcd is away"), text: "etcd is away" },
  { rule: "no server", kind: Pods, error: new TransportError("unreachable", "DNS is away"), text: "DNS is away" },
])("$rule", ({ kind, error, text }) => {
  expect(whyUnwatched(kind, error)).toBe(text);
});

test("the same fault of a kind is told once a minute; that the server is away is not told per kind", async () => {
  const clock = createVirtualClock({ startMs: 0 });
  const lines: string[] = [];
  const log: Logger = { ...silentLogger, error: (fields) => void lines.push(JSON.stringify(fields)) };
  const faults = createCacheFaults(clock, log);
  for (let second = 0; second < 90; second++) {
    faults.note(NodePools, apiErrorFrom(500, "etcd is away"));
    faults.note(Pods, new TransportError("unreachable", "DNS is away"));
    await clock.advance(1000);
  }
  faults.note(NodePools, apiErrorFrom(500, "something else"));
  expect(lines).toEqual(["etcd is away", "etcd is away", "something else"].map((error) => JSON.stringify({ kind: "NodePool", error })));
  expect(faults.of(Pods)).toBe("DNS is away");
});
