import type { Pod } from "@joinery/api";
import { describe, expect, test } from "vitest";
import { sentences } from "../sentence.ts";
import { type PodWish, podObject } from "../testing/builders.ts";
import { createShapeInterner, shapeOf } from "./pod-shape.ts";
import { isPlaceable, isProvisionable } from "./provisionable.ts";
import { validatePodForScheduling } from "./validate-pod.ts";

const podOf = (wish: PodWish = {}): Pod => podObject(wish, "p");
const condition = (reason: string) => ({ type: "PodScheduled", status: "False", reason }) as const;

describe("L-140: provisionable", () => {
  const owner = (apiVersion: string, kind: string) => ({ apiVersion, kind, name: "o", uid: "o" });
  const pending = (more: Partial<Pod> = {}): Pod => ({ ...podOf(), status: { conditions: [condition("Unschedulable")] }, ...more });
  test.each<{ rule: string; pod: Pod; verdict: boolean }>([
    { rule: "T2 S-11 unschedulable", pod: pending(), verdict: true },
    { rule: "T2 S-13 gated", pod: { ...podOf(), status: { conditions: [condition("SchedulingGated")] } }, verdict: false },
    {
      rule: "T2 S-11 nominated",
      pod: pending({ status: { nominatedNodeName: "n", conditions: [condition("Unschedulable")] } }),
      verdict: false,
    },
    { rule: "T2 S-11 of a DaemonSet", pod: pending({ metadata: { ownerReferences: [owner("apps/v1", "DaemonSet")] } }), verdict: false },
    { rule: "T2 S-11 of a Node", pod: pending({ metadata: { ownerReferences: [owner("v1", "Node")] } }), verdict: false },
    { rule: "S-11 of a ReplicaSet", pod: pending({ metadata: { ownerReferences: [owner("apps/v1", "ReplicaSet")] } }), verdict: true },
    { rule: "S-11 bound", pod: pending({ spec: { ...podOf().spec, nodeName: "n" } }), verdict: false },
    {
      rule: "S-12 Fargate's reason",
      pod: { ...podOf(), status: { conditions: [condition("MATCH_NODE_SELECTOR_FAILED")] } },
      verdict: false,
    },
    { rule: "S-12 another scheduler", pod: pending({ spec: { ...podOf().spec, schedulerName: "foo" } }), verdict: true },
  ])("$rule: $verdict", ({ pod, verdict }) => {
    expect(isProvisionable(pod)).toBe(verdict);
  });

  test("a pod in a file needs no condition, but must not have ended", () => {
    expect(isPlaceable(podOf())).toBe(true);
    expect(isPlaceable({ ...podOf(), status: { phase: "Succeeded" } })).toBe(false);
    expect(isPlaceable(podOf({ spec: { schedulingGates: [{ name: "g" }] } }))).toBe(false);
  });
});

describe("shapes", () => {
  test("equal pods share one object, whatever the order of their maps", () => {
    const { intern } = createShapeInterner();
    const one = intern(shapeOf(podOf({ labels: { a: "1", b: "2" }, requests: { cpu: "1", memory: "1Gi" } })));
    const other = intern(shapeOf(podOf({ labels: { b: "2", a: "1" }, requests: { memory: "1024Mi", cpu: "1000m" } })));
    expect(other).toBe(one);
    expect(intern(shapeOf(podOf({ labels: { a: "1" } })))).not.toBe(one);
  });

  test("S-119: in the host's network all ports of a container are the host's", () => {
    const ports = [{ containerPort: 9100 }, { containerPort: 80, hostPort: 80, protocol: "UDP" as const }];
    const spec = { hostNetwork: true, containers: [{ name: "c", ports }] };
    expect(shapeOf(podOf({ spec })).hostPorts?.map(({ port, protocol }) => `${port}/${protocol}`)).toEqual(["9100/TCP", "80/UDP"]);
    expect(shapeOf(podOf({ spec: { ...spec, hostNetwork: false } })).hostPorts?.map(({ port }) => port)).toEqual([80]);
  });

  test("S-119: host ports of containers, 0.0.0.0 and TCP by default; S-22: claims by their names", () => {
    const shape = shapeOf(
      podOf({
        spec: {
          containers: [{ name: "c", ports: [{ containerPort: 80, hostPort: 8080 }, { containerPort: 81 }] }],
          initContainers: [{ name: "i", ports: [{ containerPort: 1, hostPort: 1 }] }],
          volumes: [
            { name: "data", persistentVolumeClaim: { claimName: "claim" } },
            { name: "tmp", ephemeral: {} },
            { name: "e", emptyDir: {} },
          ],
        },
      }),
    );
    expect(shape.hostPorts).toEqual([{ port: 8080, ip: "0.0.0.0", protocol: "TCP" }]);
    expect(shape.claimNames).toEqual(["claim", "p-tmp"]);
  });
});

