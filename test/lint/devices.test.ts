/** Pods that ask for a device which few pools have: is it the toleration that they lack, or room? Rules S-49, S-51, S-114. */
import { expect, test } from "vitest";
import { findingsOf, lintText } from "./lint-joinery.ts";

const GPU = "nvidia.com/gpu";

function pool(name: string, instanceTypes: readonly string[], taints: readonly object[] = []) {
  const nodeClassRef = { group: "karpenter.kwok.sh", kind: "KWOKNodeClass", name: "default" };
  const requirements = [{ key: "node.kubernetes.io/instance-type", operator: "In", values: instanceTypes }];
  return {
    apiVersion: "karpenter.sh/v1",
    kind: "NodePool",
    metadata: { name },
    spec: { template: { spec: { nodeClassRef, requirements, ...(taints.length > 0 && { taints }) } } },
  };
}

function training(resources: object, more: object = {}) {
  const labels = { app: "train" };
  const containers = [{ name: "main", image: "registry.example/train:1.0", resources }];
  return {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name: "train", namespace: "ml" },
    spec: { replicas: 1, selector: { matchLabels: labels }, template: { metadata: { labels }, spec: { containers, ...more } } },
  };
}

const nodeClass = { apiVersion: "karpenter.kwok.sh/v1alpha1", kind: "KWOKNodeClass", metadata: { name: "default" } };
const taint = { key: GPU, value: "true", effect: "NoSchedule" };
const tolerating = { tolerations: [{ key: GPU, operator: "Exists" }] };
const [plain, gpu, tainted] = [pool("plain", ["m-large"]), pool("gpu", ["g-xlarge"]), pool("gpu", ["g-xlarge"], [taint])];
const limits = { path: `spec.template.spec.containers[0].resources.limits[${GPU}]` };

test.each([
  {
    about: "S-114: a tainted pool has the device",
    items: [plain, tainted, training({ limits: { [GPU]: "1" } })],
    wish: {
      rule: "missing-toleration",
      path: "spec.template.spec.tolerations",
      message: `every pool with ${GPU} is tainted (${GPU}=true:NoSchedule) and the pods tolerate none of them, so they are never placed`,
      instead: `tolerations: [{ key: ${GPU}, value: "true", effect: NoSchedule }], or a pool with ${GPU} without taints`,
    },
  },
  {
    about: "S-49: it has less than that",
    items: [plain, tainted, training({ limits: { [GPU]: "2" } })],
    wish: {
      rule: "request-too-large",
      ...limits,
      message: `the pods ask for 2 ${GPU}, and the largest instance type has 1 for pods: they are never placed`,
    },
  },
  {
    about: "S-51: a limit is a request",
    items: [plain, gpu, training({ limits: { [GPU]: "2" } }, tolerating)],
    wish: { rule: "request-too-large", ...limits },
  },
  {
    about: "S-49: no pool has the device",
    items: [plain, training({ limits: { [GPU]: "1" } })],
    wish: {
      rule: "request-too-large",
      ...limits,
      message: `the pods ask for 1 ${GPU}, and the types of NodePool plain, which they may use, have none: they are never placed`,
    },
  },
])("$about", async ({ items, wish }) => {
  const run = await lintText(JSON.stringify({ apiVersion: "v1", kind: "List", items: [nodeClass, ...items] }), ["-o", "json"]);
  expect(run.err).toBe("");
  expect(findingsOf(run)).toEqual([expect.objectContaining(wish)]);
});
