import { describe, expect, test } from "vitest";
import { AWS_VOCABULARY, CORE_VOCABULARY, isRestrictedLabel, KWOK_VOCABULARY, normalizeLabel } from "../labels.ts";
import type { NodePool } from "../owned/node-pool.ts";
import { validateEc2NodeClass } from "./ec2-node-class.ts";
import { invalidityMessage } from "./invalidity.ts";
import { validateNodeOverlay } from "./node-overlay.ts";
import { validateNodePool } from "./node-pool.ts";

type TemplateSpec = NodePool["spec"]["template"]["spec"];

function aPool(spec: Partial<TemplateSpec> = {}, labels?: Record<string, string>): NodePool {
  const nodeClassRef = { group: "karpenter.k8s.aws", kind: "EC2NodeClass", name: "default" };
  return { spec: { template: { ...(labels && { metadata: { labels } }), spec: { nodeClassRef, requirements: [], ...spec } } } };
}
const kinds = (pool: NodePool, vocabulary = AWS_VOCABULARY) => validateNodePool(pool, vocabulary).invalid.map(({ kind }) => kind);
const needs = (key: string, operator: string, values?: string[], minValues?: number) =>
  aPool({ requirements: [{ key, operator: operator as "In", values, minValues }] });
const long = `${"a".repeat(250)}.${"b".repeat(60)}/x`;

describe("A-99, A-97: labels", () => {
  test.each([
    ["scenario 14", { "kops.k8s.io/gpu": "1", "kubernetes.io/key": "x", "subdomain.k8s.io": "y" }, []],
    ["a well-known key with any value", { "topology.kubernetes.io/zone": "nowhere" }, []],
    ["scenario 13", { "spaces are not allowed": "x" }, ["invalid-key"]],
    ["scenario 11", { "karpenter.sh/nodepool": "x" }, ["restricted-label"]],
    ["hostname", { "kubernetes.io/hostname": "x" }, ["restricted-label"]],
    ["a textual suffix is fine at run time", { "mykarpenter.sh/x": "y" }, []],
    ["the node class's label", { "karpenter.k8s.aws/ec2nodeclass": "x" }, ["restricted-label"]],
    ["a name part beyond 63", { [`a/${"x".repeat(64)}`]: "x" }, ["invalid-key"]],
    ["a value beyond 63", { a: "x".repeat(64) }, ["invalid-value"]],
  ])("%s", (_, labels, expected) => {
    expect(kinds(aPool({}, labels as Record<string, string>))).toEqual(expected);
  });

  test("A-98: the message is in order, whatever the order of the labels", () => {
    const say = (labels: Record<string, string>) => invalidityMessage(validateNodePool(aPool({}, labels), AWS_VOCABULARY).invalid);
    expect(say({ "b c": "1", "a b": "2" })).toBe(say({ "a b": "2", "b c": "1" }));
    expect(say({ "a b": "/", c: "/" })).toMatch(/labels\[a b\]: key "a b" .*; .*labels.c: value "\/" is not a label value/);
  });
});

describe("A-100: taints", () => {
  const taint = (key: string, effect = "NoSchedule", value?: string) => ({ key, effect: effect as "NoSchedule", value });
  test.each([
    ["same key, other effect", { taints: [taint("a"), taint("a", "NoExecute")] }, []],
    ["scenario 16: the pair in both lists", { taints: [taint("a")], startupTaints: [taint("a")] }, ["duplicate-taint"]],
    ["scenario 15: a prefix with a label of 250", { taints: [taint(long)] }, ["invalid-key"]],
    ["a value may be a qualified name", { taints: [taint("a", "NoSchedule", "a/b")] }, []],
    ["a value beyond 63", { taints: [taint("a", "NoSchedule", "x".repeat(64))] }, ["invalid-value"]],
    ["no effect", { taints: [taint("a", "")] }, []],
    ["an unknown effect", { taints: [taint("a", "Never")] }, ["invalid-effect"]],
  ])("%s", (_, spec, expected) => {
    expect(kinds(aPool(spec))).toEqual(expected);
  });
});

