/**
 * What pods can ask for, each at least once, on a real control plane: the built controller makes NodeClaims and Nodes, the real
 * kube-scheduler binds every pod, and no node comes that no plan wanted. Volumes are provisioned by a stand-in for a CSI
 * driver: it makes a volume in the zone of the node that kube-scheduler selected.
 */
import { execFileSync } from "node:child_process";
import {
  CsiNodes,
  DaemonSets,
  type Deployment,
  Deployments,
  Events,
  type Kind,
  KwokNodeClasses,
  type Node,
  NodeClaims,
  type NodePool,
  NodePools,
  Nodes,
  PersistentVolumeClaims,
  PersistentVolumes,
  type Pod,
  type PodSpec,
  Pods,
  StatefulSets,
  StorageClasses,
} from "@joinery/api";
import { createOnce, type KubeClient } from "@joinery/kube";
import { afterAll, beforeAll, expect, test } from "vitest";
import { fetchKubectl } from "../kubectl/fetch-kubectl.ts";
import { clock, connect, eventually, installCrds, type RunningController, startController } from "./cluster.ts";

const namespace = "default";
const ZONE = "topology.kubernetes.io/zone";
const HOSTNAME = "kubernetes.io/hostname";
const POOL = "karpenter.sh/nodepool";
const DRIVER = "csi.example.com";
const STARTUP_TAINT = { key: "example.com/agent-not-ready", effect: "NoSchedule" } as const;
const DEDICATED = { key: "dedicated", value: "batch", effect: "NoSchedule" } as const;

const appSelector = (app: string) => ({ matchLabels: { app } });

function spreadOver(topologyKey: string, app: string) {
  return { topologyKey, maxSkew: 1, whenUnsatisfiable: "DoNotSchedule", labelSelector: appSelector(app) } as const;
}

/** What the pods of each workload ask for, beside 700m CPU, 512Mi and the pool. */
const WORKLOADS: Readonly<Record<string, { readonly replicas: number; readonly spec: Partial<PodSpec> }>> = {
  selector: { replicas: 3, spec: { nodeSelector: { "kubernetes.io/arch": "arm64", [POOL]: "features" } } },
  spread: { replicas: 9, spec: { topologySpreadConstraints: [spreadOver(ZONE, "spread")] } },
  apart: {
    replicas: 4,
    spec: {
      affinity: {
        podAntiAffinity: {
          requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey: HOSTNAME, labelSelector: appSelector("apart") }],
        },
      },
    },
  },
  together: {
    replicas: 3,
    spec: {
      affinity: {
        podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey: ZONE, labelSelector: appSelector("together") }] },
      },
    },
  },
  zonal: {
    replicas: 2,
    spec: {
      affinity: {
        nodeAffinity: {
          requiredDuringSchedulingIgnoredDuringExecution: {
            nodeSelectorTerms: [{ matchExpressions: [{ key: ZONE, operator: "In", values: ["test-zone-b"] }] }],
          },
          preferredDuringSchedulingIgnoredDuringExecution: [
            { weight: 1, preference: { matchExpressions: [{ key: "karpenter.sh/capacity-type", operator: "In", values: ["on-demand"] }] } },
          ],
        },
      },
    },
  },
  tolerant: {
    replicas: 3,
    spec: {
      nodeSelector: { [POOL]: "dedicated" },
      tolerations: [{ key: DEDICATED.key, operator: "Equal", value: DEDICATED.value, effect: DEDICATED.effect }],
    },
  },
};
const PORTED = { replicas: 3, hostPort: 18_080 };
const STATEFUL = { replicas: 3, zones: ["test-zone-a", "test-zone-c"] };
const PODS = Object.values(WORKLOADS).reduce((sum, { replicas }) => sum + replicas, PORTED.replicas + STATEFUL.replicas);

let client: KubeClient;
let controller: RunningController;
let standIns: { stop(): Promise<void> };

beforeAll(async () => {
  client = await connect();
  await installCrds(client);
  await createOnce(client, KwokNodeClasses, { metadata: { name: "default" }, spec: {} });
  await createOnce(client, NodePools, aPool("features", { startupTaints: [STARTUP_TAINT] }));
  await createOnce(client, NodePools, aPool("dedicated", { taints: [DEDICATED] }));
  standIns = startStandIns();
});

