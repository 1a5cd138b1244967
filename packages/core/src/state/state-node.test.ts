/** What of a Node and what of its NodeClaim counts, at each step of a life. */
import type { Node, NodeClaim, Taint } from "@joinery/api";
import { describe, expect, test } from "vitest";
import { nodeRecord } from "./node-record.ts";
import { allocatableOf, capacityOf, hostnameOf, isInitialized, labelsOf, nameOf, type StateNode, taintsOf } from "./state-node.ts";

const REGISTERED = { "karpenter.sh/registered": "true" };
const INITIALIZED = { ...REGISTERED, "karpenter.sh/initialized": "true" };
type Amounts = Readonly<Record<string, string>>;

interface Wish {
  /** Labels of the Node; no Node when absent. */
  readonly node?: Readonly<Record<string, string>>;
  readonly nodeTaints?: readonly Taint[];
  readonly nodeAmounts?: Amounts;
  /** Labels of the NodeClaim; no NodeClaim when absent. */
  readonly claim?: Readonly<Record<string, string>>;
  readonly claimSpec?: Partial<NodeClaim["spec"]>;
  readonly claimAmounts?: Amounts;
  readonly conditions?: NonNullable<NodeClaim["status"]>["conditions"];
}

function stateOf({ node, nodeTaints, nodeAmounts, claim, claimSpec, claimAmounts, conditions }: Wish): StateNode {
  const made: Node = {
    metadata: { name: "node", labels: node },
    spec: { taints: nodeTaints },
    status: { capacity: nodeAmounts, allocatable: nodeAmounts },
  };
  const claimed: NodeClaim = {
    metadata: { name: "claim", labels: claim },
    spec: { nodeClassRef: { group: "g", kind: "K", name: "n" }, requirements: [], ...claimSpec },
    status: { capacity: claimAmounts, allocatable: claimAmounts, conditions },
  };
  return { key: "p", ...(node && { node: nodeRecord(made) }), ...(claim && { claim: claimed }) };
}

test.each<{ rule: string; wish: Wish; name: string; isInitialized: boolean }>([
  {
    rule: "L-41, L-42, L-43: a Node of nobody is registered and initialized, and speaks",
    wish: { node: {} },
    name: "node",
    isInitialized: true,
  },
  { rule: "L-43: without a Node the NodeClaim speaks", wish: { claim: {} }, name: "claim", isInitialized: false },
  { rule: "L-41, L-43: so it does until the Node is registered", wish: { node: {}, claim: {} }, name: "claim", isInitialized: false },
  {
    rule: "L-41: any other value than true is no registration",
    wish: { node: { "karpenter.sh/registered": "yes" }, claim: {} },
    name: "claim",
    isInitialized: false,
  },
  { rule: "L-41, L-42, L-43: registered, not initialized", wish: { node: REGISTERED, claim: {} }, name: "node", isInitialized: false },
  { rule: "L-42: initialized", wish: { node: INITIALIZED, claim: {} }, name: "node", isInitialized: true },
  { rule: "L-42: labels of the NodeClaim do not make it so", wish: { node: {}, claim: INITIALIZED }, name: "claim", isInitialized: false },
])("$rule", ({ wish, name, isInitialized: wanted }) => {
  const state = stateOf(wish);
  expect([nameOf(state), isInitialized(state)]).toEqual([name, wanted]);
  expect(labelsOf(state)).toEqual((name === "node" ? wish.node : wish.claim) ?? {});
});

test.each<{ rule: string; labels: Record<string, string>; name: string }>([
  { rule: "its label", labels: { "kubernetes.io/hostname": "host" }, name: "host" },
  { rule: "without one its name", labels: {}, name: "node" },
  { rule: "with an empty one too", labels: { "kubernetes.io/hostname": "" }, name: "node" },
])("L-44: the host's name is $rule", ({ labels, name }) => {
  expect(hostnameOf(stateOf({ node: labels }))).toBe(name);
});

const taint = (key: string, effect: Taint["effect"] = "NoSchedule"): Taint => ({ key, effect });
const OWN = taint("team");
const STARTUP = taint("agent");

