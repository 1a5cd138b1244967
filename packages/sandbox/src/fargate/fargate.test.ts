/** Fargate's rules without a cluster: selectors, sizes, checks of profiles, admission. */
import { expect, test } from "vitest";
import { matchesWildcard } from "../wildcard.ts";
import { aPod, type PodWish } from "../world/builders.ts";
import { admitFargatePod } from "./admission.ts";
import { refusalOf } from "./profiles.ts";
import { type FargateSelector, matchesProfile } from "./selectors.ts";
import { capacityText, fargateSize } from "./size.ts";
import { unsupportedReason } from "./support.ts";

interface SelectorRow {
  readonly rule: string;
  readonly selector: FargateSelector;
  readonly pod: PodWish;
  readonly takes: boolean;
}

test.each<SelectorRow>([
  { rule: "F-17", selector: { namespace: "karpenter" }, pod: { namespace: "karpenter" }, takes: true },
  { rule: "F-17", selector: { namespace: "karpenter" }, pod: { namespace: "karpenter-2" }, takes: false },
  {
    rule: "F-19",
    selector: { namespace: "karp*", labels: { app: "k?" } },
    pod: { namespace: "karpenter", labels: { app: "k1" } },
    takes: true,
  },
  {
    rule: "F-19",
    selector: { namespace: "karp*", labels: { app: "k?" } },
    pod: { namespace: "karpenter", labels: { app: "k12" } },
    takes: false,
  },
  { rule: "F-18", selector: { namespace: "karp*", labels: { app: "k?" } }, pod: { namespace: "karpenter" }, takes: false },
  {
    rule: "F-18",
    selector: { namespace: "a", labels: { one: "1", two: "2" } },
    pod: { namespace: "a", labels: { one: "1" } },
    takes: false,
  },
])("$rule: $selector.namespace takes $pod.namespace: $takes", ({ selector, pod, takes }) => {
  expect(matchesProfile(aPod(pod), { name: "p", selectors: [selector] })).toBe(takes);
});

test.each([
  ["*", "", true],
  ["?", "", false],
  ["kar*er", "karpenter", true],
  ["a.b", "axb", false],
])("F-19: %s against %j is %s", (pattern, text, matches) => {
  expect(matchesWildcard(pattern, text)).toBe(matches);
});

test.each([
  { rule: "F-55", cpu: "250m", memory: "256Mi", text: "0.25vCPU 0.5GB" },
  { rule: "F-55", cpu: "250m", memory: "257Mi", text: "0.25vCPU 1GB" },
  { rule: "F-55", cpu: "250m", memory: "769Mi", text: "0.25vCPU 2GB" },
  { rule: "F-55", cpu: "250m", memory: "1793Mi", text: "0.5vCPU 3GB" },
  { rule: "F-55", cpu: "300m", memory: "256Mi", text: "0.5vCPU 1GB" },
  { rule: "F-55", cpu: "500m", memory: "1Gi", text: "0.5vCPU 2GB" },
  { rule: "F-55", cpu: "1", memory: "1Gi", text: "1vCPU 2GB" },
  { rule: "F-55", cpu: "1", memory: "8Gi", text: "2vCPU 9GB" },
])("$rule: $cpu and $memory make $text", ({ cpu, memory, text }) => {
  const sizing = fargateSize(aPod({ cpu, memory }));
  expect(sizing.kind === "fits" && capacityText(sizing.size)).toBe(text);
});

test("F-53: the largest init container counts, not the sum", () => {
  const initContainers = [{ name: "init", resources: { requests: { cpu: "500m", memory: "1Gi" } } }];
  const sizing = fargateSize(aPod({ cpu: "100m", memory: "64Mi", spec: { initContainers } }));
  expect(sizing.kind === "fits" && capacityText(sizing.size)).toBe("0.5vCPU 2GB");
});

test("F-57: nothing is big enough for 17 vCPU, and no request is the smallest size", () => {
  expect(fargateSize(aPod({ cpu: "17" })).kind).toBe("too-big");
  expect(fargateSize(aPod({ container: { resources: { requests: { "ephemeral-storage": "176Gi" } } } })).kind).toBe("too-big");
  const sizing = fargateSize(aPod({ container: { resources: {} } }));
  expect(sizing.kind === "fits" && capacityText(sizing.size)).toBe("0.25vCPU 0.5GB");
});

const PROFILE = {
  name: "karpenter",
  podExecutionRoleArn: "arn:aws:iam::111122223333:role/fargate",
  subnetIds: ["subnet-private"],
  selectors: [{ namespace: "karpenter" }],
};
const SUBNETS = [
  { id: "subnet-private", zone: "us-east-1a" },
  { id: "subnet-public", zone: "us-east-1a", isPublic: true },
];

test.each([
  { rule: "F-10", wish: {}, message: undefined },
  { rule: "F-10", wish: { name: "eks-x" }, message: /reserved prefix/ },
  { rule: "F-77", wish: { selectors: "abcdef".split("").map((namespace) => ({ namespace })) }, message: /1 to 5 selectors/ },
  {
    rule: "F-78",
    wish: { selectors: [{ namespace: "a", labels: { a: "", b: "", c: "", d: "", e: "", f: "" } }] },
    message: /5 label pairs/,
  },
  { rule: "F-24", wish: { subnetIds: ["subnet-public"] }, message: /subnet-public.*not a private subnet/ },
  { rule: "F-92", wish: { podExecutionRoleArn: "arn:aws:iam::111122223333:role/team/fargate" }, message: /path "\/"/ },
])("$rule: a profile with $wish", ({ wish, message }) => {
  const refusal = refusalOf({ ...PROFILE, ...wish }, (id) => SUBNETS.find((subnet) => subnet.id === id));
  if (message === undefined) {
    expect(refusal).toBeUndefined();
  } else {
    expect(refusal?.message).toMatch(message);
  }
});

test("F-33, F-35: admission gives the pod to the Fargate scheduler and leaves others as they are", () => {
  const taken = admitFargatePod(aPod({ namespace: "karpenter" }), [PROFILE]);
  expect(taken.spec).toMatchObject({ schedulerName: "fargate-scheduler", priorityClassName: "system-node-critical" });
  expect(taken.metadata?.labels).toEqual({ "eks.amazonaws.com/fargate-profile": "karpenter" });
  const other = aPod({ namespace: "default" });
  expect(admitFargatePod(other, [PROFILE])).toBe(other);
});

test.each([
  { wish: {}, reason: undefined },
  { wish: { spec: { hostNetwork: true } }, reason: /HostNetwork/ },
  { wish: { container: { resources: { limits: { "nvidia.com/gpu": "1" } } } }, reason: /nvidia\.com\/gpu/ },
  { wish: { container: { ports: [{ containerPort: 80, hostPort: 80 }] } }, reason: /HostPort/ },
  { wish: { container: { securityContext: { privileged: true } } as object }, reason: /Privileged/ },
  { wish: { spec: { volumes: [{ name: "v", persistentVolumeClaim: { claimName: "v" } }] } }, reason: /unsupported volume/ },
])("F-83: $wish is refused for $reason", ({ wish, reason }) => {
  if (reason === undefined) {
    expect(unsupportedReason(aPod(wish))).toBeUndefined();
  } else {
    expect(unsupportedReason(aPod(wish))).toMatch(reason);
  }
});