afterAll(async () => {
  for (const kind of [Deployments, StatefulSets, DaemonSets]) await deleteAll(kind);
  await deleteAll(PersistentVolumeClaims);
  await eventually("all NodePools, Nodes and volumes to go", 180_000, async () => {
    for (const kind of [NodePools, PersistentVolumes])
      for (const { metadata } of (await client.list(kind as Kind)).items)
        await client.delete(kind as Kind, { name: metadata?.name ?? "" }).catch(() => {});
    const [claims, nodes] = [(await client.list(NodeClaims)).items.length, (await client.list(Nodes)).items.length];
    return (claims === 0 && nodes === 0) || `${claims} NodeClaims, ${nodes} Nodes`;
  });
  await client.delete(StorageClasses, { name: "zonal" });
  await standIns?.stop();
  controller?.signal("SIGTERM");
  if (controller !== undefined) expect(await controller.ended).toBe(0);
});

test(`${PODS} pods that ask for one thing each run, and each has what it asked for`, async () => {
  await createOnce(client, StorageClasses, storageClass());
  await createOnce(client, DaemonSets, workload("agent", { tolerations: [{ operator: "Exists" }] }, "100m"));
  for (const [app, { replicas, spec }] of Object.entries(WORKLOADS)) {
    await createOnce(client, Deployments, withReplicas(workload(app, { nodeSelector: { [POOL]: "features" }, ...spec }), replicas));
  }
  await createOnce(client, Deployments, withReplicas(portedWorkload(), PORTED.replicas));
  await createOnce(client, StatefulSets, statefulSet());
  await eventually("every pod to be unschedulable", 60_000, async () => {
    const waiting = (await podsBut("agent")).filter(({ status }) => status?.conditions?.some(({ reason }) => reason === "Unschedulable"));
    return waiting.length === PODS || `${waiting.length} of ${PODS} are`;
  });
  controller = startController("features");
  await eventually("every pod to run", 240_000, async () => {
    controller.assertAlive();
    const pods = await podsBut("agent");
    const running = pods.filter(({ status }) => status?.phase === "Running");
    const waiting = pods.filter(({ status }) => status?.phase !== "Running").map(({ metadata }) => metadata?.name);
    return (pods.length === PODS && running.length === PODS) || `${running.length} of ${pods.length} run, not ${waiting.join(", ")}`;
  });
  const nodes = new Map((await client.list(Nodes)).items.map((node) => [node.metadata?.name ?? "", node]));
  const labels = async (app: string, key: string) => (await podsOf(app)).map(({ spec }) => labelOf(nodes.get(spec.nodeName ?? ""), key));
  expect(await labels("selector", "kubernetes.io/arch")).toEqual(["arm64", "arm64", "arm64"]);
  const zones = Object.values(Object.groupBy(await labels("spread", ZONE), (zone) => zone ?? "none")).map((pods) => pods?.length ?? 0);
  expect(Math.max(...zones) - Math.min(...zones), `zones of the spread: ${zones}`).toBeLessThanOrEqual(1);
  expect(zones.length).toBeGreaterThan(1);
  expect(new Set(await labels("apart", HOSTNAME)).size).toBe(WORKLOADS.apart?.replicas);
  expect(new Set(await labels("together", ZONE)).size).toBe(1);
  expect(new Set(await labels("zonal", ZONE))).toEqual(new Set(["test-zone-b"]));
  expect(new Set(await labels("tolerant", POOL))).toEqual(new Set(["dedicated"]));
  expect(new Set(await labels("ported", HOSTNAME)).size).toBe(PORTED.replicas);
  for (const zone of await labels("stateful", ZONE)) expect(STATEFUL.zones).toContain(zone);
  const volumes = (await client.list(PersistentVolumes)).items;
  expect(volumes.map(({ status }) => status?.phase)).toEqual(["Bound", "Bound", "Bound"]);
  const agents = await podsOf("agent");
  expect(agents.map(({ spec }) => spec.nodeName).sort()).toEqual([...nodes.keys()].sort());
});

test("one plan had room for every pod, and no node came that no plan wanted", async () => {
  const [nodes, claims] = [(await client.list(Nodes)).items, (await client.list(NodeClaims)).items];
  // Where kube-scheduler puts a pod into room that was meant for another one, that other one is planned for once more.
  const plans = controller.said("computed new nodeclaim(s) to fit pod(s)") as readonly { nodeclaims: number; pods: number }[];
  expect(plans[0]?.pods).toBe(PODS);
  expect(plans.reduce((sum, { nodeclaims }) => sum + nodeclaims, 0)).toBe(claims.length);
  expect(claims.map(({ status }) => status?.nodeName).sort()).toEqual(nodes.map(({ metadata }) => metadata?.name).sort());
});

