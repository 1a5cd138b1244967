import type { NodeClaim } from "@joinery/api";
import type { InstanceType } from "@joinery/scheduling";
import { expect, test } from "vitest";
import type { Caches } from "./caches.ts";
import { createPoolCosts } from "./pool-costs.ts";

const type = (name: string, zone: string, priceUsdPerHour: number): InstanceType => ({
  name,
  requirements: [],
  capacity: {},
  overhead: { kubeReserved: {}, systemReserved: {}, evictionThreshold: {} },
  offerings: [
    {
      requirements: [
        { key: "karpenter.sh/capacity-type", operator: "In", values: ["spot"] },
        { key: "topology.kubernetes.io/zone", operator: "In", values: [zone] },
      ],
      priceUsdPerHour,
      isAvailable: false,
    },
  ],
});

const claim = (instanceType: string, zone = "z1"): NodeClaim => ({
  metadata: {
    labels: {
      "node.kubernetes.io/instance-type": instanceType,
      "karpenter.sh/capacity-type": "spot",
      ...(zone && { "topology.kubernetes.io/zone": zone }),
    },
  },
  spec: { nodeClassRef: { group: "g", kind: "k", name: "n" }, requirements: [] },
});

function costsOf(claims: readonly NodeClaim[]) {
  const caches = {
    nodePools: { values: () => [{ metadata: { name: "a" } }] },
    nodeClaims: { by: (_: string, pool: string) => (pool === "a" ? claims : []) },
  };
  return createPoolCosts(caches as unknown as Pick<Caches, "nodeClaims" | "nodePools">);
}

test("L-72: count times price, whether or not the offering can be had now; what is not known counts nothing", () => {
  const costs = costsOf([claim("m"), claim("m"), claim("m", "z2"), claim("l"), claim("m", "")]);
  expect(costs.perHour().get("a")).toBe(0);
  costs.note("a", [type("m", "z1", 0.25), type("l", "z1", 1)]);
  expect(costs.perHour().get("a")).toBe(1.5);
  costs.note("b", [type("m", "z2", 9)]);
  expect(costs.perHour()).toEqual(new Map([["a", 1.5]]));
});

test("L-73: what is no longer offered keeps its price, the rest gets the new one", () => {
  const costs = costsOf([claim("m"), claim("l")]);
  costs.note("a", [type("m", "z1", 0.25), type("l", "z1", 1)]);
  costs.note("a", [type("m", "z1", 0.5)]);
  expect(costs.perHour().get("a")).toBe(1.5);
  costs.forget("a");
  expect(costs.perHour().get("a")).toBe(0);
});
