import { readdir, readFile } from "node:fs/promises";
import { describe, expect, test } from "vitest";
import { checkDefinition } from "../schema/definition.ts";
import { crdOf, OWNED_KINDS } from "./definitions.ts";
import { CapacityBuffers, Ec2NodeClasses, KwokNodeClasses, NodeClaims, NodeOverlays, NodePools } from "./kinds.ts";
import { crdFiles } from "./render.ts";

const GENERATED = new URL("../../../../charts/joinery-crd/templates/", import.meta.url);

test("law 1: the generated files are those of the schemas", async () => {
  const files = crdFiles();
  expect((await readdir(GENERATED)).filter((name) => name.endsWith(".yaml")).sort()).toEqual([...files.keys()].sort());
  for (const [name, text] of files) expect(await readFile(new URL(name, GENERATED), "utf8"), `${name}: run npm run generate`).toBe(text);
});

describe("section 1: addresses", () => {
  test.each([
    [NodePools, "nodepools.karpenter.sh", "Cluster", "karpenter", undefined],
    [NodeClaims, "nodeclaims.karpenter.sh", "Cluster", "karpenter", undefined],
    [CapacityBuffers, "capacitybuffers.autoscaling.x-k8s.io", "Namespaced", "autoscaling", ["cb"]],
    [Ec2NodeClasses, "ec2nodeclasses.karpenter.k8s.aws", "Cluster", "karpenter", ["ec2nc", "ec2ncs"]],
  ])("%o", (kind, name, scope, category, shortNames) => {
    const { metadata, spec } = crdOf(kind);
    expect(metadata?.name).toBe(name);
    expect(spec.scope).toBe(scope);
    expect(spec.names).toMatchObject({ categories: [category], listKind: `${kind.kind}List`, singular: kind.kind.toLowerCase() });
    expect(spec.names.shortNames).toEqual(shortNames);
  });

  test("A-2: a NodePool can be scaled", () => {
    expect(crdOf(NodePools).spec.versions[0]?.subresources?.scale).toEqual({
      specReplicasPath: ".spec.replicas",
      statusReplicasPath: ".status.nodes",
    });
  });

  test.each([
    [NodePools, ["NodeClass", "Nodes", "Ready", "Age", "Weight*", "CPU*", "Memory*"]],
    [NodeClaims, ["Type", "Capacity", "Zone", "Node", "Ready", "Age", "ImageID*", "ID*", "NodePool*", "NodeClass*", "Drifted*"]],
    [NodeOverlays, ["Ready", "Age", "Weight*"]],
    [CapacityBuffers, ["Strategy", "PodTemplate", "Replicas", "ConditionsType", "ConditionsStatus", "ConditionsReason", "Age"]],
    [Ec2NodeClasses, ["Ready", "Age", "Role*"]],
    [KwokNodeClasses, []],
  ])("section 1: columns of $kind", (kind, columns) => {
    const shown = crdOf(kind).spec.versions[0]?.additionalPrinterColumns ?? [];
    expect(shown.map(({ name, priority = 0 }) => `${name}${"*".repeat(priority)}`)).toEqual(columns);
  });
});

test.each(OWNED_KINDS)("a server would take the definition of $kind", (kind) => {
  expect(checkDefinition(crdOf(kind))).toEqual([]);
});

test("other kinds have none", () => {
  expect(() => crdOf({ ...NodePools })).toThrow(/no kind of Joinery's/);
});
