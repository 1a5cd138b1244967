/** Each wish can be unmet, and is then told. */
import type { CapacityBuffer, Deployment, Node, NodeClaim, NodeOverlay, NodePool, Pod } from "@joinery/api";
import { describe, expect, test } from "vitest";
import type { Truth } from "../truth.ts";
import { unmetWishes } from "./wished-capacity.ts";

const nothing = { pools: [], claims: [], buffers: [], overlays: [], deployments: [], nodes: [], pods: [] };

function unmet(is: Partial<Record<keyof typeof nothing, readonly unknown[]>>): readonly string[] {
  const all = { ...nothing, ...is };
  return unmetWishes(Object.fromEntries(Object.entries(all).map(([name, objects]) => [name, () => objects])) as unknown as Truth);
}

describe("L-194…L-200: a static pool has its nodes", () => {
  const pools = [{ metadata: { name: "always" }, spec: { replicas: 2 } } as NodePool];
  const claim = { metadata: { labels: { "karpenter.sh/nodepool": "always" } } } as unknown as NodeClaim;
  test.each([
    { count: 1, told: ["static NodePool always has 1 of 2 nodes"] },
    { count: 2, told: [] },
    { count: 3, told: ["static NodePool always has 3 of 2 nodes"] },
  ])("$count of 2", ({ count, told }) => {
    expect(unmet({ pools, claims: Array.from({ length: count }, () => claim) })).toEqual(told);
  });
});

describe("L-211, L-212, L-222: a buffer keeps its room", () => {
  const podSpec = { containers: [{ name: "main", resources: { requests: { cpu: "1" } } }] };
  const web = { metadata: { name: "web" }, spec: { replicas: 3, template: { spec: podSpec } } } as unknown as Deployment;
  const node = { metadata: { name: "n" }, status: { allocatable: { cpu: "4", pods: "10" } } } as unknown as Node;
  const pod = { spec: { ...podSpec, nodeName: "n" } } as Pod;
  const says = (reason: string, status: string) => ({ type: "Provisioning", status, reason, message: "" });
  const fits = says("FitsExistingCapacity", "True");
  const buffer = (size: object, replicas: number, provisioning: object, ready = "True") =>
    ({
      metadata: { name: "room" },
      spec: { scalableRef: { kind: "Deployment", name: "web" }, ...size },
      status: { replicas, conditions: [{ type: "ReadyForProvisioning", status: ready }, provisioning] },
    }) as unknown as CapacityBuffer;

  test.each<{ buffer: CapacityBuffer; pods?: number; workloads?: readonly Deployment[]; told: readonly string[] }>([
    { buffer: buffer({ replicas: 4 }, 4, fits), told: [] },
    { buffer: buffer({ replicas: 4 }, 4, fits), pods: 1, told: ["CapacityBuffer room says that 4 pods have room, and at most 3 have"] },
    { buffer: buffer({ percentage: 34 }, 2, fits), told: [] },
    { buffer: buffer({ percentage: 34 }, 1, fits), told: ["CapacityBuffer room is for 1 pods, and 2 are wanted"] },
    { buffer: buffer({ replicas: 9, limits: { cpu: "3500m" } }, 3, fits), told: [] },
    { buffer: buffer({ replicas: 2 }, 2, says("RequiresNewCapacity", "False")), told: ["CapacityBuffer room says RequiresNewCapacity: "] },
    { buffer: buffer({ replicas: 2 }, 2, fits, "False"), told: ["CapacityBuffer room is not ready"] },
    { buffer: buffer({ replicas: 0 }, 0, says("BufferEmpty", "False")), told: [] },
    { buffer: buffer({ replicas: 2 }, 2, fits), workloads: [], told: ["CapacityBuffer room is ready, and what it refers to is gone"] },
  ])("$buffer.spec, $buffer.status.replicas, $pods → $told", ({ buffer: room, pods = 0, workloads = [web], told }) => {
    expect(unmet({ buffers: [room], deployments: workloads, nodes: [node], pods: Array.from({ length: pods }, () => pod) })).toEqual(told);
  });
});

describe("L-226, L-230, L-231: of equal overlays the last by name holds", () => {
  const overlay = (name: string, weight: number, verdict: string, observedGeneration = 1) =>
    ({
      metadata: { name, generation: 1 },
      spec: { weight, priceAdjustment: "-5%", requirements: [{ key: "f", operator: "In", values: ["m6a"] }] },
      status: {
        conditions: [{ type: "ValidationSucceeded", status: verdict === "True" ? "True" : "False", reason: verdict, observedGeneration }],
      },
    }) as unknown as NodeOverlay;
  test.each([
    { overlays: [overlay("a", 1, "Conflict"), overlay("b", 1, "True")], told: [] },
    { overlays: [overlay("a", 1, "True"), overlay("b", 2, "True")], told: [] },
    { overlays: [overlay("a", 1, "True"), overlay("b", 1, "True")], told: ["NodeOverlay a (1 price m6a) says True"] },
    { overlays: [overlay("a", 1, "True", 0)], told: ["NodeOverlay a (1 price m6a) says nothing of this generation"] },
  ])("$told", ({ overlays, told }) => {
    expect(unmet({ overlays })).toEqual(told);
  });
});
