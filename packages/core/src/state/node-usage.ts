/** What the bound pods of each Node ask for, kept up to date change by change. Rules L-25, L-28…L-30, S-76. */
import type { Resources } from "@joinery/api";
import type { Change } from "@joinery/kube";
import type { PodShape } from "@joinery/scheduling";
import { isTerminal, type PodRecord } from "./pod-record.ts";

export interface NodeUsage {
  readonly requests: Resources;
  /** The part of it that DaemonSets' pods ask for. */
  readonly daemonSetRequests: Resources;
  readonly limits: Resources;
  readonly daemonSetLimits: Resources;
  /** How many pods there are of each shape, and how many of those that are on their way out. */
  readonly running: ReadonlyMap<PodShape, number>;
  readonly ending: ReadonlyMap<PodShape, number>;
}

export interface UsageLedger {
  /** What to count, after the pods that existed were counted with `added`. */
  apply(change: Change<PodRecord>): void;
  of(nodeName: string): NodeUsage;
}

const nothing: NodeUsage = { requests: {}, daemonSetRequests: {}, limits: {}, daemonSetLimits: {}, running: new Map(), ending: new Map() };

interface Sums extends NodeUsage {
  readonly requests: Record<string, number>;
  readonly daemonSetRequests: Record<string, number>;
  readonly limits: Record<string, number>;
  readonly daemonSetLimits: Record<string, number>;
  readonly running: Map<PodShape, number>;
  ending: Map<PodShape, number>;
  pods: number;
}

/** Usage is kept by Node name, whether or not that Node is known yet: so pods and Nodes may arrive in any order. */
export function createUsageLedger(): UsageLedger {
  const sums = new Map<string, Sums>();

  function count(pod: PodRecord, sign: 1 | -1): void {
    if (pod.nodeName === "" || isTerminal(pod)) return;
    const entry = sums.get(pod.nodeName) ?? newSums();
    sums.set(pod.nodeName, entry);
    if (pod.deletingAtMs === undefined) tally(entry.running, pod.shape, sign);
    else {
      if (entry.ending === NONE_ENDING) entry.ending = new Map();
      tally(entry.ending, pod.shape, sign);
    }
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

/** Most nodes have no pod on its way out. */
const NONE_ENDING = new Map<PodShape, number>();

function newSums(): Sums {
  return { requests: {}, daemonSetRequests: {}, limits: {}, daemonSetLimits: {}, running: new Map(), ending: NONE_ENDING, pods: 0 };
}

function tally(counts: Map<PodShape, number>, shape: PodShape, sign: 1 | -1): void {
  const count = (counts.get(shape) ?? 0) + sign;
  if (count === 0) counts.delete(shape);
  else counts.set(shape, count);
}

function add(into: Record<string, number>, amounts: Resources, sign: 1 | -1): void {
  for (const name in amounts) into[name] = (into[name] ?? 0) + sign * amounts[name]!;
}
