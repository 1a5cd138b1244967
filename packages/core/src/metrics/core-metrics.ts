/** What the loops count. Names, labels and buckets are those of dashboards that exist. Rules O-171…O-188, O-205, O-218…O-222. */
import type { Clock } from "@joinery/kube";
import { DURATION_BUCKETS, doublings, LIFETIME_BUCKETS } from "./buckets.ts";
import { Counter, Gauge, Histogram, type Registry, withoutSeries } from "./prometheus.ts";
import { createSummary } from "./summary.ts";

export type CoreMetrics = ReturnType<typeof createCoreMetrics>;

export function createCoreMetrics(registry: Registry, clock: Clock) {
  const registers = [registry];
  const counter = <T extends string>(name: string, help: string, labelNames: readonly T[]) =>
    new Counter<T>({ name: `karpenter_${name}`, help, labelNames: [...labelNames], registers });
  const gauge = <T extends string>(name: string, help: string, labelNames: readonly T[]) =>
    new Gauge<T>({ name: `karpenter_${name}`, help, labelNames: [...labelNames], registers });
  const histogram = <T extends string>(name: string, help: string, labelNames: readonly T[], buckets: number[]) =>
    new Histogram<T>({ name: `karpenter_${name}`, help, labelNames: [...labelNames], buckets, registers });
  const disruption = ["reason", "nodepool", "capacity_type", "consolidation_policy", "termination_mode"] as const;

  const metrics = {
    nodeClaimsCreated: counter("nodeclaims_created_total", "NodeClaims created.", ["reason", "nodepool", "min_values_relaxed"]),
    nodeClaimsTerminated: counter("nodeclaims_terminated_total", "NodeClaims whose finalizer was removed.", [
      "nodepool",
      "capacity_type",
      "zone",
    ]),
    nodeClaimsDisrupted: counter("nodeclaims_disrupted_total", "NodeClaims deleted by the controller.", disruption),
    podsDisruptionInitiated: counter("pods_disruption_initiated_total", "Reschedulable pods on disrupted nodes.", disruption),
    instanceTermination: histogram(
      "nodeclaims_instance_termination_duration_seconds",
      "From the request to delete an instance until it is gone.",
      ["nodepool"],
      doublings(11),
    ),
    nodeClaimTermination: histogram(
      "nodeclaims_termination_duration_seconds",
      "From a NodeClaim's deletion until its finalizer is removed.",
      ["nodepool"],
      doublings(12),
    ),
    nodesCreated: counter("nodes_created_total", "Nodes registered.", ["nodepool", "zone"]),
    nodesTerminated: counter("nodes_terminated_total", "Nodes whose finalizer was removed.", ["nodepool", "zone"]),
    nodesDrained: counter("nodes_drained_total", "Nodes drained.", ["nodepool"]),
    nodeTermination: createSummary(registry, clock, {
      name: "karpenter_nodes_termination_duration_seconds",
      help: "From a Node's deletion until its finalizer is removed.",
      labelNames: ["nodepool"],
    }),
    nodeLifetime: histogram("nodes_lifetime_duration_seconds", "Age of Nodes at their end.", ["nodepool"], LIFETIME_BUCKETS),
    evictionRequests: counter("pods_eviction_requests_total", "Eviction requests by HTTP status.", ["code"]),
    podsDrained: counter("pods_drained_total", "Pods evicted or deleted while draining.", ["reason"]),
    schedulingDecision: withoutSeries(
      histogram(
        "pods_scheduling_decision_duration_seconds",
        "From when a pod was first seen to want a node until the first decision about it.",
        [],
        DURATION_BUCKETS,
      ),
    ),
    schedulingDuration: histogram("scheduler_scheduling_duration_seconds", "Duration of one solve.", ["controller"], DURATION_BUCKETS),
    queueDepth: gauge("scheduler_queue_depth", "Pods that a solve has still to place.", ["controller", "scheduling_id"]),
    // A solve holds the thread, so nobody sees this one; it is there for whoever asks for its name.
    unfinishedWork: gauge("scheduler_unfinished_work_seconds", "How long the solve that runs has taken so far.", [
      "controller",
      "scheduling_id",
    ]),
    costErrors: counter("nodepools_cost_tracker_errors_total", "Failures to learn the prices of a NodePool's nodes.", ["nodepool"]),
    ignoredPods: withoutSeries(gauge("scheduler_ignored_pods_count", "Pods that failed validation in the last solve.", [])),
    pendingPodsByZone: gauge(
      "scheduler_pending_pods_by_effective_zone_count",
      "Pending pods of the last solve by the zone they can go to.",
      ["controller", "zone"],
    ),
    deletionCostPending: gauge(
      "pod_deletion_cost_nodes_with_pending_annotation_writes",
      "Nodes whose pods get another deletion cost by the last pass.",
      ["nodepool"],
    ),
    deletionCostWrites: counter("pod_deletion_cost_pod_annotation_writes_total", "Deletion costs of pods by what became of the write.", [
      "result",
    ]),
    unschedulablePods: gauge("scheduler_unschedulable_pods_count", "Pods that the last solve left unplaced.", ["controller"]),
  };
  return {
    ...metrics,
    /** O-77: who leads no more shows no state. What was counted stays. */
    endTerm() {
      const { queueDepth, pendingPodsByZone, unschedulablePods, deletionCostPending, ignoredPods } = metrics;
      for (const state of [queueDepth, pendingPodsByZone, unschedulablePods, deletionCostPending]) state.reset();
      withoutSeries(ignoredPods);
    },
  };
}

/** Seconds are what Prometheus counts in. */
export function seconds(ms: number): number {
  return ms / 1000;
}
