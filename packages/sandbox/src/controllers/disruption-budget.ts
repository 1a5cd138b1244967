/** PodDisruptionBudgets: how many pods may be evicted now. The eviction API spends what stands here and notes whom it evicted. */
import type { OwnerReference, Pod, PodDisruptionBudget } from "@joinery/api";
import { PodDisruptionBudgets } from "@joinery/api";
import { keyOf, matchesLabelSelector } from "@joinery/kube";
import type { ClusterContext, ClusterViews } from "../world/context.ts";
import { GATHER_MS, startWorkLoop } from "../world/work-loop.ts";
import { budgetTarget, type Scale, unmanagedMessage } from "./budget-target.ts";
import { withCondition } from "./condition-list.ts";
import { controllerOf, isEnded, isReady, timeMs } from "./pod-facts.ts";
import { writeStatus } from "./status-writer.ts";

/** An evicted pod that has not gone by then is counted as healthy again: its deletion was lost. */
const DISRUPTED_MS = 120_000;

export function startDisruptionBudgets(context: ClusterContext): void {
  const { views, clock } = context;
  const client = context.client("disruption-controller");
  const events = context.events("controllermanager");

  async function reconcile(key: string): Promise<number | undefined> {
    const budget = views.disruptionBudgets.find(key);
    if (budget === undefined || views.disruptionBudgets.isLeaving(budget)) {
      return undefined;
    }
    const nowMs = clock.wallMs();
    const pods = selectedPods(budget);
    const { disrupted, afterMs } = stillDisrupted(budget, pods, nowMs);
    if (pods.length === 0) {
      events.publish(budget, { reason: "NoPods", message: "No matching pods found" });
    }
    const target = budgetTarget(budget, pods, scaleIn(views, pods));
    if (target.kind === "failed") {
      return refuseAll(budget, target.message);
    }
    const { expected, desired } = target;
    if (target.hasUnmanaged) {
      events.publish(budget, { type: "Warning", reason: "UnmanagedPods", message: unmanagedMessage(budget) });
    }
    const current = pods.filter(
      (pod) => isReady(pod) && !views.pods.isLeaving(pod) && disrupted[pod.metadata?.name ?? ""] === undefined,
    ).length;
    const allowed = expected > 0 ? Math.max(0, current - desired) : 0;
    const before = budget.status?.conditions;
    const reason = allowed > 0 ? "SufficientPods" : "InsufficientPods";
    const observedGeneration = budget.metadata?.generation ?? 0;
    const wish = { type: "DisruptionAllowed", status: allowed > 0 ? "True" : "False", reason, message: "", observedGeneration } as const;
    const status = {
      expectedPods: expected,
      desiredHealthy: desired,
      currentHealthy: current,
      disruptionsAllowed: allowed,
      observedGeneration,
      conditions: withCondition(before, wish, nowMs),
      ...disruptedPatch(budget, disrupted),
    };
    // Evictions spend the budget between our read and our write: theirs must not be undone.
    views.disruptionBudgets.wrote(await writeStatus(client, PodDisruptionBudgets, budget, status, { isGuarded: true }));
    return afterMs;
  }

  /** The target is not known: nobody is evicted, everything else stays as it was. */
  async function refuseAll(budget: PodDisruptionBudget, message: string): Promise<undefined> {
    const text = `Failed to calculate the number of expected pods: ${message}`;
    events.publish(budget, { type: "Warning", reason: "CalculateExpectedPodCountFailed", message: text });
    const observedGeneration = budget.metadata?.generation ?? 0;
    const wish = { type: "DisruptionAllowed", status: "False", reason: "SyncFailed", message, observedGeneration } as const;
    const { expectedPods = 0, desiredHealthy = 0, currentHealthy = 0 } = budget.status ?? {};
    const conditions = withCondition(budget.status?.conditions, wish, clock.wallMs());
    const status = { expectedPods, desiredHealthy, currentHealthy, disruptionsAllowed: 0, observedGeneration, conditions };
    views.disruptionBudgets.wrote(await writeStatus(client, PodDisruptionBudgets, budget, status, { isGuarded: true }));
    return undefined;
  }

  function selectedPods(budget: PodDisruptionBudget): Pod[] {
    const pods = views.pods.by("namespace", budget.metadata?.namespace ?? "");
    return pods.filter((pod) => matchesLabelSelector(budget.spec.selector, pod.metadata?.labels) && !isEnded(pod));
  }

  const loop = startWorkLoop({ name: "disruption-controller", context, reconcile });
  views.disruptionBudgets.onChange(({ object }) => loop.add(keyOf(object)));
  const addBudgetsOf = (pod: Pod): void => {
    for (const budget of views.disruptionBudgets.by("namespace", pod.metadata?.namespace ?? "")) {
      if (matchesLabelSelector(budget.spec.selector, pod.metadata?.labels)) {
        loop.addAfter(keyOf(budget), GATHER_MS);
      }
    }
  };
  views.pods.onChange((change) => {
    addBudgetsOf(change.object);
    if (change.type === "updated" && change.previous.metadata?.labels !== change.object.metadata?.labels) {
      addBudgetsOf(change.previous);
    }
  });
  const addNamespace = ({ object }: { readonly object: { readonly metadata?: { readonly namespace?: string } } }): void => {
    for (const budget of views.disruptionBudgets.by("namespace", object.metadata?.namespace ?? "")) {
      loop.add(keyOf(budget));
    }
  };
  views.deployments.onChange(addNamespace);
  views.statefulSets.onChange(addNamespace);
}

