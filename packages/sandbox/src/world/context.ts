/** What every part of the sandbox's control plane is given: one client, one set of views, one clock, chance by name. */
import type {
  CsiNode,
  DaemonSet,
  Deployment,
  Job,
  KubeObject,
  Lease,
  Namespace,
  Node,
  PersistentVolume,
  PersistentVolumeClaim,
  Pod,
  PodDisruptionBudget,
  ReplicaSet,
  StatefulSet,
  StorageClass,
  VolumeAttachment,
} from "@joinery/api";
import type { Clock, KubeClient, Random } from "@joinery/kube";
import type { CronJob } from "../controllers/cron-job.ts";
import type { Service } from "../controllers/endpoint-slice.ts";
import type { EventSink } from "./event-sink.ts";
import type { View } from "./view.ts";

export interface ClusterViews {
  /** Indexes: `node`, `owner` (UID of the controller), `namespace`, `claim` (namespace/claim), `orphan` (namespace, of what has no controller). */
  readonly pods: View<Pod>;
  readonly nodes: View<Node>;
  readonly namespaces: View<Namespace>;
  readonly deployments: View<Deployment>;
  /** Indexes: `owner`, `namespace`. */
  readonly replicaSets: View<ReplicaSet>;
  readonly statefulSets: View<StatefulSet>;
  readonly daemonSets: View<DaemonSet>;
  /** Index: `owner`. */
  readonly jobs: View<Job>;
  readonly cronJobs: View<CronJob>;
  /** Index: `namespace`. */
  readonly disruptionBudgets: View<PodDisruptionBudget>;
  readonly claims: View<PersistentVolumeClaim>;
  readonly volumes: View<PersistentVolume>;
  readonly storageClasses: View<StorageClass>;
  readonly csiNodes: View<CsiNode>;
  /** Index: `node`. */
  readonly attachments: View<VolumeAttachment>;
  readonly leases: View<Lease>;
  readonly serviceAccounts: View<KubeObject>;
  /** Index: `namespace`. */
  readonly services: View<Service>;
}

export interface ClusterContext {
  /** A client that names the component to the API server. */
  client(component: string): KubeClient;
  readonly clock: Clock;
  /** A stream of chance of its own for each name, so that what one part draws does not shift what another one gets. */
  chance(name: string): Random;
  readonly views: ClusterViews;
  events(component: string): EventSink;
  readonly signal: AbortSignal;
  /** Faults of the control plane itself: shown by whoever runs the world. */
  report(component: string, key: string, error: unknown): void;
}
