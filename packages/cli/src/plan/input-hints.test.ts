import type { NodePool } from "@joinery/api";
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
const CLASS = ["storage.k8s.io/v1", "StorageClass"] as const;
const CLAIM = ["v1", "PersistentVolumeClaim"] as const;
const VOLUME = ["v1", "PersistentVolume"] as const;

const offering = {
  requirements: [{ key: "topology.kubernetes.io/zone", operator: "In", values: ["z1"] }],
  pricePerHour: 1,
  isAvailable: true,
};
const types = [
  {
    name: "a",
    requirements: [{ key: "kubernetes.io/arch", operator: "In", values: ["amd64"] }],
    offerings: [offering, { ...offering, isAvailable: false, requirements: [{ ...offering.requirements[0], values: ["z2"] }] }],
  },
] as unknown as Parameters<typeof inputHints>[0]["catalogue"]["types"];
const pool = (...requirements: readonly object[]) =>
  ({ metadata: { name: "p" }, spec: { template: { spec: { requirements } } } }) as unknown as NodePool;
const hints = (wish: Partial<Parameters<typeof inputHints>[0]>) =>
  inputHints({ codes: new Set(), emptyPools: [], source: sourceOf(), catalogue: { source: "the catalogue", types }, ...wish });

test.each([
  {
    name: "volumes, and nothing of storage",
    codes: ["invalid-volume"],
    source: sourceOf(),
    says: /^The input has no PersistentVolumeClaim, no PersistentVolume, no StorageClass; /,
  },
  {
    name: "volumes, and no class",
    codes: ["invalid-volume"],
    source: sourceOf(CLAIM, VOLUME),
    says: /^The input has no StorageClass; .+: add kubectl get pvc,pv,sc -A -o json$/,
  },
  { name: "volumes, and all kinds are there", codes: ["invalid-volume"], source: sourceOf(CLAIM, VOLUME, CLASS), says: undefined },
  { name: "another reason", codes: ["untolerated-taint"], source: sourceOf(), says: undefined },
])("$name", ({ codes, source, says }) => {
  const [hint] = hints({ codes: new Set(codes), source });
  if (says === undefined) expect(hint).toBeUndefined();
  else expect(hint).toMatch(says);
});

test.each([
  {
    name: "a zone of elsewhere",
    items: [{ key: "topology.kubernetes.io/zone", operator: "In", values: ["z9"] }],
    wish: "topology.kubernetes.io/zone In [z9]",
  },
  {
    name: "a zone in which nothing is to be had",
    items: [{ key: "topology.kubernetes.io/zone", operator: "In", values: ["z2"] }],
    wish: "topology.kubernetes.io/zone In [z2]",
  },
  {
    name: "a label that no type may have",
    items: [{ key: "kubernetes.io/arch", operator: "DoesNotExist" }],
    wish: "kubernetes.io/arch DoesNotExist",
  },
])("an empty pool: $name", ({ items, wish }) => {
  expect(hints({ emptyPools: [pool({ key: "kubernetes.io/arch", operator: "In", values: ["amd64"] }, ...items)] })).toEqual([
    `NodePool p: no instance type of the catalogue is to be had with ${wish}; for types of elsewhere give --catalog FILE`,
  ]);
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
