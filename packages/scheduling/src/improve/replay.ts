/**
 * A packing made into a plan by the solver itself: each pod is offered the node that the packing has for it, through every gate that a
 * pod passes otherwise, and pods that are refused are placed greedily. So no rule has a second implementation here.
 */
import { remembered } from "../memo.ts";
import type { Plan } from "../plan.ts";
import type { Requirement } from "../requirements/requirement.ts";
import type { Solver } from "../solve/solve.ts";
import type { Template } from "../solve/template.ts";
import { type Bin, isRefillable } from "./packing.ts";
import type { PackingModel } from "./packing-model.ts";

/** Where a pod is to go: a node that exists, or one to be opened. */
type Destination =
  | { readonly kind: "node"; readonly index: number }
  | {
      readonly kind: "new";
      readonly template: Template;
      readonly pins: readonly Requirement[];
      /** When it has to be opened, among others that have to; −1 = it does not matter. */
      readonly rank: number;
      claim: number;
    };

export interface Packing {
  readonly model: PackingModel;
  readonly bins: readonly Bin[];
  /** Pods in the order in which the greedy solve placed them: in it zones keep their balance. */
  readonly sequence: readonly number[];
  /** By pod: which of its class's searches found its place then. Pods of one group may have come there by different ones. */
  readonly searchOfPod: Int16Array;
}

interface ReplayOptions {
  readonly isOverdue?: (() => boolean) | undefined;
  /** Called before a pod is offered its place, and before it is tried elsewhere. */
  readonly onTurn?: ((pod: number) => void) | undefined;
}

/** undefined where time is over before every pod had its turn. */
export function replay(
  solver: Solver,
  { model, bins, sequence, searchOfPod }: Packing,
  { isOverdue, onTurn }: ReplayOptions,
): Plan | undefined {
  const destinations = destinationsOf(model, bins);
  let waiting = refillablesFirst(
    sequence.filter((pod) => destinations.has(pod)),
    destinations,
  );
  for (let before = -1; waiting.length > 0 && waiting.length !== before; ) {
    before = waiting.length;
    if (isOverdue?.()) return undefined;
    waiting = waiting.filter((pod) => {
      onTurn?.(pod);
      return !offer(solver, pod, searchOfPod[pod]!, destinations.get(pod)!);
    });
  }
  return solver.run(onTurn);
}

/** What pools whose limits bind have left for a node depends on those that were opened before. */
function refillablesFirst(pods: readonly number[], destinations: ReadonlyMap<number, Destination>): number[] {
  const openers = new Map<number, number>();
  for (const pod of pods) {
    const destination = destinations.get(pod)!;
    if (destination.kind === "new" && destination.rank >= 0 && !openers.has(destination.rank)) openers.set(destination.rank, pod);
  }
  const first = [...openers].sort(([one], [other]) => one - other).map(([, pod]) => pod);
  const isFirst = new Set(first);
  return [...first, ...pods.filter((pod) => !isFirst.has(pod))];
}

function offer(solver: Solver, pod: number, searchIndex: number, destination: Destination): boolean {
  if (destination.kind === "node") return solver.offerNode(pod, searchIndex, destination.index);
  if (destination.claim >= 0) return solver.offerClaim(pod, searchIndex, destination.claim);
  destination.claim = solver.offerNew(pod, searchIndex, destination.template.index, destination.pins);
  return destination.claim >= 0;
}

/** Pods of a group are handed out in their order; nodes in the order of their first pods, so that equal packings give equal plans. */
function destinationsOf(model: PackingModel, bins: readonly Bin[]): ReadonlyMap<number, Destination> {
  const destinations = new Map<number, Destination>();
  const next = new Int32Array(model.groups.length);
  for (const bin of bins) {
    const { items } = bin;
    const { site } = model.spaces[bin.space]!;
    const pinned = items.filter((_, at) => at % 2 === 0).flatMap((group) => model.groups[group]!.pins);
    const destination: Destination =
      site.kind === "node"
        ? site
        : { kind: "new", template: site.template, pins: [...new Set(pinned)], rank: isRefillable(model, bin) ? bin.space : -1, claim: -1 };
    for (let at = 0; at < items.length; at += 2) {
      const { pods } = model.groups[items[at]!]!;
      for (let count = items[at + 1]!; count > 0; count--) destinations.set(pods[next[items[at]!]!++]!, destination);
    }
  }
  addResidents(model, destinations);
  return destinations;
}

/** Pods that stay at home where nobody may join them are in no space. */
function addResidents({ groups }: PackingModel, destinations: Map<number, Destination>): void {
  const homes = new Map<number, Destination>();
  for (const { home, pods, pins } of groups) {
    if (home === undefined || destinations.has(pods[0]!)) continue;
    const destination =
      home.kind === "node"
        ? home
        : remembered(homes, home.index, (): Destination => ({ kind: "new", template: home.template, pins, rank: -1, claim: -1 }));
    for (const pod of pods) destinations.set(pod, destination);
  }
}
