/** What is looked for in the cluster: who runs, who waits, which nodes are machines of EC2. */
import { Ec2NodeClasses, EKS_COMPUTE_TYPE_LABEL, type Node, NodePools, type Pod } from "@joinery/api";
import type { KubeClient } from "@joinery/kube";

/** Running and ready, or done as a Job's pod should be. */
export function isRunning({ status, metadata }: Pod): boolean {
  if (status?.phase === "Succeeded") return true;
  if (status?.phase !== "Running" || metadata?.deletionTimestamp !== undefined) return false;
  return status.conditions?.some(({ type, status: value }) => type === "Ready" && value === "True") ?? false;
}

export function isEc2Node({ metadata }: Node): boolean {
  return metadata?.labels?.[EKS_COMPUTE_TYPE_LABEL] !== "fargate";
}

/** `31 pods run, 12 wait for a node, 3 start` */
export function describePods(pods: readonly Pod[]): string {
  const running = pods.filter(isRunning).length;
  const waiting = pods.filter(({ spec }) => !spec.nodeName).length;
  const starting = pods.length - running - waiting;
  const parts = [`${running} pods run`, waiting > 0 && `${waiting} wait for a node`, starting > 0 && `${starting} start`];
  return parts.filter((part) => part !== false).join(", ");
}

/** Follow from other conditions. */
const CONSEQUENCES = new Set(["Ready", "NodeClassReady", "ValidationSucceeded"]);

/** Why no pool can be used: `EC2NodeClass/default: SubnetSelector did not match any Subnets`. */
export async function findObstacles(client: KubeClient, signal: AbortSignal): Promise<string[]> {
  const [classes, pools] = await Promise.all([client.list(Ec2NodeClasses, {}, signal), client.list(NodePools, {}, signal)]);
  return [...classes.items, ...pools.items].flatMap(({ kind, metadata, status }) =>
    (status?.conditions ?? [])
      .filter((condition) => condition.status === "False" && !CONSEQUENCES.has(condition.type))
      .map((condition) => `${kind}/${metadata?.name}: ${condition.message || condition.reason}`),
  );
}
