/** What is, whatever anybody's cache says: read from the store of the API server and from EC2 itself. */
import type { CapacityBuffer, Deployment, Lease, Node, NodeClaim, NodeOverlay, NodePool, Pod, PodDisruptionBudget } from "@joinery/api";
import { TERMINATION_FINALIZER } from "@joinery/api";
import type { SimulatedEc2, World } from "@joinery/sandbox";

export interface LivingInstance {
  readonly id: string;
  readonly providerId: string;
  /** Of the NodeClaim that it was launched for; "" for a stranger. */
  readonly claimUid: string;
}

export interface Truth {
  claims(): Iterable<NodeClaim>;
  findClaim(name: string): NodeClaim | undefined;
  nodes(): Iterable<Node>;
  pools(): Iterable<NodePool>;
  pods(): Iterable<Pod>;
  findPod(key: string): Pod | undefined;
  findNode(name: string): Node | undefined;
  deployments(): Iterable<Deployment>;
  budgets(): Iterable<PodDisruptionBudget>;
  buffers(): Iterable<CapacityBuffer>;
  overlays(): Iterable<NodeOverlay>;
  /** Who holds the controller's Lease; "" for nobody. */
  leaseHolder(): string;
  /** Instances that run or are about to. */
  living(): readonly LivingInstance[];
}

export const IDS = {
  claims: "karpenter.sh/nodeclaims",
  pools: "karpenter.sh/nodepools",
  nodes: "nodes",
  pods: "pods",
  deployments: "apps/deployments",
  budgets: "policy/poddisruptionbudgets",
  buffers: "autoscaling.x-k8s.io/capacitybuffers",
  overlays: "karpenter.sh/nodeoverlays",
  leases: "coordination.k8s.io/leases",
} as const;

const LEASE = "karpenter/karpenter-leader-election";
const CLAIM_UID_TAG = "joinery.dev/nodeclaim-uid";

export function createTruth(world: World, ec2: SimulatedEc2): Truth {
  const { store } = world.apiServer.inside.backend;
  const all = <T>(id: string) => store.collection(id).values() as unknown as Iterable<T>;
  const find = <T>(id: string, key: string) => store.collection(id).find(key) as unknown as T | undefined;
  return {
    claims: () => all<NodeClaim>(IDS.claims),
    findClaim: (name) => find<NodeClaim>(IDS.claims, name),
    nodes: () => all<Node>(IDS.nodes),
    pools: () => all<NodePool>(IDS.pools),
    pods: () => all<Pod>(IDS.pods),
    findPod: (key) => find<Pod>(IDS.pods, key),
    findNode: (name) => find<Node>(IDS.nodes, name),
    deployments: () => all<Deployment>(IDS.deployments),
    budgets: () => all<PodDisruptionBudget>(IDS.budgets),
    buffers: () => all<CapacityBuffer>(IDS.buffers),
    overlays: () => all<NodeOverlay>(IDS.overlays),
    leaseHolder: () => find<Lease>(IDS.leases, LEASE)?.spec?.holderIdentity ?? "",
    living: () =>
      ec2.control
        .instances()
        .filter(({ state }) => state === "pending" || state === "running")
        .map(({ instance }) => ({
          id: instance.InstanceId,
          providerId: `aws:///${instance.Placement.AvailabilityZone}/${instance.InstanceId}`,
          claimUid: instance.Tags?.find(({ Key }) => Key === CLAIM_UID_TAG)?.Value ?? "",
        })),
  };
}

export function isOurs(node: Node): boolean {
  return node.metadata?.finalizers?.includes(TERMINATION_FINALIZER) === true;
}

export function isReadyPod({ status }: Pod): boolean {
  return status?.conditions?.some(({ type, status: is }) => type === "Ready" && is === "True") === true;
}

export function isEndedPod({ status }: Pod): boolean {
  return status?.phase === "Succeeded" || status?.phase === "Failed";
}
