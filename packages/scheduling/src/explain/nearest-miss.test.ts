import { expect, test } from "vitest";
import { anOffering, aPod, aPool, aProblem, aType, FIXTURE_TYPES, type ProblemWish, pods } from "../testing/builders.ts";
import { editsText } from "./edit.ts";
import { explainPod, type PodExplanation } from "./explainer.ts";

const ARCH = "kubernetes.io/arch";
const dedicated = { key: "dedicated", value: "gpu", effect: "NoSchedule" } as const;

function explained(wish: ProblemWish): Extract<PodExplanation, { kind: "unschedulable" }> {
  const problem = aProblem(wish);
  const answer = explainPod(problem, problem.pods[0]!.key);
  if (answer?.kind !== "unschedulable") throw new Error(`the pod has a place: ${answer?.kind}`);
  return answer;
}

const fixText = ({ fix }: ReturnType<typeof explained>) => fix && editsText(fix.edits);

test("S-114: the nearest pool is the one that the edit opens, not one that comes further and lacks the device", () => {
  const withDevice = aPool({ name: "devices", taints: [dedicated] });
  const without = aPool({ name: "plain", requirements: [{ key: "size", operator: "In", values: ["large"] }] });
  const answer = explained({ pools: [withDevice, without], pods: [aPod({ requests: { cpu: "1", "vendor-a": "1" } })] });
  expect(answer.funnel.map(({ nodePool, stages }) => `${nodePool} ${stages.at(-1)!.stage}`)).toEqual(["plain fit", "devices taints"]);
  expect(answer.nearest).toMatchObject({ nodePool: "devices", stage: "taints" });
  expect(fixText(answer)).toBe("add a toleration for dedicated=gpu:NoSchedule");
});

test("S-60: a pool that the pod does not select is not nearest, even where the edit opens it", () => {
  const full = aPool({ name: "chosen", limits: { cpu: "0" }, requirements: [{ key: ARCH, operator: "In", values: ["amd64"] }] });
  const nodeSelector = { "karpenter.sh/nodepool": "chosen" };
  const answer = explained({ pools: [full, aPool({ name: "other" })], pods: [aPod({ nodeSelector, requests: { cpu: "1" } })] });
  expect(answer.nearest).toMatchObject({ nodePool: "chosen", stage: "limits" });
});

test("S-62, S-101: of the requirements that could be wider, the one that leads to the cheapest type", () => {
  const types = [
    aType({ name: "old-xl", cpu: 8, memory: "8Gi", offerings: [anOffering("on-demand", "z1", 9)] }),
    aType({ name: "new-xl", cpu: 4, memory: "8Gi", offerings: [anOffering("on-demand", "z1", 1)] }),
    aType({ name: "new-2xl", cpu: 8, memory: "8Gi", offerings: [anOffering("on-demand", "z1", 2)] }),
  ].map((type) => {
    const [family = "", size = ""] = type.name.split("-");
    const labels = [
      { key: "special", operator: "In", values: [family] },
      { key: "size", operator: "In", values: [size] },
    ] as const;
    return { ...type, requirements: [...type.requirements.filter(({ key }) => key !== "special" && key !== "size"), ...labels] };
  });
  const requirements = [
    { key: "special", operator: "In", values: ["new"] },
    { key: "size", operator: "In", values: ["xl"] },
  ] as const;
  const answer = explained({ types, pools: [aPool({ requirements: [...requirements] })], pods: [aPod({ requests: { cpu: "6" } })] });
  expect(fixText(answer)).toBe("write size In [xl 2xl] instead of size In [xl] in the requirements of NodePool default");
});

test("S-101: what no instance type has is said so, S-161: a limit of nodes is about nodes alone", () => {
  const unknown = explained({ pods: [aPod({ requests: { cpu: "1", "example.com/fpga": "1" } })] });
  expect(unknown.nearest?.reason).toBe("example.com/fpga: 1 requested, and no instance type of the catalogue has any");
  const other = explained({ types: FIXTURE_TYPES.filter(({ name }) => name === "small"), pods: [aPod({ requests: { cpu: "3" } })] });
  expect(other.nearest?.reason).toBe("cpu: 3 requested, at most 1900m free on any of these types");
  const limited = explained({ pools: [aPool({ limits: { nodes: "0" } })], pods: pods(1) });
  expect(limited.nearest?.reason).toBe("nodes: 0 of 0 used or planned for, 0 left");
});
