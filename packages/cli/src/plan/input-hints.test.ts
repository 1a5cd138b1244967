import { Ec2NodeClasses, type NodePool } from "@joinery/api";
import { expect, test } from "vitest";
import type { RawObject } from "../manifests/manifest.ts";
import { createObjectSource } from "./input.ts";
import { inputHints } from "./input-hints.ts";

const sourceOf = (...objects: readonly (readonly [string, string])[]) =>
  createObjectSource(
    objects.map(([apiVersion, kind]) => ({
      object: { apiVersion, kind, metadata: { name: "a" } } as RawObject,
      file: "f",
      locate: () => undefined,
    })),
  );

const offering = {
  requirements: [{ key: "topology.kubernetes.io/zone", operator: "In", values: ["z1"] }],
  pricePerHour: 1,
  isAvailable: true,
};
const types = [
  {
    name: "a",
    capacity: {},
    overhead: { kubeReserved: {}, systemReserved: {}, evictionThreshold: {} },
    requirements: [{ key: "kubernetes.io/arch", operator: "In", values: ["amd64"] }],
    offerings: [offering, { ...offering, isAvailable: false, requirements: [{ ...offering.requirements[0], values: ["z2"] }] }],
  },
] as unknown as Parameters<typeof inputHints>[0]["catalogue"]["types"];
const pool = (...requirements: readonly object[]) =>
  ({ metadata: { name: "p" }, spec: { template: { spec: { requirements } } } }) as unknown as NodePool;

const catalogue = { source: "the catalogue", types, nodeClassKinds: [Ec2NodeClasses] };
const hints = (wish: Partial<Parameters<typeof inputHints>[0]>) => {
  const source = wish.source ?? sourceOf();
  const base = { faultyClaims: new Set<string>(), emptyPools: [], usedPools: [], source, objects: source.of, catalogue };
  return inputHints({ ...base, ...wish });
};

test("an empty pool is told with its name", () => {
  expect(hints({ emptyPools: [pool({ key: "kubernetes.io/arch", operator: "DoesNotExist" })] })).toEqual([
    "NodePool p: no instance type of the catalogue is to be had with kubernetes.io/arch DoesNotExist; for types of elsewhere give --catalog FILE",
  ]);
});

const classes = (...names: readonly string[]) =>
  createObjectSource(
    names.map((name) => ({
      object: { apiVersion: "karpenter.k8s.aws/v1", kind: "EC2NodeClass", metadata: { name }, spec: {} } as RawObject,
      file: "f",
      locate: () => undefined,
    })),
  );

test.each([
  { name: "mistyped", source: classes("default"), says: ["did you mean default?"] },
  { name: "another name", source: classes("gpu", "arm"), says: ["the input has arm and gpu"] },
  { name: "the input has no class at all", source: classes(), says: [] },
  { name: "it is there", source: classes("defualt"), says: [] },
])("A-1: a node class that the input lacks while it has others counts as ready, and that is said: $name", ({ source, says }) => {
  const nodeClassRef = { group: "karpenter.k8s.aws", kind: "EC2NodeClass", name: "defualt" };
  const used = { metadata: { name: "p" }, spec: { template: { spec: { nodeClassRef, requirements: [] } } } } as unknown as NodePool;
  const start = "NodePool p: the input has no EC2NodeClass defualt, which counts as ready here; ";
  expect(hints({ source, usedPools: [used] })).toEqual(says.map((end) => `${start}${end}`));
});

const nodesIn = (...zones: readonly string[]) =>
  createObjectSource(
    zones.map((zone) => ({
      object: { apiVersion: "v1", kind: "Node", metadata: { name: zone, labels: { "topology.kubernetes.io/zone": zone } } } as RawObject,
      file: "f",
      locate: () => undefined,
    })),
  );

test.each([
  {
    name: "all nodes are elsewhere",
    source: nodesIn("eu-1b", "eu-1a", "eu-1c", "eu-1d"),
    says: ["Nodes exist in eu-1a, eu-1b, eu-1c …, where the catalogue has no types; for those of the cluster's region give --catalog FILE"],
  },
  { name: "one is where types are", source: nodesIn("eu-1a", "z1"), says: [] },
  { name: "there is none", source: nodesIn(), says: [] },
])("zones of nodes: $name", ({ source, says }) => {
  expect(hints({ source })).toEqual(says);
});

test("a pool whose requirements are met each, only not together, is not told to look elsewhere", () => {
  expect(hints({ emptyPools: [pool({ key: "kubernetes.io/arch", operator: "In", values: ["amd64"] })] })).toEqual([]);
});
