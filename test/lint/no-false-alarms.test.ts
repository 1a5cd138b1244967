/** Inputs that look wrong and are not, or whose fault is another object's. One pool of the test catalogue, unless said otherwise. */
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { runJoinery } from "../plan/run-joinery.ts";
import { findingsOf, lintText } from "./lint-joinery.ts";

const nodeClass = { apiVersion: "karpenter.kwok.sh/v1alpha1", kind: "KWOKNodeClass", metadata: { name: "default" } };

function pool(requirements: readonly object[], name = "default", spec: object = {}, template: object = {}) {
  const nodeClassRef = { group: "karpenter.kwok.sh", kind: "KWOKNodeClass", name: "default" };
  return {
    apiVersion: "karpenter.sh/v1",
    kind: "NodePool",
    metadata: { name },
    spec: { ...spec, template: { spec: { nodeClassRef, requirements, ...template } } },
  };
}

function deployment(name: string, pod: object = {}, replicas = 2) {
  const labels = { app: name };
  const containers = [{ name: "main", image: "registry.example/app:1.0", resources: { requests: { cpu: "500m" } } }];
  return {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name, namespace: "shop" },
    spec: { replicas, selector: { matchLabels: labels }, template: { metadata: { labels }, spec: { containers, ...pod } } },
  };
}

function nearTo(app: string, topologyKey: string) {
  const term = { topologyKey, labelSelector: { matchLabels: { app } } };
  return { affinity: { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [term] } } };
}

function requiring(key: string, operator: string, values?: readonly string[]) {
  const terms = { nodeSelectorTerms: [{ matchExpressions: [{ key, operator, ...(values && { values }) }] }] };
  return { affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: terms } } };
}

const amd64 = { key: "kubernetes.io/arch", operator: "In", values: ["amd64"] };
const arm64 = { ...amd64, values: ["arm64"] };

async function found(...items: readonly object[]): Promise<string[]> {
  const run = await lintText(JSON.stringify({ apiVersion: "v1", kind: "List", items: [nodeClass, ...items] }), ["-o", "json"]);
  expect(run.err).toBe("");
  return findingsOf(run).map(({ severity, rule, object }) => `${severity} ${rule} ${object}`);
}

