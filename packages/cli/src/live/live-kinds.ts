/** Which kinds of a cluster `plan`, `explain` and `lint` list. The ClusterRole of docs/live.md grants these and no more. */
import {
  CapacityBuffers,
  CsiNodes,
  DaemonSets,
  Deployments,
  Ec2NodeClasses,
  Jobs,
  type Kind,
  KwokNodeClasses,
  kind,
  Namespaces,
  NodeClaims,
  NodeOverlays,
  NodePools,
  Nodes,
  PersistentVolumeClaims,
  PersistentVolumes,
  PodDisruptionBudgets,
  Pods,
  PodTemplates,
  ReplicaSets,
  ReplicationControllers,
  Services,
  StatefulSets,
  StorageClasses,
} from "@joinery/api";

/** What of a cluster is looked at beside what always is. */
export interface LiveWants {
  /** The rules of `lint` look at more than a plan does. */
  readonly lint: boolean;
  readonly overlays: boolean;
  readonly buffers: boolean;
  readonly defaultSpread: boolean;
}

export interface LiveKind {
  readonly kind: Kind;
  /** `essential`: no answer without it. `useful`: said when it cannot be read. `extension`: a cluster without it is as good as any. */
  readonly role: "essential" | "useful" | "extension";
  isWanted(wants: LiveWants): boolean;
}

const LimitRanges = kind("", "v1", "LimitRange", "limitranges", true);
const CronJobs = kind("batch", "v1", "CronJob", "cronjobs", true);

const always = () => true;

/**
 * Pods come first: what is made for them while the rest is read then counts, while a pod that is bound in between is only planned
 * beside the node that was made for it.
 */
export const LIVE_KINDS: readonly LiveKind[] = [
  { kind: Pods, role: "essential", isWanted: always },
  { kind: NodePools, role: "essential", isWanted: always },
  { kind: NodeClaims, role: "essential", isWanted: always },
  { kind: Nodes, role: "essential", isWanted: always },
  { kind: Ec2NodeClasses, role: "extension", isWanted: always },
  { kind: KwokNodeClasses, role: "extension", isWanted: always },
  { kind: NodeOverlays, role: "extension", isWanted: ({ lint, overlays }) => lint || overlays },
  { kind: CapacityBuffers, role: "extension", isWanted: ({ buffers }) => buffers },
  { kind: PodTemplates, role: "useful", isWanted: ({ buffers }) => buffers },
  { kind: Namespaces, role: "useful", isWanted: always },
  { kind: Deployments, role: "useful", isWanted: always },
  { kind: ReplicaSets, role: "useful", isWanted: always },
  { kind: ReplicationControllers, role: "useful", isWanted: always },
  { kind: StatefulSets, role: "useful", isWanted: always },
  { kind: DaemonSets, role: "useful", isWanted: always },
  { kind: Jobs, role: "useful", isWanted: always },
  { kind: CronJobs, role: "useful", isWanted: ({ lint }) => lint },
  { kind: PodDisruptionBudgets, role: "useful", isWanted: ({ lint }) => lint },
  { kind: PersistentVolumeClaims, role: "useful", isWanted: always },
  { kind: PersistentVolumes, role: "useful", isWanted: always },
  { kind: StorageClasses, role: "useful", isWanted: always },
  { kind: CsiNodes, role: "useful", isWanted: always },
  { kind: LimitRanges, role: "useful", isWanted: always },
  { kind: Services, role: "useful", isWanted: ({ defaultSpread }) => defaultSpread },
];
