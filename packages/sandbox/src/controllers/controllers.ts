/** All controllers of the control plane, started in one place. */
import type { ClusterContext } from "../world/context.ts";
import { type NodeCloud, startCloudNodes } from "./cloud-node.ts";
import { startCronJobs } from "./cron-job.ts";
import { startDaemonSets } from "./daemon-set.ts";
import { startDeployments } from "./deployment.ts";
import { startDisruptionBudgets } from "./disruption-budget.ts";
import { startEndpointSlices } from "./endpoint-slice.ts";
import { startJobs } from "./job.ts";
import { startNamespaces } from "./namespace.ts";
import { type NodeLifecycleOptions, startNodeLifecycle, startTaintEviction } from "./node-lifecycle.ts";
import { startPodCollector } from "./pod-collector.ts";
import { startReplicaSets } from "./replica-set.ts";
import { startStatefulSets } from "./stateful-set.ts";

export interface ControllersOptions {
  readonly nodes: NodeLifecycleOptions;
  readonly cloud: NodeCloud;
}

export function startControllers(context: ClusterContext, { nodes, cloud }: ControllersOptions): void {
  startNamespaces(context);
  startDeployments(context);
  startReplicaSets(context);
  startStatefulSets(context);
  startDaemonSets(context);
  startJobs(context);
  startCronJobs(context);
  startDisruptionBudgets(context);
  startEndpointSlices(context);
  startNodeLifecycle(context, nodes);
  startTaintEviction(context);
  startCloudNodes(context, cloud);
  startPodCollector(context);
}
