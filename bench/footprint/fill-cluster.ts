/** Writes a cluster at rest through an API server on which nobody else acts: full nodes with their NodeClaims, Deployments, ReplicaSets and their pods. */
import {
  CustomResourceDefinitions,
  crdOf,
  Deployments,
  type Kind,
  type KubeObject,
  KwokNodeClasses,
  Namespaces,
  NodeClaims,
  NodePools,
  Nodes,
  OWNED_KINDS,
  Pods,
  ReplicaSets,
} from "@joinery/api";
import { ApiError, type KubeClient } from "@joinery/kube";
import {
  LEASE_NAMESPACE,
  NAMESPACE,
  node,
  nodeClaim,
  nodePool,
  podTemplate,
  RESTING_REQUESTS,
  restingPod,
  workloadLabels,
} from "./cluster-objects.ts";

export interface ClusterSize {
  readonly nodes: number;
  readonly pods: number;
  readonly deployments: number;
}

/** As many requests are on their way at once. */
const CONCURRENCY = 16;
const NODE_CLASS_READY = [{ type: "Ready", status: "True", reason: "Ready", message: "", lastTransitionTime: "2026-11-01T08:00:00Z" }];

export async function fillCluster(kube: KubeClient, { nodes, pods, deployments }: ClusterSize): Promise<void> {
  for (const kind of OWNED_KINDS) await kube.create(CustomResourceDefinitions, crdOf(kind) as KubeObject);
  for (const kind of OWNED_KINDS) await untilServed(kube, kind);
  for (const name of [NAMESPACE, LEASE_NAMESPACE]) await kube.create(Namespaces, { metadata: { name } });
  await createWithStatus(kube, KwokNodeClasses, {
    metadata: { name: "default" },
    spec: {},
    status: { conditions: NODE_CLASS_READY },
  } as never);
  await kube.create(NodePools, nodePool());
  const podsMax = nodes === 0 ? 0 : Math.ceil(pods / nodes);
  await inParallel(nodes, async (index) => {
    const claim = await createWithStatus(kube, NodeClaims, nodeClaim(index, podsMax));
    await createWithStatus(kube, Nodes, node(index, claim, podsMax));
  });
  const replicaSets = await createWorkloads(kube, deployments, pods);
  await inParallel(pods, async (index) => {
    const replicaSet = replicaSets[index % replicaSets.length]!;
    await createWithStatus(kube, Pods, restingPod({ index, nodeIndex: index % nodes, replicaSet }));
  });
}

async function createWorkloads(kube: KubeClient, deployments: number, pods: number): Promise<readonly KubeObject[]> {
  const made: KubeObject[] = [];
  await inParallel(pods === 0 ? 0 : deployments, async (index) => {
    const deployment = await kube.create(Deployments, deploymentOf(index, replicasOf(index, deployments, pods)) as never);
    const labels = workloadLabels(index);
    const { app = "" } = labels;
    const owner = { apiVersion: "apps/v1", kind: "Deployment", name: app, uid: deployment.metadata?.uid ?? "", controller: true };
    const metadata = { name: `${app}-${labels["pod-template-hash"]}`, namespace: NAMESPACE, labels, ownerReferences: [owner] };
    const spec = {
      replicas: replicasOf(index, deployments, pods),
      selector: { matchLabels: { app, "pod-template-hash": labels["pod-template-hash"] } },
      template: { metadata: { labels }, spec: podTemplate(app, RESTING_REQUESTS) },
    };
    made[index] = await kube.create(ReplicaSets, { metadata, spec } as never);
  });
  return made;
}

/** Together as many pods as wanted; each Deployment is one workload. */
export async function createDeployments(kube: KubeClient, deployments: number, pods: number): Promise<void> {
  await inParallel(deployments, async (index) => {
    await kube.create(Deployments, deploymentOf(index, replicasOf(index, deployments, pods)) as never);
  });
}

function replicasOf(index: number, deployments: number, pods: number): number {
  return Math.floor(pods / deployments) + (index < pods % deployments ? 1 : 0);
}

function deploymentOf(index: number, replicas: number) {
  const { "pod-template-hash": _, ...labels } = workloadLabels(index);
  const { app = "" } = labels;
  const template = { metadata: { labels }, spec: podTemplate(app, RESTING_REQUESTS) };
  return { metadata: { name: app, namespace: NAMESPACE, labels }, spec: { replicas, selector: { matchLabels: { app } }, template } };
}

export async function createWithStatus<T extends KubeObject>(kube: KubeClient, kind: Kind<T>, object: T): Promise<T> {
  const { status } = object as { readonly status?: unknown };
  const created = await kube.create(kind, object);
  return kube.replace(kind, { ...created, status }, { subresource: "status" });
}

async function untilServed(kube: KubeClient, kind: Kind): Promise<void> {
  const isServed = () =>
    kube.list(kind, { limit: 1 }).then(
      () => true,
      (error: unknown) => (error instanceof ApiError ? false : Promise.reject(error)),
    );
  while (!(await isServed())) await new Promise((resolve) => setTimeout(resolve, 200));
}

async function inParallel(count: number, work: (index: number) => Promise<void>): Promise<void> {
  let next = 0;
  const worker = async () => {
    while (next < count) await work(next++);
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, worker));
}
