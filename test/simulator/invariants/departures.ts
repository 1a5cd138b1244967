/**
 * Pods leave in order: no eviction against a disruption budget, nothing deleted before its grace, no machine ended under pods that
 * have not left. Rules L-132…L-155.
 */
import {
  DISRUPTED_TAINT,
  type Node,
  type NodeClaim,
  type Pod,
  type PodDisruptionBudget,
  parseTime,
  TERMINATION_TIMESTAMP_ANNOTATION,
  tolerates,
} from "@joinery/api";
import { matchesLabelSelector } from "@joinery/kube";
import { isEndedPod, isReadyPod, type Truth } from "../truth.ts";
import { Violation } from "../violation.ts";

export interface Departures {
  /** The API server has taken an eviction of this pod, which it had as `before`. */
  evicted(before: Pod): void;
  /** The API server has taken a deletion of this pod by a replica whose clock shows one of the readings. */
  deleted(before: Pod, graceSeconds: number | undefined, readings: readonly number[]): void;
  /** A replica is about to end the instance. */
  ending(instanceId: string, readings: readonly number[]): void;
  /** A NodeClaim is gone, and the deadline that it set for its Node's pods may still be acted upon. */
  claimGone(claim: NodeClaim): void;
  /** A pod came, went or changed its readiness. */
  podMoved(pod: Pod, atMs: number): void;
}

/** The budget's controller needs a moment to see what others did to the same pods. */
const BUDGET_LAG_MS = 3000;
/** Seconds on the wire are whole. */
const ROUNDING_MS = 1000;

export function createDepartures(truth: Truth, monotonicMs: () => number): Departures {
  const movedAtMs = new Map<string, number>();
  /** By name of the Node, for pods that outlived it. */
  const lastDeadlineMs = new Map<string, number>();
  const appOf = ({ metadata }: Pod) => `${metadata?.namespace}/${metadata?.labels?.app}`;

  function nodeNamed(name: string | undefined): Node | undefined {
    for (const node of truth.nodes()) if (node.metadata?.name === name) return node;
    return undefined;
  }

  function claimOf(node: Node | undefined): NodeClaim | undefined {
    const id = node?.spec?.providerID;
    if (!id) return undefined;
    for (const claim of truth.claims()) if (claim.status?.providerID === id) return claim;
    return undefined;
  }

  function deadlineOf(claim: NodeClaim | undefined): number | undefined {
    return parseTime(claim?.metadata?.annotations?.[TERMINATION_TIMESTAMP_ANNOTATION]);
  }

  function healthyUnder({ metadata, spec }: PodDisruptionBudget): number {
    let count = 0;
    for (const pod of truth.pods()) {
      if (pod.metadata?.namespace !== metadata?.namespace || pod.metadata?.deletionTimestamp !== undefined) continue;
      if (isReadyPod(pod) && matchesLabelSelector(spec?.selector, pod.metadata?.labels ?? {})) count++;
    }
    return count;
  }

  function faultOfDeletion({ metadata, spec }: Pod, graceSeconds = 0, nowMs: number): string | undefined {
    const claim = claimOf(nodeNamed(spec.nodeName));
    const deadlineMs = claim === undefined ? lastDeadlineMs.get(spec.nodeName ?? "") : deadlineOf(claim);
    if (deadlineMs === undefined) return `pod ${metadata?.name} was deleted, and its node has no deadline`;
    const graceMs = (spec.terminationGracePeriodSeconds ?? 30) * 1000;
    const isLeavingTooLate = (parseTime(metadata?.deletionTimestamp) ?? 0) > deadlineMs;
    if (nowMs + ROUNDING_MS < deadlineMs - graceMs && !isLeavingTooLate) {
      return `pod ${metadata?.name} was deleted ${deadlineMs - graceMs - nowMs} ms before its grace had to begin`;
    }
    const leftMs = Math.min(graceMs, deadlineMs - nowMs);
    if (graceSeconds >= 1 && graceSeconds * 1000 + ROUNDING_MS >= leftMs) return undefined;
    return `pod ${metadata?.name} was given ${graceSeconds} s, and had ${leftMs} ms`;
  }

  function faultOfEnding(instanceId: string, nowMs: number): string | undefined {
    // Said again, when it is on its way out already: the first time counted.
    if (!truth.living().some(({ id }) => id === instanceId)) return undefined;
    for (const node of truth.nodes()) {
      if (node.spec?.providerID?.endsWith(`/${instanceId}`) !== true) continue;
      if (!node.status?.conditions?.some(({ type, status }) => type === "Ready" && status === "True")) continue;
      const claim = claimOf(node);
      const deadlineMs = deadlineOf(claim);
      if (claim === undefined || (deadlineMs !== undefined && nowMs >= deadlineMs)) continue;
      for (const pod of truth.pods()) {
        if (pod.spec.nodeName !== node.metadata?.name || isEndedPod(pod) || !hasToLeave(pod, nowMs)) continue;
        return `instance ${instanceId} of Node ${node.metadata?.name} is ended, and pod ${pod.metadata?.name} is still on it`;
      }
    }
    return undefined;
  }

  return {
    evicted(before) {
      if (!isReadyPod(before) || before.metadata?.deletionTimestamp !== undefined) return;
      if (monotonicMs() - (movedAtMs.get(appOf(before)) ?? 0) < BUDGET_LAG_MS) return;
      for (const budget of truth.budgets()) {
        if (budget.metadata?.namespace !== before.metadata?.namespace) continue;
        if (!matchesLabelSelector(budget.spec?.selector, before.metadata?.labels ?? {})) continue;
        const floor = Number(budget.spec?.minAvailable ?? 0);
        const healthy = healthyUnder(budget);
        if (healthy < floor) {
          throw new Violation(
            "pods leave in order",
            `pod ${before.metadata?.name} was evicted, and ${healthy} healthy pods are left of the ${floor} that PodDisruptionBudget ${budget.metadata?.name} wants`,
          );
        }
      }
    },
    deleted: (before, graceSeconds, readings) => judge(readings, (nowMs) => faultOfDeletion(before, graceSeconds, nowMs)),
    ending: (instanceId, readings) => judge(readings, (nowMs) => faultOfEnding(instanceId, nowMs)),
    claimGone(claim) {
      const deadlineMs = deadlineOf(claim);
      if (deadlineMs !== undefined && claim.status?.nodeName) lastDeadlineMs.set(claim.status.nodeName, deadlineMs);
    },
    podMoved(pod, atMs) {
      movedAtMs.set(appOf(pod), atMs);
    },
  };
}

/** Wrong is what is wrong by every reading of the clock that the replica may have gone by. */
function judge(readings: readonly number[], faultAt: (nowMs: number) => string | undefined): void {
  const faults = readings.map(faultAt);
  const [fault] = faults;
  if (fault !== undefined && !faults.includes(undefined)) throw new Violation("pods leave in order", fault);
}

/** L-134…L-137: a minute after its deletion time a pod is stuck, and nobody waits for it. */
function hasToLeave(pod: Pod, nowMs: number): boolean {
  if ((pod.spec.tolerations ?? []).some((toleration) => tolerates(toleration, DISRUPTED_TAINT))) return false;
  if (pod.metadata?.ownerReferences?.some(({ kind }) => kind === "Node")) return false;
  const deletingAtMs = parseTime(pod.metadata?.deletionTimestamp);
  return deletingAtMs === undefined || nowMs - deletingAtMs <= 60_000;
}