describe("nothing is said of", () => {
  test("pods that want to be near pods of another pool, or of nobody in the input (S-141)", async () => {
    const other = deployment("db", { nodeSelector: { "kubernetes.io/arch": "arm64" } });
    const pools = [pool([amd64]), pool([arm64], "arm")];
    expect(await found(...pools, other, deployment("web", nearTo("db", "topology.kubernetes.io/zone")))).toEqual([]);
    expect(await found(...pools, deployment("web", nearTo("cache", "kubernetes.io/hostname")))).toEqual([]);
  });

  test("pods that want to be near pods of namespaces that the input does not have (S-156)", async () => {
    const term = { topologyKey: "topology.kubernetes.io/zone", labelSelector: { matchLabels: { app: "cache" } } };
    const near = (more: object) => ({
      affinity: { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [{ ...term, ...more }] } },
    });
    const others = [pool([amd64]), deployment("db")];
    expect(await found(...others, deployment("web", near({ namespaces: ["caches"] })))).toEqual([]);
    expect(await found(...others, deployment("web", near({ namespaceSelector: { matchLabels: { team: "caches" } } })))).toEqual([]);
    expect(await found(...others, deployment("web", near({ namespaceSelector: {} })))).toEqual([]);
  });

  test("pods that keep apart by zone where zones, nodes or the way of updating allow it (S-151)", async () => {
    const term = { topologyKey: "topology.kubernetes.io/zone", labelSelector: { matchLabels: { app: "web" } } };
    const apart = { affinity: { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [term] } } };
    const web = deployment("web", apart, 3);
    const updated = (strategy: object) => ({ ...web, spec: { ...web.spec, strategy } });
    expect(await found(pool([amd64]), web)).toEqual(["warning anti-affinity-crowded shop/Deployment/web"]);
    expect(await found(pool([amd64]), updated({ type: "Recreate" }))).toEqual([]);
    expect(await found(pool([amd64]), updated({ rollingUpdate: { maxUnavailable: "34%" } }))).toEqual([]);
    const labels = { "topology.kubernetes.io/zone": "zone-d", "kubernetes.io/hostname": "own", "kubernetes.io/arch": "amd64" };
    const node = { apiVersion: "v1", kind: "Node", metadata: { name: "own", labels } };
    expect(await found(pool([amd64]), node, web)).toEqual([]);
    expect(await found(pool([amd64]), { ...web, kind: "StatefulSet", spec: { ...web.spec, serviceName: "web" } })).toEqual([]);
  });

  test("pods that keep away from every pool, as Karpenter's own do (S-19)", async () => {
    expect(await found(pool([amd64]), deployment("karpenter", requiring("karpenter.sh/nodepool", "DoesNotExist")))).toEqual([]);
  });

  test("pods that choose a value of a pool's open label (S-44)", async () => {
    const open = pool([amd64, { key: "example.com/team", operator: "Exists" }]);
    expect(await found(open, deployment("web", { nodeSelector: { "example.com/team": "red" } }))).toEqual([]);
  });

  test("a spread over a label by which pools split capacity types", async () => {
    const spot = pool(
      [
        { key: "karpenter.sh/capacity-type", operator: "In", values: ["spot"] },
        { key: "split", operator: "In", values: ["1", "2"] },
      ],
      "spot",
    );
    const onDemand = pool(
      [
        { key: "karpenter.sh/capacity-type", operator: "In", values: ["on-demand"] },
        { key: "split", operator: "In", values: ["3"] },
      ],
      "on-demand",
    );
    const labelSelector = { matchLabels: { app: "web" } };
    const spread = [{ maxSkew: 1, topologyKey: "split", whenUnsatisfiable: "DoNotSchedule", labelSelector }];
    expect(await found(spot, onDemand, deployment("web", { topologySpreadConstraints: spread }))).toEqual([]);
  });

  test("a lighter pool that has what the heavier one lacks: room beyond limits, a taint less, a label, a type", async () => {
    const heavy = (spec: object, template: object = {}) => pool([], "heavy", { weight: 10, ...spec }, template);
    expect(await found(heavy({ limits: { cpu: "100" } }), pool([]))).toEqual([]);
    const taints = [{ key: "example.com/a", effect: "NoSchedule" }];
    expect(await found(heavy({}, { taints }), pool([]))).toEqual([]);
    expect(await found(heavy({}), pool([{ key: "example.com/team", operator: "In", values: ["red"] }]))).toEqual([]);
    expect(await found(pool([amd64], "heavy", { weight: 10 }), pool([]))).toEqual([]);
  });

  test("a lighter pool that a workload asks for by name, or prefers", async () => {
    const pools = [pool([], "heavy", { weight: 10 }), pool([], "light")];
    const byName = deployment("web", { nodeSelector: { "karpenter.sh/nodepool": "light" } });
    expect(await found(...pools, byName)).toEqual([]);
    const preference = { matchExpressions: [{ key: "karpenter.sh/nodepool", operator: "In", values: ["light"] }] };
    const nodeAffinity = { preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 1, preference }] };
    expect(await found(...pools, deployment("web", { affinity: { nodeAffinity } }))).toEqual([]);
  });

  test("disruption settings that a server has filled in on a static pool", async () => {
    const disruption = { consolidateAfter: "0s", consolidationPolicy: "WhenEmptyOrUnderutilized", budgets: [{ nodes: "10%" }] };
    expect(await found(pool([amd64], "fixed", { replicas: 3, disruption }))).toEqual([]);
  });

  test("pods that only a static pool takes", async () => {
    const fixed = pool([arm64], "fixed", { replicas: 3 });
    expect(await found(pool([amd64]), fixed, deployment("web", { nodeSelector: { "kubernetes.io/arch": "arm64" } }))).toEqual([]);
  });

  test("DaemonSets that follow labels which software puts on nodes while they run", async () => {
    const { spec, ...rest } = deployment("exporter", { nodeSelector: { "nvidia.com/gpu.present": "true" } });
    const { replicas: _, ...daemonSpec } = spec;
    expect(await found(pool([amd64]), { ...rest, kind: "DaemonSet", spec: daemonSpec })).toEqual([]);
  });

  test("pods for a node that exists, by its name", async () => {
    const labels = { "kubernetes.io/hostname": "old", "kubernetes.io/arch": "amd64" };
    const node = { apiVersion: "v1", kind: "Node", metadata: { name: "old", labels } };
    const pinned = deployment("web", { nodeSelector: { "kubernetes.io/hostname": "old" } });
    expect(await found(pool([amd64]), node, pinned)).toEqual([]);
    expect(await found(pool([amd64]), pinned)).toEqual(["error unschedulable-workload shop/Deployment/web"]);
  });

  test("resources that an overlay adds", async () => {
    const overlay = {
      apiVersion: "karpenter.sh/v1alpha1",
      kind: "NodeOverlay",
      metadata: { name: "fuse" },
      spec: { requirements: [amd64], capacity: { "example.com/fuse": "10" } },
    };
    const resources = { requests: { "example.com/fuse": 1 }, limits: { "example.com/fuse": 1 } };
    const containers = [{ name: "main", image: "registry.example/app:1.0", resources }];
    const limited = pool([amd64], "default", { limits: { "example.com/fuse": "100" } });
    expect(await found(limited, overlay, deployment("web", { containers }))).toEqual([]);
    expect(await found(pool([amd64]), deployment("web", { containers }))).toEqual(["error request-too-large shop/Deployment/web"]);
  });

  test("systems and reservations that this catalogue does not have, beyond a warning", async () => {
    const windows = pool([{ key: "kubernetes.io/os", operator: "In", values: ["windows"] }], "windows");
    const reserved = pool([{ key: "karpenter.sh/capacity-type", operator: "In", values: ["reserved"] }], "reserved");
    const web = deployment("web", { nodeSelector: { "kubernetes.io/os": "windows" } });
    expect(await found(pool([amd64]), windows, reserved, web)).toEqual([
      "warning pool-without-types NodePool/windows",
      "warning pool-without-types NodePool/reserved",
      "warning unknown-label-value shop/Deployment/web",
    ]);
  });

  test("a claim of which the input does not know where it is, beyond a note", async () => {
    const volumes = [{ name: "data", persistentVolumeClaim: { claimName: "data" } }];
    expect(await found(pool([amd64]), deployment("db", { volumes }))).toEqual(["note storage-missing shop/Deployment/db"]);
  });
});