test("L-102: a startup taint that its owner has taken away lets the node be initialized", async () => {
  await eventually("every NodeClaim to be Ready", 60_000, async () =>
    (await client.list(NodeClaims)).items.every(
      ({ status }) => status?.conditions?.some(({ type, status: is }) => type === "Ready" && is === "True") ?? false,
    ),
  );
  for (const { spec } of (await client.list(Nodes)).items)
    expect(spec?.taints?.map(({ key }) => key) ?? []).not.toContain(STARTUP_TAINT.key);
});

test("a volume's zone holds its pod: evicted, it runs in the same zone again", async () => {
  const [before] = await podsOf("stateful");
  const zoneOf = async (pod: Pod | undefined) => labelOf(await client.get(Nodes, { name: pod?.spec.nodeName ?? "" }), ZONE);
  const zone = await zoneOf(before);
  const name = before?.metadata?.name ?? "";
  await client.delete(Nodes, { name: before?.spec.nodeName ?? "" });
  await eventually(`${name} to run elsewhere`, 180_000, async () => {
    const now = await client.find(Pods, { namespace, name });
    return now !== undefined && now.metadata?.uid !== before?.metadata?.uid && now.status?.phase === "Running";
  });
  expect(await zoneOf(await client.get(Pods, { namespace, name }))).toBe(zone);
});

test("kubectl shows columns, conditions and events", async () => {
  const kubectl = (...args: string[]) => execFileSync(fetchKubectl(), args, { encoding: "utf8" });
  const [nodePools, nodeClaims] = [kubectl("get", "nodepools", "-o", "wide"), kubectl("get", "nodeclaims", "-o", "wide")];
  expect(nodePools.split("\n")[0]?.split(/\s+/)).toEqual(["NAME", "NODECLASS", "NODES", "READY", "AGE", "WEIGHT", "CPU", "MEMORY"]);
  expect(nodePools).toMatch(/^features +default +\d+ +True /m);
  expect(nodeClaims.split("\n")[0]?.trim().split(/ {2,}/)).toEqual([
    "NAME",
    "TYPE",
    "CAPACITY",
    "ZONE",
    "NODE",
    "READY",
    "AGE",
    "IMAGEID",
    "ID",
    "NODEPOOL",
    "NODECLASS",
    "DRIFTED",
  ]);
  const [claim] = (await client.list(NodeClaims, { labelSelector: `${POOL}=features` })).items;
  const described = kubectl("describe", "nodeclaim", claim?.metadata?.name ?? "");
  for (const type of ["Launched", "Registered", "Initialized", "Ready"]) expect(described).toMatch(new RegExp(`Type: +${type}\\n`));
  expect(described).toMatch(/Events:[\s\S]+Normal +(Launched|Registered|Initialized|Ready|Nominated)/);
  // Nominations are told at a limited rate, so not of every pod; some of those that were told of are gone by now.
  const pods = new Set((await podsBut("agent")).map(({ metadata }) => metadata?.name ?? ""));
  const events = (await client.list(Events, { namespace })).items as unknown as {
    readonly reason: string;
    readonly involvedObject: { readonly kind: string; readonly name: string };
  }[];
  const told = events.find(({ reason, involvedObject: { kind, name } }) => reason === "Nominated" && kind === "Pod" && pods.has(name));
  expect(kubectl("describe", "pod", "-n", namespace, told?.involvedObject.name ?? "none")).toMatch(
    /Normal +Nominated .+should schedule on/,
  );
});

function aPool(name: string, template: Partial<NodePool["spec"]["template"]["spec"]>): NodePool {
  const nodeClassRef = { group: "karpenter.kwok.sh", kind: "KWOKNodeClass", name: "default" };
  const requirements = [
    { key: "kubernetes.io/os", operator: "In", values: ["linux"] },
    { key: "kubernetes.io/arch", operator: "Exists" },
    { key: "karpenter.kwok.sh/instance-cpu", operator: "Lt", values: ["9"] },
  ] as const;
  return {
    metadata: { name },
    spec: { template: { spec: { nodeClassRef, requirements, expireAfter: "Never", ...template } } },
  } as NodePool;
}

function workload(app: string, spec: Partial<PodSpec>, cpu = "700m"): Deployment {
  const containers = [{ name: "main", image: "example.com/app", resources: { requests: { cpu, memory: "512Mi" } } }];
  const template = { metadata: { labels: { app } }, spec: { terminationGracePeriodSeconds: 1, containers, ...spec } };
  return { metadata: { name: app, namespace }, spec: { selector: appSelector(app), template } };
}

