/**
 * A cluster at rest, as objects of the size that real ones have (two containers, probes, projected volumes, images): the nodes are full,
 * owned by NodeClaims that are registered and initialized, so that a controller finds nothing to do.
 */
import type { Kind, KubeObject, Node, NodeClaim, NodePool, Pod } from "@joinery/api";
import {
  apiVersionOf,
  hashAnnotations,
  NODE_POOL_HASHES,
  NODE_POOL_LABEL,
  NodeClaims,
  NodePools,
  Nodes,
  nodePoolHash,
  Pods,
  TERMINATION_FINALIZER,
} from "@joinery/api";

export const POOL_NAME = "default";
export const NAMESPACE = "shop";
export const LEASE_NAMESPACE = "karpenter";
const CLASS_REF = { group: "karpenter.kwok.sh", kind: "KWOKNodeClass", name: "default" };
const SINCE = "2026-11-01T08:00:00Z";
const ZONES = ["test-zone-a", "test-zone-b", "test-zone-c", "test-zone-d"];
const IMAGES_PER_NODE = 40;
const PROXY_IMAGE = "registry.example.com/mesh/proxy:1.27.3";

/** Of a resting pod. As many pods as a node may hold leave some of its CPU unused: it is their number that fills it. */
export const RESTING_REQUESTS = { cpu: "180m", memory: "400Mi" };
export interface Shape {
  readonly cpu: string;
  readonly memory: string;
  readonly selector: Readonly<Record<string, string>>;
}

/** Shapes of pods in a burst; every one asks for more than a full node has left. */
export const BURST_SHAPES: readonly Shape[] = [
  { cpu: "500m", memory: "512Mi", selector: {} },
  { cpu: "1", memory: "2Gi", selector: {} },
  { cpu: "750m", memory: "3Gi", selector: { "kubernetes.io/arch": "arm64" } },
  { cpu: "2", memory: "4Gi", selector: { "karpenter.sh/capacity-type": "on-demand" } },
  { cpu: "400m", memory: "1Gi", selector: { "topology.kubernetes.io/zone": "test-zone-b" } },
  { cpu: "3", memory: "8Gi", selector: { "kubernetes.io/arch": "amd64" } },
];

/** `requirements` narrow down the instance types. */
export function nodePool(requirements: readonly object[] = []): NodePool {
  const spec = { template: { spec: { nodeClassRef: CLASS_REF, requirements, expireAfter: "720h" } } };
  return { ...typed(NodePools), metadata: { name: POOL_NAME, annotations: poolHash({ spec }) }, spec } as unknown as NodePool;
}

/** Of the pool as the API server completes it, so that nothing has drifted. */
function poolHash(pool: object): Record<string, string> {
  return hashAnnotations(NODE_POOL_HASHES, nodePoolHash(pool as NodePool));
}

export function claimName(index: number): string {
  return `${POOL_NAME}-${String(index).padStart(5, "0")}`;
}

function nodeLabels(index: number): Record<string, string> {
  return {
    [NODE_POOL_LABEL]: POOL_NAME,
    "karpenter.sh/capacity-type": index % 3 === 0 ? "on-demand" : "spot",
    "karpenter.kwok.sh/kwoknodeclass": CLASS_REF.name,
    "karpenter.kwok.sh/instance-cpu": "4",
    "karpenter.kwok.sh/instance-family": "s",
    "karpenter.kwok.sh/instance-memory": "16Gi",
    "karpenter.kwok.sh/instance-size": "4x",
    "kubernetes.io/arch": "amd64",
    "kubernetes.io/os": "linux",
    "node.kubernetes.io/instance-type": "s-4x-amd64-linux",
    "topology.kubernetes.io/zone": ZONES[index % ZONES.length] ?? "",
  };
}

