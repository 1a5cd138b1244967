/** What is installed on the first day of a cluster: the controller on Fargate, a node class with pools, CoreDNS, a mixed workload. */
import type { DaemonSet, Deployment, Ec2NodeClass, Job, KubeObject, NodePool, Pod, PodSpec, PodTemplateSpec } from "@joinery/api";
import { RUN_SECONDS_ANNOTATION } from "@joinery/sandbox";

export const CONTROLLER_NAMESPACE = "karpenter";
export const CONTROLLER_NAME = "karpenter";
export const LEASE_NAME = "karpenter-leader-election";
export const CONTROLLER_REPLICAS = 2;
const CONTROLLER_LABEL = "app.kubernetes.io/name";

/** An hour: the sample batch is still at work when the tables are printed. */
const BATCH_RUN_SECONDS = "3600";

/** A service account and two replicas that fit the smallest size that Fargate sells (F-3, F-55), each behind a disruption budget. */
export function controllerObjects(clusterName: string): readonly KubeObject[] {
  const labels = { [CONTROLLER_LABEL]: CONTROLLER_NAME, "app.kubernetes.io/instance": CONTROLLER_NAME };
  const metadata = { name: CONTROLLER_NAME, namespace: CONTROLLER_NAMESPACE, labels };
  const resources = { cpu: "250m", memory: "256Mi" };
  const spec: PodSpec = {
    serviceAccountName: CONTROLLER_NAME,
    priorityClassName: "system-cluster-critical",
    nodeSelector: { "kubernetes.io/os": "linux" },
    containers: [
      {
        name: "controller",
        image: "joinery/controller:sandbox",
        resources: { requests: resources, limits: resources },
        ports: [
          { name: "http-metrics", containerPort: 8080, protocol: "TCP" },
          { name: "http", containerPort: 8081, protocol: "TCP" },
        ],
        env: [
          { name: "CLUSTER_NAME", value: clusterName },
          { name: "CPU_REQUESTS", value: "250" },
          { name: "LOG_LEVEL", value: "info" },
        ],
      } as PodSpec["containers"][number],
    ],
  };
  return [
    { apiVersion: "v1", kind: "Namespace", metadata: { name: CONTROLLER_NAMESPACE } },
    { apiVersion: "v1", kind: "ServiceAccount", metadata },
    deployment(metadata, CONTROLLER_REPLICAS, { matchLabels: labels }, { metadata: { labels }, spec }),
    {
      apiVersion: "policy/v1",
      kind: "PodDisruptionBudget",
      metadata,
      spec: { maxUnavailable: 1, selector: { matchLabels: labels } },
    } as KubeObject,
  ];
}

export function isControllerPod({ metadata }: Pod): boolean {
  return metadata?.namespace === CONTROLLER_NAMESPACE && metadata.labels?.[CONTROLLER_LABEL] === CONTROLLER_NAME;
}

/** A node class that finds what the simulated account has, and a pool for each architecture. */
export function poolObjects(clusterName: string): readonly KubeObject[] {
  const discovery = [{ tags: { "karpenter.sh/discovery": clusterName } }];
  const nodeClass: Ec2NodeClass = {
    apiVersion: "karpenter.k8s.aws/v1",
    kind: "EC2NodeClass",
    metadata: { name: "default" },
    spec: {
      role: `KarpenterNodeRole-${clusterName}`,
      amiSelectorTerms: [{ alias: "al2023@latest" }],
      subnetSelectorTerms: discovery,
      securityGroupSelectorTerms: discovery,
    },
  } as unknown as Ec2NodeClass;
  return [nodeClass, pool("default", "amd64"), pool("graviton", "arm64")];
}

/** CoreDNS as EKS installs it: it waits for the first node like everybody else (F-4). */
export function coreDns(): readonly KubeObject[] {
  const labels = { "k8s-app": "kube-dns", "eks.amazonaws.com/component": "coredns" };
  const spec: PodSpec = {
    priorityClassName: "system-cluster-critical",
    nodeSelector: { "kubernetes.io/os": "linux" },
    tolerations: [{ key: "CriticalAddonsOnly", operator: "Exists" }],
    containers: [container("coredns", "registry.k8s.io/coredns/coredns:v1.12.4", "100m", "70Mi")],
  };
  return [deployment({ name: "coredns", namespace: "kube-system", labels }, 2, { matchLabels: labels }, { metadata: { labels }, spec })];
}