describe("one fault is one finding", () => {
  const onArm = deployment("web", { nodeSelector: { "kubernetes.io/arch": "arm64" } });

  test.each([
    {
      what: "a pool without types",
      wrong: pool([arm64, { key: "karpenter.kwok.sh/instance-cpu", operator: "Gt", values: ["64"] }], "arm"),
      finding: "error pool-without-types NodePool/arm",
    },
    {
      what: "a pool that is invalid at run time",
      wrong: pool(
        [arm64],
        "arm",
        {},
        { taints: [{ key: "a", effect: "PreferNoSchedule" }], startupTaints: [{ key: "a", effect: "PreferNoSchedule" }] },
      ),
      finding: "error runtime-invalid NodePool/arm",
    },
    { what: "a limit too small", wrong: pool([arm64], "arm", { limits: { cpu: "1" } }), finding: "error limit-too-small NodePool/arm" },
  ])("$what is none of the pods that only it would take", async ({ wrong, finding }) => {
    const all = await found(pool([amd64]), wrong, onArm);
    expect(all.filter((text) => !text.startsWith("note "))).toEqual([finding]);
  });
});

test("whatever the API server takes can be looked at", async () => {
  const folder = join(import.meta.dirname, "../manifests/good");
  for (const file of readdirSync(folder)) {
    const { status, err } = await runJoinery(["lint", join(folder, file), "-o", "json"]);
    expect({ file, err, isSound: status === 0 || status === 5 }).toEqual({ file, err: "", isSound: true });
  }
});

describe("pools of two node classes", () => {
  const classOf = (name: string, spec: object) => ({
    apiVersion: "karpenter.k8s.aws/v1",
    kind: "EC2NodeClass",
    metadata: { name },
    spec: {
      amiSelectorTerms: [{ alias: "al2023@latest" }],
      role: "node",
      subnetSelectorTerms: [{ id: "subnet-1" }],
      securityGroupSelectorTerms: [{ id: "sg-1" }],
      ...spec,
    },
  });
  const poolOf = (name: string, weight: number) => {
    const nodeClassRef = { group: "karpenter.k8s.aws", kind: "EC2NodeClass", name };
    return { ...pool([], name, { weight }, { nodeClassRef }), metadata: { name } };
  };
  const large = { blockDeviceMappings: [{ deviceName: "/dev/xvda", ebs: { volumeSize: "200Gi" } }] };
  const windows = { amiSelectorTerms: [{ alias: "windows2022@latest" }] };

  test.each([
    { wide: {}, narrow: {}, isShadowed: true },
    { wide: large, narrow: {}, isShadowed: true },
    { wide: {}, narrow: large, isShadowed: false },
    { wide: {}, narrow: windows, isShadowed: false },
  ])("I-403, I-1105: of $wide before $narrow the second is shadowed: $isShadowed", async ({ wide, narrow, isShadowed }) => {
    const items = [classOf("first", wide), classOf("second", narrow), poolOf("first", 10), poolOf("second", 1)];
    const run = await runJoinery(["lint", "-", "-o", "json", "--region", "us-east-1"], {
      stdin: JSON.stringify({ apiVersion: "v1", kind: "List", items }),
    });
    expect(run.err).toBe("");
    expect(findingsOf(run).some(({ rule }) => rule === "shadowed-pool")).toBe(isShadowed);
  });

  test.each([
    { pod: { "ephemeral-storage": "100Gi" }, spec: large },
    { pod: {}, spec: windows, nodeSelector: { "kubernetes.io/os": "windows" } },
  ])("I-403, I-1105: a pod that needs $spec is placed by plan, and lint says nothing", async ({ pod, spec, nodeSelector }) => {
    const containers = [{ name: "main", image: "registry.example/app:1.0", resources: { requests: { cpu: "500m", ...pod } } }];
    const web = deployment("web", { containers, ...(nodeSelector && { nodeSelector }) });
    const items = [classOf("first", {}), classOf("second", spec), poolOf("first", 10), poolOf("second", 1), web];
    const input = JSON.stringify({ apiVersion: "v1", kind: "List", items });
    const [lint, plan] = await Promise.all([
      runJoinery(["lint", "-", "-o", "json", "--region", "us-east-1"], { stdin: input }),
      runJoinery(["plan", "-", "-o", "json", "--region", "us-east-1"], { stdin: input }),
    ]);
    expect(findingsOf(lint)).toEqual([]);
    const { newNodes, unschedulable } = JSON.parse(plan.out);
    expect(unschedulable).toEqual([]);
    expect(new Set(newNodes.map(({ nodePool }: { nodePool: string }) => nodePool))).toEqual(new Set(["second"]));
  });
});
