/** What the bound pods of each Node ask for, kept up to date change by change. Rules L-25, L-28…L-30, S-76. */
import type { Resources } from "@joinery/api";
import type { Change } from "@joinery/kube";
import { isTerminal, type PodRecord } from "./pod-record.ts";

export interface NodeUsage {
  readonly requests: Resources;
  /** The part of it that DaemonSets' pods ask for. */
  readonly daemonSetRequests: Resources;
  readonly limits: Resources;
  readonly daemonSetLimits: Resources;
}

export interface UsageLedger {
  /** What to count, after the pods that existed were counted with `added`. */
  apply(change: Change<PodRecord>): void;
  of(nodeName: string): NodeUsage;
}

const nothing: NodeUsage = { requests: {}, daemonSetRequests: {}, limits: {}, daemonSetLimits: {} };

interface Sums extends NodeUsage {
  readonly requests: Record<string, number>;
  readonly daemonSetRequests: Record<string, number>;
  readonly limits: Record<string, number>;
  readonly daemonSetLimits: Record<string, number>;
  pods: number;
}

/** Usage is kept by Node name, whether or not that Node is known yet: so pods and Nodes may arrive in any order. */
export function createUsageLedger(): UsageLedger {
  const sums = new Map<string, Sums>();

  function count(pod: PodRecord, sign: 1 | -1): void {
    if (pod.nodeName === "" || isTerminal(pod)) return;
    const entry = sums.get(pod.nodeName) ?? { requests: {}, daemonSetRequests: {}, limits: {}, daemonSetLimits: {}, pods: 0 };
    sums.set(pod.nodeName, entry);
    add(entry.requests, pod.shape.requests, sign);
    add(entry.limits, pod.limits, sign);
    if (pod.owner === "daemon-set") {
      add(entry.daemonSetRequests, pod.shape.requests, sign);
      add(entry.daemonSetLimits, pod.limits, sign);
    }
    entry.pods += sign;
    if (entry.pods === 0) sums.delete(pod.nodeName);
  }

  return {
    apply(change) {
      if (change.type === "updated") count(change.previous, -1);
      count(change.object, change.type === "deleted" ? -1 : 1);
    },
    of: (nodeName) => sums.get(nodeName) ?? nothing,
  };
}

function add(into: Record<string, number>, amounts: Resources, sign: 1 | -1): void {
  for (const name in amounts) into[name] = (into[name] ?? 0) + sign * amounts[name]!;
}
