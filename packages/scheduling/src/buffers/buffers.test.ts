import type { CapacityBuffer, PodSpec, PodTemplateSpec } from "@joinery/api";
import { expect, test } from "vitest";
import { solve } from "../solve/solve.ts";
import { aNode, aPod, aProblem } from "../testing/builders.ts";
import { bufferCondition, bufferOutcome } from "./buffer-outcome.ts";
import { type BufferSources, resolveBuffer } from "./resolve-buffer.ts";
import { virtualPods } from "./virtual-pods.ts";

const aBuffer = (spec: CapacityBuffer["spec"], name = "b"): CapacityBuffer => ({
  metadata: { name, namespace: "ns", uid: `uid-${name}` },
  spec,
});
const aTemplate = (cpu: string, more: Partial<PodSpec> = {}): PodTemplateSpec => ({
  metadata: { labels: { app: "x" }, annotations: { note: "y" } },
  spec: { containers: [{ name: "c", resources: { requests: { cpu } } }], ...more },
});

const requesting = (name: string, cpu: string) => ({ name, resources: { requests: { cpu } } });

function sources(template: PodTemplateSpec, replicas?: number): BufferSources {
  const workload = { spec: { template, ...(replicas !== undefined && { replicas }) } };
  return {
    findPodTemplate: (_, name) => (name === "pt" ? { metadata: { name, generation: 3 }, template } : undefined),
    findWorkload: (kind, _, name) => (kind === "Deployment" && name === "web" ? workload : undefined),
  };
}

const web = { kind: "Deployment", name: "web" };

test.each([
  { given: "replicas 10, limit 3 cpu", spec: { podTemplateRef: { name: "pt" }, replicas: 10, limits: { cpu: "3" } }, expected: 3 },
  { given: "limits only, 5 cpu", spec: { podTemplateRef: { name: "pt" }, limits: { cpu: "5" } }, expected: 5 },
  { given: "replicas 5 and 80 % of 10", spec: { scalableRef: web, replicas: 5, percentage: 80 }, expected: 8 },
  { given: "the same, limit 4 cpu", spec: { scalableRef: web, replicas: 5, percentage: 80, limits: { cpu: "4" } }, expected: 4 },
  { given: "limits on memory alone", spec: { podTemplateRef: { name: "pt" }, limits: { memory: "1Gi" } }, expected: 0 },
  { given: "scaled to 0, 20 %, limit 5 cpu", spec: { scalableRef: web, percentage: 20, limits: { cpu: "5" } }, workload: 0, expected: 5 },
  { given: "a workload without replicas has one", spec: { scalableRef: web, percentage: 200 }, workload: undefined, expected: 2 },
])("A-61, L-211, L-214, L-258: $given → $expected", ({ spec, expected, ...rest }) => {
  const workload = "workload" in rest ? rest.workload : 10;
  expect(resolveBuffer(aBuffer(spec as CapacityBuffer["spec"]), sources(aTemplate("1"), workload))).toMatchObject({
    kind: "resolved",
    replicas: expected,
  });
});

test.each([
  { rule: "L-207", spec: {}, reason: "ResolutionFailed", isError: false },
  { rule: "L-209", spec: { podTemplateRef: { name: "gone" }, replicas: 1 }, reason: "PodTemplateNotFound", isError: false },
  { rule: "L-209", spec: { scalableRef: { kind: "Deployment", name: "gone" } }, reason: "ScalableRefNotFound", isError: false },
  { rule: "L-209", spec: { scalableRef: { apiGroup: "batch", kind: "Job", name: "j" } }, reason: "ResolutionFailed", isError: true },
  { rule: "L-208", spec: { scalableRef: { apiGroup: "batch", ...web } }, reason: "ResolutionFailed", isError: true },
])("$rule: $reason", ({ spec, reason, isError }) => {
  expect(resolveBuffer(aBuffer(spec), sources(aTemplate("1")))).toMatchObject({ kind: "unresolved", reason, isError });
});

test.each<{ what: string; more: Partial<PodSpec>; expected: number }>([
  { what: "its containers together", more: { containers: [requesting("a", "1"), requesting("b", "1")] }, expected: 6 },
  { what: "an init container that needs more than they", more: { initContainers: [requesting("init", "4")] }, expected: 3 },
  { what: "an init container that needs less", more: { initContainers: [requesting("init", "500m")] }, expected: 12 },
  {
    what: "a sidecar beside them",
    more: { initContainers: [{ ...requesting("sidecar", "2"), restartPolicy: "Always" }] },
    expected: 4,
  },
  {
    what: "a sidecar beside a later init container",
    more: { initContainers: [{ ...requesting("sidecar", "2"), restartPolicy: "Always" }, requesting("init", "4")] },
    expected: 2,
  },
])("L-213: a limit of 12 cores counts what Kubernetes counts of a pod: $what: $expected", ({ more, expected }) => {
  const buffer = aBuffer({ podTemplateRef: { name: "pt" }, limits: { cpu: "12" } });
  expect(resolveBuffer(buffer, sources(aTemplate("1", more)))).toMatchObject({ kind: "resolved", replicas: expected });
});