function stillDisrupted(budget: PodDisruptionBudget, pods: readonly Pod[], nowMs: number) {
  const disrupted: Record<string, string> = {};
  let afterMs: number | undefined;
  for (const [name, since] of Object.entries(budget.status?.disruptedPods ?? {})) {
    const leftMs = timeMs(since) + DISRUPTED_MS - nowMs;
    const isThere = pods.some(({ metadata }) => metadata?.name === name && metadata.deletionTimestamp === undefined);
    if (isThere && leftMs > 0) {
      disrupted[name] = since;
      afterMs = Math.min(afterMs ?? leftMs, leftMs);
    }
  }
  return { disrupted, afterMs };
}

/** A merge patch that removes whom the budget no longer counts as disrupted, and touches nobody whom an eviction has just added. */
function disruptedPatch(
  budget: PodDisruptionBudget,
  disrupted: Readonly<Record<string, string>>,
): { readonly disruptedPods?: Record<string, string | null> } {
  const gone = Object.keys(budget.status?.disruptedPods ?? {}).filter((name) => disrupted[name] === undefined);
  return gone.length === 0 ? {} : { disruptedPods: Object.fromEntries(gone.map((name) => [name, null])) };
}

/** Kinds whose objects own pods and have no scale. */
const UNSCALABLE: Readonly<Record<string, string>> = { DaemonSet: "daemonsets.apps", Job: "jobs.batch", Node: "nodes" };

/** What the owner of a pod wants in all: of a ReplicaSet, what the Deployment above wants. */
function scaleIn(views: ClusterViews, pods: readonly Pod[]): (pod: Pod, owner: OwnerReference) => Scale {
  return (pod, owner) => {
    const resource = UNSCALABLE[owner.kind];
    if (resource !== undefined) {
      return { kind: "unscalable", resource };
    }
    const key = `${pod.metadata?.namespace}/${owner.name}`;
    if (owner.kind === "ReplicaSet") {
      const set = views.replicaSets.find(key);
      const above = set === undefined ? undefined : controllerOf(set);
      const deployment = above?.kind === "Deployment" ? views.deployments.find(`${pod.metadata?.namespace}/${above.name}`) : undefined;
      return { kind: "scale", uid: above?.uid ?? owner.uid, replicas: (deployment ?? set)?.spec.replicas ?? 1 };
    }
    if (owner.kind === "StatefulSet") {
      return { kind: "scale", uid: owner.uid, replicas: views.statefulSets.find(key)?.spec.replicas ?? 1 };
    }
    return { kind: "scale", uid: owner.uid, replicas: pods.filter((other) => controllerOf(other)?.uid === owner.uid).length };
  };
}
