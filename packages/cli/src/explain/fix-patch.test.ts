import type { PodSpec } from "@joinery/api";
import type { Edit } from "@joinery/scheduling";
import { expect, test } from "vitest";
import { patchesOf } from "./fix-patch.ts";

const term = (...matchExpressions: { key: string; operator: "In" | "Exists"; values?: string[] }[]) => ({ matchExpressions });
const spec: PodSpec = {
  containers: [
    { name: "small", resources: { requests: { cpu: "1" } } },
    { name: "large", resources: { requests: { cpu: "4", memory: "1Gi" } } },
  ],
  tolerations: [{ key: "own", operator: "Exists" }],
  nodeSelector: { a: "1" },
  affinity: {
    nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [term({ key: "rack", operator: "Exists" })] } },
  },
};
const owner = { apiVersion: "apps/v1", kind: "Deployment", name: "web", namespace: "shop", spec };
const affinity = { kind: "node-affinity", term: 0, expression: 0, key: "rack" } as const;
const required = (value: unknown) => ({ affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: value } } });

test.each<{ edit: Edit; template: unknown }>([
  {
    edit: { kind: "add-tolerations", tolerations: [{ key: "db", operator: "Exists" }] },
    template: {
      tolerations: [
        { key: "own", operator: "Exists" },
        { key: "db", operator: "Exists" },
      ],
    },
  },
  { edit: { kind: "node-selector", key: "a" }, template: { nodeSelector: { a: null } } },
  { edit: { kind: "node-selector", key: "a", to: { key: "a", value: "2" } }, template: { nodeSelector: { a: "2" } } },
  { edit: affinity, template: required(null) },
  {
    edit: { ...affinity, to: { key: "zone", operator: "In", values: ["z1"] } },
    template: required({ nodeSelectorTerms: [term({ key: "zone", operator: "In", values: ["z1"] })] }),
  },
  {
    edit: { kind: "lower-request", resource: "cpu", from: 5000, to: 3500 },
    template: { containers: [spec.containers[0], { name: "large", resources: { requests: { cpu: "2500m", memory: "1Gi" } } }] },
  },
])("$edit.kind is a merge patch of the template", ({ edit, template }) => {
  const metadata = { name: "web", namespace: "shop" };
  expect(patchesOf([edit], owner)).toEqual([
    { apiVersion: "apps/v1", kind: "Deployment", metadata, spec: { template: { spec: template } } },
  ]);
});

test("of a pod that nothing owns, and of a pool", () => {
  const [pod] = patchesOf([{ kind: "node-selector", key: "a" }], { ...owner, apiVersion: "v1", kind: "Pod" })!;
  expect(pod).toMatchObject({ kind: "Pod", spec: { nodeSelector: { a: null } } });
  expect(patchesOf([{ kind: "raise-limit", nodePool: "p", resource: "memory", from: 0, to: 1024 ** 3 }], owner)).toEqual([
    {
      apiVersion: "karpenter.sh/v1",
      kind: "NodePool",
      metadata: { name: "p" },
      spec: { limits: { memory: "1Gi" } },
    },
  ]);
});

test("there is no patch where no container can give so much", () => {
  expect(patchesOf([{ kind: "lower-request", resource: "cpu", from: 5000, to: 500 }], owner)).toBeUndefined();
});

test("what cannot be shared is lowered in requests and limits", () => {
  const containers = [{ name: "gpu", resources: { requests: { "nvidia.com/gpu": "8" }, limits: { "nvidia.com/gpu": "8", cpu: "2" } } }];
  const [patch] = patchesOf([{ kind: "lower-request", resource: "nvidia.com/gpu", from: 8, to: 4 }], { ...owner, spec: { containers } })!;
  const resources = { requests: { "nvidia.com/gpu": "4" }, limits: { "nvidia.com/gpu": "4", cpu: "2" } };
  expect(patch).toMatchObject({ spec: { template: { spec: { containers: [{ name: "gpu", resources }] } } } });
});

test("two edits of one template are one patch, of a template and a pool two", () => {
  const selector: Edit = { kind: "node-selector", key: "a" };
  const tolerations: Edit = { kind: "add-tolerations", tolerations: [{ key: "db", operator: "Exists" }] };
  expect(patchesOf([selector, tolerations], owner)).toMatchObject([
    { kind: "Deployment", spec: { template: { spec: { nodeSelector: { a: null }, tolerations: [{ key: "own" }, { key: "db" }] } } } },
  ]);
  const limit: Edit = { kind: "raise-limit", nodePool: "p", resource: "cpu", from: 0, to: 1000 };
  expect(patchesOf([limit, selector], owner)?.map(({ kind }) => kind)).toEqual(["Deployment", "NodePool"]);
});