test("L-208: a pod template is named with its generation", () => {
  expect(resolveBuffer(aBuffer({ podTemplateRef: { name: "pt" }, replicas: 2 }), sources(aTemplate("1")))).toMatchObject({
    podTemplate: { name: "pt", generation: 3 },
  });
});

test("S-201, L-218, L-219: virtual pods have fixed names, labels of the template, and nothing to mount", () => {
  const template = aTemplate("1", {
    nodeName: "n",
    nodeSelector: { zone: "a" },
    tolerations: [{ operator: "Exists" }],
    volumes: [
      { name: "data", persistentVolumeClaim: { claimName: "c" } },
      { name: "scratch", ephemeral: { volumeClaimTemplate: { spec: {} } } },
      { name: "tmp", emptyDir: {} },
    ],
  });
  const pods = virtualPods(aBuffer({}), template, 2);
  expect(pods.map(({ key, uid, buffer }) => [key, uid, buffer])).toEqual([
    ["ns/capacity-buffer-b-1", "uid-b-1", "ns/b"],
    ["ns/capacity-buffer-b-2", "uid-b-2", "ns/b"],
  ]);
  expect(pods[0]!.shape).toBe(pods[1]!.shape);
  expect(pods[0]!.shape).toMatchObject({
    namespace: "ns",
    labels: { app: "x" },
    nodeSelector: { zone: "a" },
    tolerations: [{ operator: "Exists" }],
  });
  expect(pods[0]!.shape).not.toHaveProperty("claimNames");
});

test("S-201: a large virtual pod is placed before a smaller real one, an equal one after it", () => {
  const node = aNode({ name: "n", allocatable: { cpu: "2", memory: "4Gi", pods: 5 } });
  const placed = (cpu: string) => {
    const problem = aProblem({
      pods: [aPod({ name: "real", requests: { cpu: "1" } }), ...virtualPods(aBuffer({}), aTemplate(cpu), 1)],
      nodes: [node],
    });
    return solve(problem).existingNodes[0]!.pods;
  };
  expect(placed("1500m")).toEqual(["ns/capacity-buffer-b-1"]);
  expect(placed("1")).toEqual(["default/real", "ns/capacity-buffer-b-1"]);
  const full = aProblem({
    pods: [...virtualPods(aBuffer({}), aTemplate("2"), 1), aPod({ name: "real", requests: { cpu: "2" }, createdAtMs: Date.UTC(2030, 1) })],
    nodes: [node],
  });
  expect(solve(full).existingNodes[0]!.pods).toEqual(["default/real"]);
});

test("S-202, S-203, L-222, L-224: where the pods of each buffer went", () => {
  const node = aNode({ name: "n", allocatable: { cpu: "3", memory: "4Gi", pods: 5 } });
  const other = aNode({ name: "o", allocatable: { cpu: "500m", memory: "4Gi", pods: 5 } });
  const pods = [
    ...virtualPods(aBuffer({}, "a"), aTemplate("1"), 3),
    ...virtualPods(aBuffer({}, "small"), aTemplate("500m"), 1),
    ...virtualPods(aBuffer({}, "huge"), aTemplate("600"), 1),
    aPod({ name: "real", requests: { cpu: "1" } }),
  ];
  const { places, podsByNode, nodesWithRealPods } = bufferOutcome(pods, solve(aProblem({ pods, nodes: [node, other] })));
  expect(Object.fromEntries(places)).toEqual({
    "ns/a": { onExisting: 2, onNew: 1, failed: 0 },
    "ns/small": { onExisting: 1, onNew: 0, failed: 0 },
    "ns/huge": { onExisting: 0, onNew: 0, failed: 1 },
  });
  expect(Object.fromEntries(podsByNode)).toEqual({ n: 2, o: 1 });
  expect([...nodesWithRealPods]).toEqual(["n"]);
  expect(bufferCondition(true, 3, places.get("ns/a"))).toMatchObject({
    reason: "RequiresNewCapacity",
    message: "1/3 virtual pods required new capacity, 0 failed",
  });
  expect(bufferCondition(true, 1, places.get("ns/small"))).toMatchObject({ status: "True", reason: "FitsExistingCapacity" });
});

test.each([
  { given: [false, 3, undefined] as const, reason: "NotReadyForProvisioning" },
  { given: [true, undefined, undefined] as const, reason: "BufferEmpty" },
  { given: [true, 0, undefined] as const, reason: "BufferEmpty" },
  { given: [true, 2, undefined] as const, reason: undefined },
  { given: [true, 2, { onExisting: 1, onNew: 0, failed: 0 }] as const, reason: undefined },
  { given: [true, 2, { onExisting: 1, onNew: 0, failed: 1 }] as const, reason: "RequiresNewCapacity" },
])("S-203: $given → $reason", ({ given: [isReady, replicas, places], reason }) => {
  expect(bufferCondition(isReady, replicas, places)?.reason).toBe(reason);
});
