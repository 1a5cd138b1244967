import { Ec2NodeClasses, type NodePool } from "@joinery/api";
import { describe, expect, test } from "vitest";
import { choosePools } from "./usable-pools.ts";

interface Case {
  readonly name: string;
  readonly pool?: object;
  readonly spec?: object;
  readonly nodeClass?: object;
  readonly wholeKinds?: ReadonlySet<string>;
  readonly fault?: string;
  /** undefined: the pool is used. */
  readonly message: RegExp | undefined;
}

const ready = (status: string, more: object = {}) => ({ status: { conditions: [{ type: "Ready", status, ...more }] } });

const cases: readonly Case[] = [
  { name: "without status it counts as ready", message: undefined },
  { name: "Ready True", pool: ready("True"), message: undefined },
  { name: "Ready False", pool: ready("False", { reason: "R", message: "m" }), message: /^its condition Ready is False \(R, m\)$/ },
  { name: "Ready Unknown", pool: ready("Unknown"), message: /^its condition Ready is Unknown$/ },
  { name: "S-59: being deleted", pool: { metadata: { name: "p", deletionTimestamp: "2026-01-01T00:00:00Z" } }, message: /being deleted/ },
  { name: "S-59: static", spec: { replicas: 2 }, message: /static/ },
  { name: "a node class that is not in the input counts as ready", message: undefined },
  {
    name: "of a cluster that has been asked for all its node classes, it does not",
    wholeKinds: new Set(["EC2NodeClass"]),
    message: /^the cluster has no EC2NodeClass default$/,
  },
  { name: "a node class of another kind that was asked for", wholeKinds: new Set(["KWOKNodeClass"]), message: undefined },
  { name: "a node class without status", nodeClass: {}, message: undefined },
  {
    name: "a node class that is not ready",
    nodeClass: ready("False"),
    message: /^the condition Ready of its EC2NodeClass default is False$/,
  },
  { name: "invalid at run time", fault: "spec.weight: too heavy", message: /^spec\.weight: too heavy$/ },
];

function aPool({ pool = {}, spec = {} }: Case): NodePool {
  const nodeClassRef = { group: "karpenter.k8s.aws", kind: "EC2NodeClass", name: "default" };
  return {
    metadata: { name: "p" },
    spec: { template: { spec: { nodeClassRef, requirements: [] } }, ...spec },
    ...pool,
  } as unknown as NodePool;
}

describe("which pools a plan uses", () => {
  test.each(cases)("$name", (one) => {
    const { usable, skipped } = choosePools({
      nodePools: [aPool(one)],
      nodeClassKinds: [Ec2NodeClasses],
      findNodeClass: () => one.nodeClass,
      ...(one.wholeKinds && { wholeKinds: one.wholeKinds }),
      faultOf: () => one.fault,
    });
    expect(usable).toHaveLength(one.message === undefined ? 1 : 0);
    expect(skipped).toEqual(
      one.message === undefined ? [] : [{ kind: "node-pool-not-ready", nodePool: "p", message: expect.stringMatching(one.message) }],
    );
  });

  test("S-59: pools of another provider are not used", () => {
    const { skipped } = choosePools({
      nodePools: [aPool(cases[0]!)],
      nodeClassKinds: [],
      findNodeClass: () => undefined,
      faultOf: () => undefined,
    });
    expect(skipped[0]?.message).toMatch(/EC2NodeClass of karpenter\.k8s\.aws/);
  });
});
