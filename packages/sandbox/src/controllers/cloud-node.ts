/** The cloud's part in nodes: what it knows about a new one, and the removal of those whose instance is gone. */
import { findCondition, isConditionTrue, type Node, Nodes } from "@joinery/api";
import { isNotFound } from "@joinery/kube";
import type { ClusterContext } from "../world/context.ts";
import { startWorkLoop } from "../world/work-loop.ts";

/** What a cloud says of the instance behind a node. */
export interface CloudInstance {
  readonly providerId: string;
  readonly instanceType?: string;
  readonly region?: string;
  readonly zone?: string;
  /** The cloud's own name of the zone, the same in every account. */
  readonly zoneId?: string;
}

export interface NodeCloud {
  /** undefined when there is no such instance (any more). */
  instanceOf(node: Node): CloudInstance | undefined;
  /** Whether this cloud answers for nodes with such a provider ID at all; others are left alone. */
  isMine(node: Node): boolean;
}

const UNINITIALIZED = "node.cloudprovider.kubernetes.io/uninitialized";
/** The real controller looks at nodes that are not ready every five seconds; here after so long, when there is one. */
const CHECK_MS = 5_000;

export function startCloudNodes(context: ClusterContext, cloud: NodeCloud): void {
  const { views } = context;
  const client = context.client("cloud-controller-manager");
  const events = context.events("cloud-node-lifecycle-controller");

  async function reconcile(name: string): Promise<number | undefined> {
    const node = views.nodes.find(name);
    if (node === undefined || !cloud.isMine(node)) {
      return undefined;
    }
    const instance = cloud.instanceOf(node);
    if (instance !== undefined) {
      await initialize(node, instance);
      return isConditionTrue(node, "Ready") ? undefined : CHECK_MS;
    }
    if (isConditionTrue(node, "Ready")) {
      return undefined; // its silence will come back here
    }
    events.publish(node, { reason: "DeletingNode", message: `Deleting node ${name} because it does not exist in the cloud provider` });
    await client.delete(Nodes, { name }, { uid: node.metadata?.uid }).catch((error: unknown) => {
      if (!isNotFound(error)) {
        throw error;
      }
    });
    return undefined;
  }

  async function initialize(node: Node, instance: CloudInstance): Promise<void> {
    const taints = node.spec?.taints ?? [];
    if (!taints.some(({ key }) => key === UNINITIALIZED)) {
      return;
    }
    const labels = Object.fromEntries(
      Object.entries({
        "node.kubernetes.io/instance-type": instance.instanceType,
        "topology.kubernetes.io/region": instance.region,
        "topology.kubernetes.io/zone": instance.zone,
        "topology.k8s.aws/zone-id": instance.zoneId,
      }).filter(([, value]) => value !== undefined),
    );
    const body = {
      metadata: { resourceVersion: node.metadata?.resourceVersion, labels },
      spec: { providerID: node.spec?.providerID ?? instance.providerId, taints: taints.filter(({ key }) => key !== UNINITIALIZED) },
    };
    views.nodes.wrote(await client.patch(Nodes, { name: node.metadata?.name ?? "" }, { type: "merge", body }));
    events.publish(node, { reason: "Synced", message: "Node synced successfully" });
  }

  const loop = startWorkLoop({ name: "cloud-controller-manager", context, reconcile });
  views.nodes.onChange((change) => {
    const isSettled = change.type === "updated" && stateOf(change.previous) === stateOf(change.object);
    if (change.type !== "deleted" && !isSettled) {
      loop.add(change.object.metadata?.name ?? "");
    }
  });
}

function stateOf(node: Node): string {
  return JSON.stringify([findCondition(node, "Ready")?.status, node.spec?.taints, node.spec?.providerID]);
}