/** `podsMax`: more pods are not let onto the node. */
export function nodeClaim(index: number, podsMax: number): NodeClaim {
  const amounts = { cpu: "4", memory: "16Gi", pods: String(podsMax), "ephemeral-storage": "20Gi" };
  const conditions = ["Launched", "Registered", "Initialized", "ConsistentStateFound", "Ready"].map((type) => ({
    type,
    status: "True",
    reason: type,
    message: "",
    lastTransitionTime: SINCE,
    observedGeneration: 1,
  }));
  return {
    ...typed(NodeClaims),
    metadata: {
      name: claimName(index),
      labels: nodeLabels(index),
      annotations: nodePool().metadata?.annotations,
      finalizers: [TERMINATION_FINALIZER],
    },
    spec: {
      nodeClassRef: CLASS_REF,
      requirements: Object.entries(nodeLabels(index)).map(([key, value]) => ({ key, operator: "In", values: [value] })),
      resources: { requests: { cpu: "3750m", memory: "6000Mi", pods: "15" } },
      expireAfter: "720h",
    },
    status: {
      nodeName: claimName(index),
      providerID: `kwok://${claimName(index)}`,
      lastPodEventTime: SINCE,
      capacity: amounts,
      allocatable: amounts,
      conditions,
    },
  } as unknown as NodeClaim;
}

export function node(index: number, owner: KubeObject, podsMax: number): Node {
  const amounts = { cpu: "4", memory: "16Gi", pods: String(podsMax), "ephemeral-storage": "20Gi" };
  const name = claimName(index);
  const condition = (type: string, status: string) => ({
    type,
    status,
    reason: `Kubelet${type}`,
    message: `kubelet has looked at ${type}`,
    lastHeartbeatTime: SINCE,
    lastTransitionTime: SINCE,
  });
  return {
    ...typed(Nodes),
    metadata: {
      name,
      labels: {
        ...nodeLabels(index),
        "kubernetes.io/hostname": name,
        "karpenter.sh/registered": "true",
        "karpenter.sh/initialized": "true",
        "kwok.x-k8s.io/node": "fake",
      },
      annotations: { "kwok.x-k8s.io/node": "fake", "node.alpha.kubernetes.io/ttl": "0" },
      finalizers: [TERMINATION_FINALIZER],
      ownerReferences: [
        { apiVersion: apiVersionOf(NodeClaims), kind: "NodeClaim", name, uid: owner.metadata?.uid ?? "", blockOwnerDeletion: true },
      ],
    },
    spec: { providerID: `kwok://${name}` },
    status: {
      capacity: amounts,
      allocatable: amounts,
      conditions: [
        condition("Ready", "True"),
        condition("MemoryPressure", "False"),
        condition("DiskPressure", "False"),
        condition("PIDPressure", "False"),
      ],
      addresses: [
        { type: "InternalIP", address: `10.${index >> 8}.${index & 255}.1` },
        { type: "Hostname", address: name },
      ],
      images: Array.from({ length: IMAGES_PER_NODE }, (_, image) => ({
        names: [
          `registry.example.com/team-${image}/service@sha256:${"0123456789abcdef".repeat(4)}`,
          `registry.example.com/team-${image}/service:1.${image}.0`,
        ],
        sizeBytes: 50_000_000 + image,
      })),
    },
  } as unknown as Node;
}

export interface RestingPod {
  readonly index: number;
  readonly nodeIndex: number;
  /** The ReplicaSet that owns it. */
  readonly replicaSet: KubeObject;
}

export function restingPod({ index, nodeIndex, replicaSet }: RestingPod): Pod {
  const app = replicaSet.metadata?.labels?.app ?? "";
  const ready = (type: string) => ({ type, status: "True", lastProbeTime: null, lastTransitionTime: SINCE });
  const pod = podOf(`${replicaSet.metadata?.name}-${index}`, app, RESTING_REQUESTS, {}, replicaSet);
  return {
    ...pod,
    spec: { ...pod.spec, nodeName: claimName(nodeIndex) },
    status: {
      phase: "Running",
      conditions: ["PodReadyToStartContainers", "Initialized", "Ready", "ContainersReady", "PodScheduled"].map(ready),
      hostIP: `10.${nodeIndex >> 8}.${nodeIndex & 255}.1`,
      podIP: `100.${64 + (index >> 16)}.${(index >> 8) & 255}.${index & 255}`,
      startTime: SINCE,
      qosClass: "Burstable",
      containerStatuses: [containerStatus("app", `registry.example.com/shop/${app}:1.4.2`), containerStatus("proxy", PROXY_IMAGE)],
    },
  } as unknown as Pod;
}

