import type { KubeObject } from "@joinery/api";
import { describe, expect, test } from "vitest";
import type { RawObject } from "../manifests/manifest.ts";
import { layer } from "./layer.ts";
import { liveManifest } from "./read-cluster.ts";

const fileManifest = (object: object) => ({ object: object as RawObject, file: "f.yaml", locate: () => ({ line: 1, column: 1 }) });
const layered = (live: object, file: object, namespace = "default") => {
  const { manifests, changed, added } = layer([liveManifest(live as KubeObject)], [fileManifest(file)], namespace);
  return { objects: manifests.map(({ object }) => object), files: manifests.map(({ file: name }) => name), changed, added };
};

const STORED = { uid: "u-1", resourceVersion: "7", creationTimestamp: "2026-01-01T00:00:00Z" };
const requirements = (...values: string[]) => [{ key: "kubernetes.io/arch", operator: "In", values }];
const pool = (values: readonly string[], more: object = {}, metadata: object = {}) => ({
  apiVersion: "karpenter.sh/v1",
  kind: "NodePool",
  metadata: { name: "default", ...metadata },
  spec: {
    template: {
      spec: { nodeClassRef: { group: "karpenter.k8s.aws", kind: "EC2NodeClass", name: "default" }, requirements: requirements(...values) },
    },
  },
  ...more,
});
const deployment = (spec: object, more: object = {}, metadata: object = {}) => ({
  apiVersion: "apps/v1",
  kind: "Deployment",
  metadata: { name: "web", ...metadata },
  spec,
  ...more,
});
const withDisruption = (disruption: object) => ({ ...pool(["amd64"]), spec: { ...pool(["amd64"]).spec, disruption } });
const notReady = { status: { conditions: [{ type: "Ready", status: "False" }] } };

describe("a file's object in place of the cluster's", () => {
  test("has the file's spec and the cluster's identity", () => {
    const { objects, files, changed, added } = layered(pool(["amd64"], {}, STORED), pool(["arm64"], {}, { labels: { from: "file" } }));
    expect(objects).toEqual([pool(["arm64"], {}, { ...STORED, labels: { from: "file" } })]);
    expect(files).toEqual(["f.yaml"]);
    expect({ changed, added }).toEqual({ changed: ["NodePool/default"], added: [] });
  });

  test("a copy that was read earlier does not bring back its old identity", () => {
    const { objects } = layered(pool(["amd64"], {}, STORED), pool(["amd64"], {}, { ...STORED, uid: "u-0", resourceVersion: "3" }));
    expect(objects[0]!.metadata).toMatchObject(STORED);
  });

  test.each([
    { name: "what was found about another spec is forgotten", file: pool(["arm64"]), status: undefined },
    { name: "what was found about the same spec holds", file: pool(["amd64"]), status: notReady.status },
    {
      name: "a default that is written out makes no other spec",
      file: withDisruption({ consolidationPolicy: "WhenEmptyOrUnderutilized" }),
      status: notReady.status,
    },
  ])("$name", ({ file, status }) => {
    const live = { ...withDisruption({ consolidateAfter: "0s" }), ...notReady };
    expect(layered(live, file).objects[0]!.status).toEqual(status);
  });

  test.each([
    { name: "without replicas it leaves them to whoever scales", spec: { template: {} }, replicas: 7 },
    { name: "with replicas it sets them", spec: { template: {}, replicas: 0 }, replicas: 0 },
  ])("$name, and the status of a built-in kind stays", ({ spec, replicas }) => {
    const live = deployment({ template: { old: true }, replicas: 7 }, { status: { replicas: 7 } }, { ...STORED, namespace: "default" });
    const [object] = layered(live, deployment(spec)).objects;
    expect(object).toMatchObject({ metadata: STORED, spec: { template: {}, replicas }, status: { replicas: 7 } });
  });
});

describe("a file's object beside the cluster's", () => {
  test("in another namespace", () => {
    const live = deployment({ replicas: 1 }, {}, { namespace: "shop" });
    const { objects, changed, added } = layered(live, deployment({ replicas: 2 }));
    expect(objects.map(({ metadata }) => metadata?.namespace)).toEqual(["shop", "default"]);
    expect({ changed, added }).toEqual({ changed: [], added: ["Deployment/web"] });
  });

  test("one that names no namespace belongs to that of the context, as for kubectl; a cluster-scoped one to none", () => {
    const live = deployment({ replicas: 1 }, {}, { namespace: "shop" });
    expect(layered(live, deployment({ replicas: 2 }), "shop").changed).toEqual(["Deployment/web"]);
    expect(layered(live, pool(["amd64"]), "shop").objects[1]!.metadata).toEqual({ name: "default" });
  });
});
