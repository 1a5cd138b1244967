/** What our schemas say to the cases that a real API server and the sandbox's are asked too, and to what those do not know. */
import { describe, expect, test } from "vitest";
import { formatIssue } from "../schema/issue.ts";
import { CORE_CASES } from "./admission-cases.test-support.ts";
import { NODE_CLASS_CASES } from "./admission-cases-ec2.test-support.ts";
import { aNodePool, aPoolOf } from "./examples.ts";
import { NodePools } from "./kinds.ts";
import type { NodePool } from "./node-pool.ts";
import { admitted, validateManifest } from "./validate-manifest.ts";

const verdict = (object: object, old?: object) => validateManifest(object, { old }).map(formatIssue);
const accepts = (object: object) => expect(verdict(object)).toEqual([]);
const refuses = (object: object, message: RegExp) => expect(verdict(object).join("\n")).toMatch(message);

test.each([...CORE_CASES, ...NODE_CLASS_CASES])("$title", ({ object, old, refusal }) => {
  if (refusal === undefined) expect(verdict(object, old)).toEqual([]);
  else expect(verdict(object, old).join("\n")).toMatch(refusal);
});

test("scenario 1, A-8, XT-36: defaults", () => {
  const minimal = aPoolOf({ requirements: [{ key: "topology.kubernetes.io/zone", operator: "Exists" }] }) as NodePool;
  const { spec } = admitted(NodePools, minimal);
  expect(spec.template.spec.expireAfter).toBe("720h");
  expect(spec.disruption).toEqual({ consolidateAfter: "0s", consolidationPolicy: "WhenEmptyOrUnderutilized", budgets: [{ nodes: "10%" }] });
  const partly = admitted(NodePools, aNodePool({ disruption: { consolidationPolicy: "WhenEmpty", budgets: [{}] } }) as NodePool);
  expect(partly.spec.disruption).toEqual({ consolidateAfter: "0s", consolidationPolicy: "WhenEmpty", budgets: [{ nodes: "10%" }] });
  expect(admitted(NodePools, aNodePool({ disruption: { budgets: [] } }) as NodePool).spec.disruption?.budgets).toEqual([]);
  expect(minimal.spec.disruption).toBeUndefined();
});

test("scenario 3, A-5: the text stays", () => {
  const pool = admitted(NodePools, aNodePool({ disruption: { consolidateAfter: "60m" } }) as NodePool);
  expect(pool.spec.disruption?.consolidateAfter).toBe("60m");
});

describe("strangers", () => {
  test.each([
    [{ apiVersion: "karpenter.sh/v1beta1", kind: "NodePool" }, /served as karpenter.sh\/v1 only/],
    [{ apiVersion: "karpenter.k8s.aws/v1beta1", kind: "EC2NodeClass" }, /served as karpenter.k8s.aws\/v1 only/],
    [{ apiVersion: "karpenter.sh/v1alpha5", kind: "Provisioner" }, /replaced by NodePool in karpenter.sh\/v1/],
    [{ apiVersion: "karpenter.k8s.aws/v1alpha1", kind: "AWSNodeTemplate" }, /replaced by EC2NodeClass/],
    [{ apiVersion: "karpenter.sh/v1", kind: "EC2NodeClass" }, /served as karpenter.k8s.aws\/v1 only/],
    [{ apiVersion: "karpenter.sh/v1", kind: "Nodepool" }, /no matches for kind "Nodepool"/],
  ])("%o", (object, message) => {
    refuses(object, message);
  });
  test.each([
    { apiVersion: "v1", kind: "Pod" },
    { apiVersion: "autoscaling.x-k8s.io/v1alpha1", kind: "ProvisioningRequest" },
    { kind: "NodePool" },
    null,
    [],
  ])("not ours: %o", (object) => {
    expect(validateManifest(object)).toEqual([]);
  });
  test("unknown fields, and metadata", () => {
    refuses(aNodePool({ foo: 1 }), /unknown field "spec.foo"/);
    refuses(aPoolOf({}, { name: "x" }), /unknown field "spec.template.metadata.name"/);
    refuses({ ...aNodePool(), metadata: { name: "Bad_Name" } }, /metadata.name: Invalid value/);
    refuses({ ...aNodePool(), metadata: {} }, /metadata.name: Required value/);
    refuses({ ...aNodePool(), metadata: { name: "x", labels: { "a b": "c" } } }, /metadata.labels\[a b\]/);
    accepts({ ...aNodePool(), metadata: { generateName: "x-" }, status: { nodes: "ignored" } });
  });
});
