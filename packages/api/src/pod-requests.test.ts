import { describe, expect, test } from "vitest";
import type { Container, Pod, PodSpec, PodStatus } from "./kubernetes/pod.ts";
import { podLimits, podRequests, withDefaultedRequests } from "./pod-requests.ts";

const container = (name: string, cpu: string | undefined, more: Partial<Container> = {}): Container => ({
  name,
  ...(cpu !== undefined && { resources: { requests: { cpu } } }),
  ...more,
});
const sidecar = (name: string, cpu: string) => container(name, cpu, { restartPolicy: "Always" });
const aPod = (spec: Partial<PodSpec>, status?: PodStatus): Pod => ({ spec: { containers: [], ...spec }, ...(status && { status }) });

describe("S-47, S-48: effective requests", () => {
  test.each([
    ["containers add up", { containers: [container("a", "1"), container("b", "500m")] }, 1500],
    ["no requests", { containers: [container("a", undefined)] }, undefined],
    [
      "the example: max(2+3, 4) + 5",
      { containers: [container("a", "2")], initContainers: [container("i", "4"), sidecar("s", "3")], overhead: { cpu: "5" } },
      10_000,
    ],
    [
      "a sidecar runs beside a later init container",
      { containers: [container("a", "1")], initContainers: [sidecar("s", "3"), container("i", "4")] },
      7000,
    ],
    ["pod-level requests replace the sum", { containers: [container("a", "2")], resources: { requests: { cpu: "1" } } }, 1000],
  ])("%s", (_, spec, cpu) => {
    expect(podRequests(aPod(spec))).toEqual({ ...(cpu !== undefined && { cpu }), pods: 1 });
  });

  test("pod-level requests count for cpu, memory and hugepages only", () => {
    const resources = { requests: { "nvidia.com/gpu": "1", memory: "1Gi" } };
    expect(podRequests(aPod({ containers: [container("a", "1")], resources }))).toEqual({ cpu: 1000, memory: 2 ** 30, pods: 1 });
  });

  test("resizing: what the node granted counts, and what is wished unless infeasible", () => {
    const status: PodStatus = {
      containerStatuses: [{ name: "a", resources: { requests: { cpu: "3" } }, allocatedResources: { cpu: "2" } }],
    };
    const infeasible: PodStatus = { ...status, conditions: [{ type: "PodResizePending", status: "True", reason: "Infeasible" }] };
    const containers = [container("a", "4")];
    expect(podRequests(aPod({ containers }, status)).cpu).toBe(4000);
    expect(podRequests(aPod({ containers }, infeasible)).cpu).toBe(3000);
  });
});

test("S-51: limits stand in for requests that a template does not have", () => {
  const containers = [{ name: "a", resources: { limits: { memory: "10000Gi", cpu: "2" }, requests: { cpu: "1" } } }];
  expect(withDefaultedRequests({ containers }).containers[0]?.resources?.requests).toEqual({ memory: "10000Gi", cpu: "1" });
});

test.each([
  { what: "stands in where no container asks", containers: [container("a", undefined)], cpu: 2000 },
  { what: "does not where one does", containers: [container("a", "1")], cpu: 1000 },
])("S-51, S-47: a limit of the whole pod $what", ({ containers, cpu }) => {
  const spec = withDefaultedRequests({ containers, resources: { limits: { cpu: "2", "example.com/x": "1" } } });
  expect(podRequests({ spec })).toEqual({ cpu, pods: 1 });
});

test("S-47: a sidecar that was resized counts as the node granted it, overhead comes on top of pod-level requests", () => {
  const status: PodStatus = { initContainerStatuses: [{ name: "s", resources: { requests: { cpu: "2" } } }] };
  expect(podRequests(aPod({ containers: [container("a", "1")], initContainers: [sidecar("s", "1")] }, status)).cpu).toBe(3000);
  const spec = { containers: [container("a", "1")], resources: { requests: { cpu: "4" } }, overhead: { cpu: "250m", memory: "1Mi" } };
  expect(podRequests(aPod(spec))).toEqual({ cpu: 4250, memory: 2 ** 20, pods: 1 });
});

describe("L-30: limits", () => {
  const limited = (name: string, cpu: string, more: object = {}) => ({ name, resources: { limits: { cpu } }, ...more });

  test.each([
    { what: "of containers, summed", spec: { containers: [limited("a", "1"), limited("b", "500m")] }, cpu: 1500 },
    { what: "of none", spec: { containers: [{ name: "a" }] }, cpu: undefined },
    {
      what: "of an init container that has more",
      spec: { containers: [limited("a", "1")], initContainers: [limited("i", "3")] },
      cpu: 3000,
    },
    {
      what: "of a sidecar besides",
      spec: { containers: [limited("a", "1")], initContainers: [limited("s", "2", { restartPolicy: "Always" })] },
      cpu: 3000,
    },
    { what: "of the pod as a whole", spec: { containers: [limited("a", "1")], resources: { limits: { cpu: "4" } } }, cpu: 4000 },
    { what: "with overhead", spec: { containers: [limited("a", "1")], overhead: { cpu: "250m", memory: "1Gi" } }, cpu: 1250 },
  ])("$what", ({ spec, cpu }) => {
    expect(podLimits({ spec } as Pod)).toEqual(cpu === undefined ? {} : { cpu });
  });
});