describe("taints", () => {
  const EPHEMERAL: readonly Taint[] = [
    taint("node.kubernetes.io/not-ready"),
    taint("node.kubernetes.io/not-ready", "NoExecute"),
    taint("node.kubernetes.io/unreachable"),
    taint("node.cloudprovider.kubernetes.io/uninitialized"),
    taint("karpenter.sh/unregistered", "NoExecute"),
    taint("readiness.k8s.io/network"),
    taint("readiness.k8s.io/storage", "NoExecute"),
  ];
  const claimSpec = { taints: [OWN], startupTaints: [STARTUP] };

  test.each(EPHEMERAL)("L-46: $key:$effect passes while a node comes up, and counts afterwards and on Nodes of nobody", (passing) => {
    const nodeTaints = [OWN, passing];
    expect(taintsOf(stateOf({ node: REGISTERED, claim: {}, nodeTaints }))).toEqual([OWN]);
    expect(taintsOf(stateOf({ node: INITIALIZED, claim: {}, nodeTaints }))).toEqual(nodeTaints);
    expect(taintsOf(stateOf({ node: {}, nodeTaints }))).toEqual(nodeTaints);
  });

  test.each([
    taint("node.kubernetes.io/unreachable", "NoExecute"),
    taint("karpenter.sh/unregistered"),
    taint("node.kubernetes.io/disk-pressure"),
    taint("x-readiness.k8s.io/network"),
  ])("L-46: $key:$effect is none of them", (staying) => {
    expect(taintsOf(stateOf({ node: REGISTERED, claim: {}, nodeTaints: [staying] }))).toEqual([staying]);
  });

  test.each<{ what: string; wish: Wish; taints: readonly Taint[] }>([
    { what: "without a Node the NodeClaim's", wish: { claim: {}, claimSpec }, taints: [OWN] },
    {
      what: "also while the Node is not registered",
      wish: { node: {}, claim: {}, claimSpec, nodeTaints: [taint("other")] },
      taints: [OWN],
    },
    {
      what: "then the Node's, without startup taints",
      wish: { node: REGISTERED, claim: {}, claimSpec, nodeTaints: [OWN, STARTUP] },
      taints: [OWN],
    },
    {
      what: "a startup taint with another effect stays",
      wish: { node: REGISTERED, claim: {}, claimSpec, nodeTaints: [taint("agent", "NoExecute")] },
      taints: [taint("agent", "NoExecute")],
    },
    {
      what: "after initialization all of them",
      wish: { node: INITIALIZED, claim: {}, claimSpec, nodeTaints: [OWN, STARTUP] },
      taints: [OWN, STARTUP],
    },
  ])("L-45: $what", ({ wish, taints }) => {
    expect(taintsOf(stateOf(wish))).toEqual(taints);
  });

  const rebooting = (status: "True" | "False") => [
    { type: "Rebooting", status, reason: "r", message: "", lastTransitionTime: "2026-01-01T00:00:00Z" },
  ];

  test.each([
    { conditions: rebooting("True"), taints: [OWN] },
    { conditions: rebooting("False"), taints: [OWN, taint("karpenter.sh/rebooting"), taint("node.kubernetes.io/not-ready")] },
  ])("V-8: Rebooting $conditions.0.status: $taints.length taint(s) keep pods away", ({ conditions, taints }) => {
    const nodeTaints = [OWN, taint("karpenter.sh/rebooting"), taint("node.kubernetes.io/not-ready")];
    expect(taintsOf(stateOf({ node: INITIALIZED, claim: {}, nodeTaints, conditions }))).toEqual(taints);
  });
});

test.each<{ what: string; wish: Wish; amounts: Readonly<Record<string, number>> }>([
  { what: "without a Node the NodeClaim's", wish: { claim: {}, claimAmounts: { cpu: "4" } }, amounts: { cpu: 4000 } },
  {
    what: "while it comes up the Node's, and where that has none or zero the NodeClaim's",
    wish: { node: REGISTERED, claim: {}, nodeAmounts: { cpu: "3900m", gpu: "0" }, claimAmounts: { cpu: "4", gpu: "2", fpga: "1" } },
    amounts: { cpu: 3900, gpu: 2, fpga: 1 },
  },
  {
    what: "afterwards the Node's alone",
    wish: { node: INITIALIZED, claim: {}, nodeAmounts: { cpu: "3900m", gpu: "0" }, claimAmounts: { cpu: "4", gpu: "2", fpga: "1" } },
    amounts: { cpu: 3900, gpu: 0 },
  },
  { what: "of nobody's the Node's", wish: { node: {}, nodeAmounts: { cpu: "1" } }, amounts: { cpu: 1000 } },
])("L-47, L-48: capacity and what pods may have of it: $what", ({ wish, amounts }) => {
  expect(capacityOf(stateOf(wish))).toEqual({ ...amounts, nodes: 1 });
  expect(allocatableOf(stateOf(wish))).toEqual(amounts);
});