/**
 * About `pods` pods: half of them web servers that want on-demand machines, a quarter a batch that takes spot, a quarter a service built
 * for arm64; and an agent on every node of EC2.
 */
export function sampleWorkload(pods: number): readonly KubeObject[] {
  const batch = Math.floor(pods / 4);
  const api = Math.floor(pods / 4);
  const web = Math.max(0, pods - batch - api);
  const wants = (capacityType: string, arch: string) => ({ "karpenter.sh/capacity-type": capacityType, "kubernetes.io/arch": arch });
  return [
    app("web", web, { nodeSelector: wants("on-demand", "amd64"), containers: [container("nginx", "nginx:1.29", "250m", "512Mi")] }),
    job("report", batch, {
      nodeSelector: wants("spot", "amd64"),
      restartPolicy: "OnFailure",
      containers: [container("report", "busybox:1.37", "500m", "256Mi")],
    }),
    app("api", api, { nodeSelector: { "kubernetes.io/arch": "arm64" }, containers: [container("api", "nginx:1.29", "400m", "768Mi")] }),
    agent(),
  ];
}

function pool(name: string, architecture: string): NodePool {
  return {
    apiVersion: "karpenter.sh/v1",
    kind: "NodePool",
    metadata: { name },
    spec: {
      template: {
        spec: {
          nodeClassRef: { group: "karpenter.k8s.aws", kind: "EC2NodeClass", name: "default" },
          requirements: [
            { key: "kubernetes.io/arch", operator: "In", values: [architecture] },
            { key: "karpenter.sh/capacity-type", operator: "In", values: ["spot", "on-demand"] },
            { key: "karpenter.k8s.aws/instance-category", operator: "In", values: ["c", "m", "r"] },
            { key: "karpenter.k8s.aws/instance-generation", operator: "Gt", values: ["5"] },
            { key: "karpenter.k8s.aws/instance-cpu", operator: "Lt", values: ["17"] },
          ],
        },
      },
      limits: { cpu: 1000 },
    },
  } as unknown as NodePool;
}

function app(name: string, replicas: number, spec: PodSpec): Deployment {
  const labels = { app: name };
  return deployment({ name, namespace: "default", labels }, replicas, { matchLabels: labels }, { metadata: { labels }, spec });
}

function job(name: string, parallelism: number, spec: PodSpec): Job {
  const annotations = { [RUN_SECONDS_ANNOTATION]: BATCH_RUN_SECONDS };
  const template: PodTemplateSpec = { metadata: { labels: { app: name }, annotations }, spec };
  return {
    apiVersion: "batch/v1",
    kind: "Job",
    metadata: { name, namespace: "default" },
    spec: { parallelism, completions: parallelism, template },
  };
}

function agent(): DaemonSet {
  const labels = { app: "node-agent" };
  const spec: PodSpec = {
    tolerations: [{ operator: "Exists" }],
    affinity: {
      nodeAffinity: {
        requiredDuringSchedulingIgnoredDuringExecution: {
          nodeSelectorTerms: [{ matchExpressions: [{ key: "eks.amazonaws.com/compute-type", operator: "NotIn", values: ["fargate"] }] }],
        },
      },
    },
    containers: [container("agent", "registry.k8s.io/pause:3.10", "50m", "64Mi")],
  };
  return {
    apiVersion: "apps/v1",
    kind: "DaemonSet",
    metadata: { name: "node-agent", namespace: "kube-system", labels },
    spec: { selector: { matchLabels: labels }, template: { metadata: { labels }, spec } },
  };
}

function deployment(
  metadata: NonNullable<Deployment["metadata"]>,
  replicas: number,
  selector: Deployment["spec"]["selector"],
  template: PodTemplateSpec,
): Deployment {
  return { apiVersion: "apps/v1", kind: "Deployment", metadata, spec: { replicas, selector, template } };
}

function container(name: string, image: string, cpu: string, memory: string): PodSpec["containers"][number] {
  return { name, image, resources: { requests: { cpu, memory } } };
}