describe("A-101…A-103: requirements", () => {
  test.each([
    ["scenario 24", needs("karpenter.sh/capacity-type", "In", ["xspot"]), ["no-known-value"]],
    ["some known", needs("karpenter.sh/capacity-type", "In", ["on-demand", "xspot"]), []],
    ["fewer known than minValues", needs("karpenter.sh/capacity-type", "In", ["spot", "xspot"], 2), ["no-known-value"]],
    ["NotIn is not checked", needs("karpenter.sh/capacity-type", "NotIn", ["xspot"]), []],
    ["scenario 25: tenancy", needs("karpenter.k8s.aws/instance-tenancy", "In", ["xdedicated"]), ["no-known-value"]],
    ["scenario 25: tenancy, one known", needs("karpenter.k8s.aws/instance-tenancy", "In", ["default", "xdedicated"]), []],
    ["scenario 26: the node class's label", needs("karpenter.k8s.aws/ec2nodeclass", "Exists"), ["restricted-label"]],
    ["X-33: nitro-sandbox", needs("karpenter.k8s.aws/nitro-sandbox", "In", ["true"]), ["restricted-label"]],
    ["A-102", needs("karpenter.sh/nodepool", "Exists"), ["restricted-label"]],
    ["A-28: a bad value", needs("team", "In", ["a b"]), ["invalid-value"]],
    ["In without values", needs("team", "In", []), ["missing-values"]],
    ["In with fewer values than minValues", needs("team", "In", ["a"], 2), ["too-few-values"]],
    ["a bound that is text", needs("team", "Gt", ["a"]), ["invalid-bound"]],
    ["two bounds", needs("team", "Lte", ["1", "2"]), ["invalid-bound"]],
    ["a negative bound", needs("team", "Gt", ["-1"]), ["invalid-value", "invalid-bound"]],
    ["zero", needs("team", "Gte", ["0"]), []],
    ["an old key stands for the new one", needs("beta.kubernetes.io/arch", "In", ["amd64"]), []],
    ["an unknown operator", needs("team", "Near", ["a"]), ["invalid-operator"]],
  ])("%s", (_, pool, expected) => {
    expect(kinds(pool)).toEqual(expected);
  });

  test("A-103: an unknown value beside known ones is a warning", () => {
    expect(validateNodePool(needs("karpenter.sh/capacity-type", "In", ["on-demand", "xspot"]), AWS_VOCABULARY).warnings).toHaveLength(1);
  });
});

test("limits that pass the pattern and are no quantities", () => {
  const pool = aPool();
  expect(kinds({ spec: { ...pool.spec, limits: { cpu: "1e1.5", memory: "1Gi" } } })).toEqual(["invalid-quantity"]);
});

test("A-6: durations without a value", () => {
  expect(kinds(aPool({ expireAfter: "9999999999h", terminationGracePeriod: "9999999999h" }))).toEqual([
    "invalid-duration",
    "invalid-duration",
  ]);
});

test.each([
  ["A-106: a well-known resource", { requirements: [], capacity: { "aws.amazon.com/neuron": 1 } }, ["restricted-resource"]],
  ["A-106: another resource", { requirements: [], capacity: { "smarter-devices/fuse": 1 } }, []],
  ["A-105: NotIn needs values", { requirements: [{ key: "a", operator: "NotIn" as const }] }, ["missing-values"]],
  [
    "A-97: the node class's label",
    { requirements: [{ key: "karpenter.k8s.aws/ec2nodeclass", operator: "Exists" as const }] },
    ["restricted-label"],
  ],
])("NodeOverlay, %s", (_, spec, expected) => {
  expect(validateNodeOverlay({ spec }, AWS_VOCABULARY).invalid.map(({ kind }) => kind)).toEqual(expected);
});

describe("EC2NodeClass", () => {
  const base = { subnetSelectorTerms: [], securityGroupSelectorTerms: [], amiSelectorTerms: [{ alias: "al2023@latest" }] };
  test.each([
    ["A-107: a cluster's tag", { tags: { "kubernetes.io/cluster/demo": "owned" } }, ["restricted-tag"]],
    ["A-107: exact keys", { tags: { "eks:eks-cluster-name": "x", "karpenter.sh/custom": "y" } }, ["restricted-tag"]],
    ["A-73: a second @", { amiSelectorTerms: [{ alias: "al2023@v1@2" }] }, ["invalid-alias"]],
    ["A-70: a bare Ti", { blockDeviceMappings: [{ ebs: { volumeSize: "Ti" } }] }, ["invalid-quantity"]],
    ["nothing", {}, []],
  ])("%s", (_, overrides, expected) => {
    expect(validateEc2NodeClass({ ...base, ...overrides }).invalid.map(({ kind }) => kind)).toEqual(expected);
  });
});

test.each([
  ["karpenter.sh/foo", CORE_VOCABULARY, true],
  ["a.karpenter.sh/foo", CORE_VOCABULARY, true],
  ["mykarpenter.sh/foo", CORE_VOCABULARY, false],
  ["karpenter.sh", CORE_VOCABULARY, false],
  ["karpenter.sh/capacity-type", CORE_VOCABULARY, false],
  ["kubernetes.io/hostname", CORE_VOCABULARY, true],
  ["kubernetes.io/foo", CORE_VOCABULARY, false],
  ["karpenter.k8s.aws/foo", CORE_VOCABULARY, false],
  ["karpenter.k8s.aws/foo", AWS_VOCABULARY, true],
  ["karpenter.k8s.aws/instance-cpu", AWS_VOCABULARY, false],
  ["karpenter.kwok.sh/kwoknodeclass", KWOK_VOCABULARY, true],
  ["karpenter.kwok.sh/instance-cpu", KWOK_VOCABULARY, false],
] as const)("A-95: %s", (key, vocabulary, restricted) => {
  expect(isRestrictedLabel(key, vocabulary)).toBe(restricted);
});

test("A-94: old keys", () => {
  expect(normalizeLabel("beta.kubernetes.io/arch")).toBe("kubernetes.io/arch");
  expect(normalizeLabel("topology.ebs.csi.aws.com/zone")).toBe("topology.kubernetes.io/zone");
  expect(normalizeLabel("topology.ebs.csi.aws.com/zone", CORE_VOCABULARY)).toBe("topology.ebs.csi.aws.com/zone");
  expect(normalizeLabel("toString")).toBe("toString");
});