function withReplicas(object: Deployment, replicas: number): Deployment {
  return { ...object, spec: { ...object.spec, replicas } };
}

function portedWorkload(): Deployment {
  const containers = [
    {
      name: "main",
      image: "example.com/app",
      resources: { requests: { cpu: "100m" } },
      ports: [{ containerPort: 80, hostPort: PORTED.hostPort }],
    },
  ];
  return workload("ported", { nodeSelector: { [POOL]: "features" }, containers });
}

function statefulSet() {
  const mounting = workload("stateful", { nodeSelector: { [POOL]: "features" } });
  const spec = { accessModes: ["ReadWriteOnce"], storageClassName: "zonal", resources: { requests: { storage: "1Gi" } } };
  return {
    ...mounting,
    spec: {
      ...mounting.spec,
      replicas: STATEFUL.replicas,
      serviceName: "stateful",
      podManagementPolicy: "Parallel",
      volumeClaimTemplates: [{ metadata: { name: "data" }, spec }],
    },
  } as never;
}

function storageClass() {
  return {
    metadata: { name: "zonal" },
    provisioner: DRIVER,
    volumeBindingMode: "WaitForFirstConsumer",
    allowedTopologies: [{ matchLabelExpressions: [{ key: ZONE, values: STATEFUL.zones }] }],
  } as never;
}

/**
 * What else runs in a cluster: the agent that takes its startup taint away, the kubelet's registration of the CSI driver, and the driver's
 * provisioner, which waits until kube-scheduler has selected a node.
 */
function startStandIns(): { stop(): Promise<void> } {
  let isStopped = false;
  const running = (async () => {
    while (!isStopped) {
      await standInOnce().catch(() => {});
      await clock.sleep(200);
    }
  })();
  return {
    stop: () => {
      isStopped = true;
      return running;
    },
  };
}

async function standInOnce(): Promise<void> {
  for (const node of (await client.list(Nodes)).items) {
    const name = node.metadata?.name ?? "";
    await createOnce(client, CsiNodes, {
      metadata: { name },
      spec: { drivers: [{ name: DRIVER, nodeID: name, topologyKeys: [ZONE], allocatable: { count: 25 } }] },
    } as never);
    const taints = node.spec?.taints ?? [];
    const left = taints.filter(({ key }) => key !== STARTUP_TAINT.key);
    const body = { metadata: { resourceVersion: node.metadata?.resourceVersion }, spec: { taints: left } };
    if (left.length < taints.length) await client.patch(Nodes, { name }, { type: "merge", body });
  }
  for (const claim of (await client.list(PersistentVolumeClaims, { namespace })).items) {
    const selected = claim.metadata?.annotations?.["volume.kubernetes.io/selected-node"];
    if (claim.status?.phase !== "Pending" || selected === undefined) continue;
    const zone = labelOf(await client.get(Nodes, { name: selected }), ZONE);
    await createOnce(client, PersistentVolumes, {
      metadata: { name: `pvc-${claim.metadata?.uid}`, annotations: { "pv.kubernetes.io/provisioned-by": DRIVER } },
      spec: {
        capacity: { storage: "1Gi" },
        accessModes: ["ReadWriteOnce"],
        storageClassName: "zonal",
        persistentVolumeReclaimPolicy: "Retain",
        claimRef: { apiVersion: "v1", kind: "PersistentVolumeClaim", namespace, name: claim.metadata?.name, uid: claim.metadata?.uid },
        nodeAffinity: { required: { nodeSelectorTerms: [{ matchExpressions: [{ key: ZONE, operator: "In", values: [zone] }] }] } },
        csi: { driver: DRIVER, volumeHandle: String(claim.metadata?.uid) },
      },
    } as never);
  }
}

const labelOf = (node: Node | undefined, key: string) => node?.metadata?.labels?.[key];

async function podsOf(app: string): Promise<readonly Pod[]> {
  return (await client.list(Pods, { namespace, labelSelector: `app=${app}` })).items;
}

async function podsBut(app: string): Promise<readonly Pod[]> {
  const all = (await client.list(Pods, { namespace, labelSelector: `app!=${app}` })).items;
  return all.filter(({ metadata }) => metadata?.deletionTimestamp === undefined);
}

async function deleteAll(kind: Kind): Promise<void> {
  for (const { metadata } of (await client.list(kind, { namespace })).items)
    await client.delete(kind, { namespace, name: metadata?.name ?? "" }, { propagationPolicy: "Background" });
}
