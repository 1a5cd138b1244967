import type { NodeClaim } from "@joinery/api";
import { expect, test } from "vitest";
import { aPodRecord } from "../testing/pod-records.ts";
import { type Occupied, scaleDownOrder } from "./scale-down-order.ts";

const NOW_MS = Date.parse("2026-01-01T12:00:00Z");
const claim = (name: string, spec: Partial<NodeClaim["spec"]> = {}, providerID: string | undefined = `fake:///${name}`): NodeClaim => ({
  metadata: { name, creationTimestamp: "2026-01-01T00:00:00Z" },
  spec: { nodeClassRef: { group: "g", kind: "k", name: "n" }, requirements: [], ...spec },
  status: { ...(providerID && { providerID }) },
});
const pod = aPodRecord();
const daemon = aPodRecord({ owner: "apps/v1/DaemonSet" });
const guarded = aPodRecord({ annotations: { "karpenter.sh/do-not-disrupt": "true" } });
const guardedDaemon = aPodRecord({ owner: "apps/v1/DaemonSet", annotations: { "karpenter.sh/do-not-disrupt": "true" } });
const order = (nodes: readonly Occupied[]) =>
  scaleDownOrder(nodes, { isDeletionCostManaged: false }, NOW_MS).map(({ metadata }) => metadata!.name);

test("L-201: without instance, then empty, then by cost, then protected; equals by name", () => {
  expect(
    order([
      { claim: claim("protected"), pods: [guarded] },
      { claim: claim("high-b"), pods: [pod, pod] },
      { claim: claim("high-a"), pods: [pod, pod] },
      { claim: claim("low"), pods: [pod] },
      { claim: claim("guarded-daemon"), pods: [guardedDaemon] },
      { claim: claim("daemons"), pods: [daemon, daemon] },
      { claim: claim("bare"), pods: [] },
      { claim: claim("unlaunched", {}, ""), pods: [] },
    ]),
  ).toEqual(["unlaunched", "bare", "daemons", "low", "high-a", "high-b", "guarded-daemon", "protected"]);
});

test("L-201: what expires soon costs less", () => {
  expect(
    order([
      { claim: claim("young", { expireAfter: "Never" }), pods: [pod] },
      { claim: claim("old", { expireAfter: "13h" }), pods: [pod, pod] },
    ]),
  ).toEqual(["old", "young"]);
});

test("L-204: of pairs the empty ones go first, then those with few pods, those with more, and the protected ones last", () => {
  const pair = (name: string, pods: Occupied["pods"]) => [1, 2].map((n) => ({ claim: claim(`${name}-${n}`), pods }));
  const left = [...pair("dnd", [guarded]), ...pair("high", [pod, pod]), ...pair("low", [pod]), ...pair("ds-only", [daemon])];
  const gone = order(left);
  const kinds = gone.map((name = "") => name.replace(/-\d$/, ""));
  expect([0, 2, 4, 6].map((from) => kinds.slice(from, from + 2))).toEqual([
    ["ds-only", "ds-only"],
    ["low", "low"],
    ["high", "high"],
    ["dnd", "dnd"],
  ]);
});