describe("validation", () => {
  const term = (key: string, operator: string, ...values: string[]): PodWish => ({
    terms: [[{ key, operator: operator as "In", values }]],
  });
  const ZONE = "topology.kubernetes.io/zone";
  test.each<{ rule: string; wish: PodWish; kinds: readonly string[] }>([
    { rule: "T7 S-20 hostname", wish: { nodeSelector: { "kubernetes.io/hostname": "red" } }, kinds: ["restricted-label"] },
    { rule: "T7 S-21 restricted domain", wish: term("karpenter.sh/test", "In", "x"), kinds: ["restricted-label"] },
    { rule: "S-21 below a restricted domain", wish: term("sub.karpenter.sh/test", "In", "x"), kinds: ["restricted-label"] },
    { rule: "S-21 a domain that only ends alike", wish: term("mykarpenter.sh/test", "In", "x"), kinds: [] },
    {
      rule: "T7 S-20 matchFields",
      wish: {
        affinity: {
          nodeAffinity: {
            requiredDuringSchedulingIgnoredDuringExecution: {
              nodeSelectorTerms: [{ matchFields: [{ key: "metadata.name", operator: "In", values: ["n"] }] }],
            },
          },
        },
      },
      kinds: ["match-fields"],
    },
    { rule: "S-21 operator", wish: term("a", "Near", "x"), kinds: ["operator"] },
    { rule: "S-21 qualified name", wish: term("a b/c", "Exists"), kinds: ["key"] },
    { rule: "S-21 label value", wish: term("a", "In", "not a value"), kinds: ["value"] },
    { rule: "S-21 In without values", wish: term("a", "In"), kinds: ["values"] },
    { rule: "S-21 a bound below zero", wish: term("a", "Gt", "-1"), kinds: ["value", "values"] },
    { rule: "S-21 two bounds", wish: term("a", "Lte", "1", "2"), kinds: ["values"] },
    { rule: "S-21 no known capacity type", wish: term("karpenter.sh/capacity-type", "In", "unknown"), kinds: ["unknown-value"] },
    { rule: "S-21 one known capacity type", wish: term("karpenter.sh/capacity-type", "In", "spot", "x"), kinds: [] },
    { rule: "S-21 well-known key", wish: { nodeSelector: { [ZONE]: "z1" } }, kinds: [] },
    {
      rule: "S-20 preferences are not looked at",
      wish: {
        affinity: {
          nodeAffinity: {
            preferredDuringSchedulingIgnoredDuringExecution: [
              { weight: 1, preference: { matchExpressions: [{ key: "karpenter.sh/x", operator: "Exists" }] } },
            ],
          },
        },
      },
      kinds: [],
    },
  ])("$rule", ({ wish, kinds }) => {
    const reasons = validatePodForScheduling(shapeOf(podOf(wish)));
    expect(reasons.map((reason) => (reason.kind === "invalid-requirement" ? reason.problem : reason.kind))).toEqual(kinds);
  });

  test("S-19: a pod that wants no node of a pool opts out", () => {
    const reasons = validatePodForScheduling(shapeOf(podOf(term("karpenter.sh/nodepool", "DoesNotExist"))));
    expect(reasons).toEqual([{ kind: "opted-out" }]);
    expect(sentences(reasons)).toContain("DoesNotExist");
  });

  test.each([
    { weights: [1, 100], kinds: ["opted-out"] },
    { weights: [100, 1], kinds: [] },
    { weights: [1, 1], kinds: [] },
  ])("S-19, S-46: preferring none is enough, if nothing is preferred more: weights $weights", ({ weights: [other, none], kinds }) => {
    const preferred = (weight: number, key: string, operator: "Exists" | "DoesNotExist") => ({
      weight,
      preference: { matchExpressions: [{ key, operator }] },
    });
    const terms = [preferred(other!, "team", "Exists"), preferred(none!, "karpenter.sh/nodepool", "DoesNotExist")];
    const affinity = { nodeAffinity: { preferredDuringSchedulingIgnoredDuringExecution: terms } };
    expect(validatePodForScheduling(shapeOf(podOf({ affinity }))).map(({ kind }) => kind)).toEqual(kinds);
  });
});