export function pendingPod(index: number): Pod {
  const { cpu, memory, selector } = BURST_SHAPES[index % BURST_SHAPES.length]!;
  const pod = podOf(`burst-${index}`, `burst-${index % BURST_SHAPES.length}`, { cpu, memory }, selector);
  return {
    ...pod,
    status: {
      phase: "Pending",
      conditions: [
        { type: "PodScheduled", status: "False", reason: "Unschedulable", message: "0 nodes are available", lastTransitionTime: SINCE },
      ],
    },
  } as unknown as Pod;
}

/** Labels of one of the workloads that the resting pods belong to. */
export function workloadLabels(index: number): Record<string, string> {
  const app = `service-${String(index).padStart(3, "0")}`;
  return { app, "app.kubernetes.io/name": app, "app.kubernetes.io/part-of": "shop", "pod-template-hash": "6f7d9c5b8d" };
}

export function podTemplate(app: string, requests: Readonly<Record<string, string>>) {
  return {
    containers: [container("app", `registry.example.com/shop/${app}:1.4.2`, requests), container("proxy", PROXY_IMAGE, {})],
    volumes: [
      { name: "config", configMap: { name: `${app}-config`, defaultMode: 420 } },
      {
        name: "kube-api-access",
        projected: {
          defaultMode: 420,
          sources: [
            { serviceAccountToken: { expirationSeconds: 3607, path: "token" } },
            { configMap: { name: "kube-root-ca.crt", items: [{ key: "ca.crt", path: "ca.crt" }] } },
          ],
        },
      },
    ],
    serviceAccountName: "default",
    restartPolicy: "Always",
    terminationGracePeriodSeconds: 30,
  };
}

function container(name: string, image: string, requests: Readonly<Record<string, string>>) {
  const probe = { httpGet: { path: "/health", port: 8080, scheme: "HTTP" }, periodSeconds: 10, timeoutSeconds: 1 };
  return {
    name,
    image,
    ports: [{ name: "http", containerPort: 8080, protocol: "TCP" }],
    env: Array.from({ length: 12 }, (_, index) => ({ name: `SETTING_${index}`, value: `value-${index}.${name}.shop.svc.cluster.local` })),
    resources: { requests },
    livenessProbe: probe,
    readinessProbe: probe,
    volumeMounts: [
      { name: "config", mountPath: "/etc/app" },
      { name: "kube-api-access", mountPath: "/var/run/secrets/kubernetes.io/serviceaccount", readOnly: true },
    ],
  };
}

function containerStatus(name: string, image: string) {
  return {
    name,
    state: { running: { startedAt: SINCE } },
    lastState: {},
    ready: true,
    started: true,
    restartCount: 0,
    image,
    imageID: `${image}@sha256:${"89abcdef01234567".repeat(4)}`,
    containerID: `containerd://${"fedcba9876543210".repeat(4)}`,
  };
}

function podOf(
  name: string,
  app: string,
  requests: Readonly<Record<string, string>>,
  nodeSelector: Readonly<Record<string, string>>,
  owner?: KubeObject,
): Pod {
  const tolerated = (key: string) => ({ key, operator: "Exists", effect: "NoExecute", tolerationSeconds: 300 });
  return {
    ...typed(Pods),
    metadata: {
      name,
      namespace: NAMESPACE,
      labels: { app, "app.kubernetes.io/name": app, "app.kubernetes.io/part-of": "shop", "pod-template-hash": "6f7d9c5b8d" },
      annotations: { "prometheus.io/scrape": "true", "prometheus.io/port": "8080" },
      ...(owner && {
        ownerReferences: [
          { apiVersion: "apps/v1", kind: "ReplicaSet", name: owner.metadata?.name, uid: owner.metadata?.uid, controller: true },
        ],
      }),
    },
    spec: {
      ...podTemplate(app, requests),
      nodeSelector,
      tolerations: [tolerated("node.kubernetes.io/not-ready"), tolerated("node.kubernetes.io/unreachable")],
      schedulerName: "default-scheduler",
    },
  } as unknown as Pod;
}

function typed(kind: Kind) {
  return { apiVersion: apiVersionOf(kind), kind: kind.kind };
}
