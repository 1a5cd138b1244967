/** The caches that the control plane shares: one list and watch per kind, whoever reads it. */
import type { Kind, KubeObject } from "@joinery/api";
import {
  CsiNodes,
  DaemonSets,
  Deployments,
  Jobs,
  Leases,
  Namespaces,
  Nodes,
  PersistentVolumeClaims,
  PersistentVolumes,
  PodDisruptionBudgets,
  Pods,
  ReplicaSets,
  StatefulSets,
  StorageClasses,
  VolumeAttachments,
} from "@joinery/api";
import type { Clock, IndexFunction, KubeClient, Random } from "@joinery/kube";
import { CronJobs } from "../controllers/cron-job.ts";
import { Services } from "../controllers/endpoint-slice.ts";
import { ServiceAccounts } from "../controllers/namespace.ts";
import { controllerOf } from "../controllers/pod-facts.ts";
import { claimNames } from "../scheduler/pod-info.ts";
import type { ClusterViews } from "./context.ts";
import { startView, type View } from "./view.ts";

export interface ViewsOptions {
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly chance: (name: string) => Random;
  readonly signal: AbortSignal;
  readonly report: (component: string, key: string, error: unknown) => void;
}

export interface StartedViews {
  readonly views: ClusterViews;
  whenSynced(): Promise<void>;
}

export function startViews({ client, clock, chance, signal, report }: ViewsOptions): StartedViews {
  const synced: Promise<void>[] = [];

  function view<T extends KubeObject>(kind: Kind<T>, indexes: Readonly<Record<string, IndexFunction<T>>> = {}): View<T> {
    const random = chance(`cache/${kind.resource}`);
    const onError = (error: unknown): void => report("cache", kind.resource, error);
    const started = startView({ client, kind, clock, random, signal, indexes, onError });
    synced.push(started.whenSynced(signal));
    return started;
  }

  const byNamespace = (object: KubeObject): string | undefined => object.metadata?.namespace;
  const byOwner = (object: KubeObject): string | undefined => controllerOf(object)?.uid;
  const byOrphanage = (object: KubeObject): string | undefined =>
    controllerOf(object) === undefined ? object.metadata?.namespace : undefined;
  const views: ClusterViews = {
    pods: view(Pods, {
      node: ({ spec }) => spec.nodeName,
      owner: byOwner,
      namespace: byNamespace,
      claim: (pod) => claimNames(pod).map((claim) => `${pod.metadata?.namespace}/${claim}`),
      orphan: byOrphanage,
    }),
    nodes: view(Nodes),
    namespaces: view(Namespaces),
    deployments: view(Deployments),
    replicaSets: view(ReplicaSets, { owner: byOwner, namespace: byNamespace, orphan: byOrphanage }),
    statefulSets: view(StatefulSets),
    daemonSets: view(DaemonSets),
    jobs: view(Jobs, { owner: byOwner }),
    cronJobs: view(CronJobs),
    disruptionBudgets: view(PodDisruptionBudgets, { namespace: byNamespace }),
    claims: view(PersistentVolumeClaims),
    volumes: view(PersistentVolumes),
    storageClasses: view(StorageClasses),
    csiNodes: view(CsiNodes),
    attachments: view(VolumeAttachments, { node: ({ spec }) => spec.nodeName }),
    leases: view(Leases),
    serviceAccounts: view(ServiceAccounts),
    services: view(Services, { namespace: byNamespace }),
  };
  return { views, whenSynced: async () => void (await Promise.all(synced)) };
}
