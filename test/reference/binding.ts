/**
 * Would kube-scheduler bind every pod to the node that the plan has for it? Asked of several worlds, because a node may become any of its
 * types in any of its zones. The order in which pods are bound is kube-scheduler's own, so one order in which all of them get there
 * is enough: pods that are refused try again, as they do there, then they go first, and some orders are drawn by lot.
 */
import type { Plan, PodShape, Problem } from "@joinery/scheduling";
import { type Fault, type FaultKind, fault } from "./fault.ts";
import { isKnownRefusal } from "./known-refusals.ts";
import { type KubeNode, KubeScheduler } from "./kube-scheduler.ts";
import { fittingMachines, type Newcomer, type World, worldsOf } from "./worlds.ts";

/** Orders that are tried before all of them are searched; most plans need one. */
const ORDERS = 200;
/** After so many tries that put the refused in front, everybody is shuffled. */
const TRIES_PER_SHUFFLE = 8;
/** So many sets of bound pods are looked at one after the other where no order that was tried is a good one. */
const SETS_MAX = 2000;

interface Outcome {
  /** In the order in which they were bound. */
  readonly order: readonly Newcomer[];
  readonly faults: readonly Fault[];
}

/** Nothing where a node holds its pods on no machine, which is said elsewhere. */
export function bindingFaults(plan: Plan, problem: Problem): readonly Fault[] {
  for (const world of worldsOf(plan, problem)) {
    const { faults } = bestOutcome(world, problem, false);
    if (faults.length > 0) return faults;
  }
  return [];
}

/** An order in which kube-scheduler binds all, looking past nothing and with nodes that leave still there; undefined when there is none. */
export function strictOrder(world: World, problem: Problem): readonly Newcomer[] | undefined {
  const staying = world.nodes.map((node) => ({ ...node, isLeaving: false }));
  const { order, faults } = bestOutcome({ ...world, nodes: staying }, problem, true);
  return faults.length === 0 ? order : undefined;
}

/**
 * What keeps one pod of the plan from its node when it waits until nobody else can be bound, in each world; undefined where nothing does.
 * Nodes that hold their pods on no machine are not there, nor are their pods.
 * @param isStrict what a rule asks for although kube-scheduler refuses it is looked past for the others alone, not for this pod
 */
export function lastPlaceRefusals(key: string, plan: Plan, problem: Problem, isStrict = false): readonly (FaultKind | undefined)[] {
  const newNodes = plan.newNodes.filter((node) => fittingMachines(node, problem).length > 0);
  return worldsOf({ ...plan, newNodes }, problem).map(({ nodes, bound, newcomers }) => {
    const last = newcomers.find((pod) => pod.key === key);
    if (last === undefined) return "resources";
    const scheduler = new KubeScheduler(problem, nodes, bound);
    const others = newcomers.filter((pod) => pod !== last);
    const { order } = bestOutcome({ nodes, bound, newcomers: others }, problem, false);
    const placed = new Set(order);
    if (isStrict) {
      for (const pod of order) scheduler.bind(pod.key, pod.shape, scheduler.nodeNamed(pod.node));
      return scheduler.refusal(last.shape, scheduler.nodeNamed(last.node));
    }
    const { faults } = bindAll([...order, last, ...others.filter((pod) => !placed.has(pod))], scheduler, false);
    return faults.find(({ subject }) => subject === key)?.kind;
  });
}

/** In each world: is there a moment, while the others are bound one after the other, at which the pod would be welcome where the plan has it? */
export function hasMoment(
  key: string,
  plan: Plan,
  problem: Problem,
  isWelcome: (shape: PodShape, node: KubeNode, scheduler: KubeScheduler) => boolean,
): readonly boolean[] {
  return worldsOf(plan, problem).map(({ nodes, bound, newcomers }) => {
    const { shape, node } = newcomers.find((pod) => pod.key === key)!;
    const others = newcomers.filter((pod) => pod.key !== key);
    const scheduler = new KubeScheduler(problem, nodes, bound);
    const byName = new Map(scheduler.nodes.map((place) => [place.name, place]));
    const isWelcomeNow = () => isWelcome(shape, byName.get(node)!, scheduler);
    return (
      isWelcomeNow() ||
      bestOutcome({ nodes, bound, newcomers: others }, problem, false).order.some((other) => {
        scheduler.bind(other.key, other.shape, byName.get(other.node)!);
        return isWelcomeNow();
      })
    );
  });
}

/** The one with the fewest refusals. */
function bestOutcome({ nodes, bound, newcomers }: World, problem: Problem, isStrict: boolean): Outcome {
  let best: Outcome | undefined;
  let order = newcomers;
  for (let attempt = 0; attempt < ORDERS; attempt++) {
    const outcome = bindAll(order, new KubeScheduler(problem, nodes, bound), isStrict);
    if (best === undefined || outcome.faults.length < best.faults.length) best = outcome;
    if (outcome.faults.length === 0) break;
    const refused = new Set(outcome.faults.map(({ subject }) => subject));
    const isTired = attempt % TRIES_PER_SHUFFLE === TRIES_PER_SHUFFLE - 1;
    order = isTired
      ? shuffled(newcomers, attempt)
      : order.toSorted((one, other) => Number(refused.has(other.key)) - Number(refused.has(one.key)));
  }
  const rare = best!.faults.length === 0 ? undefined : searchedOrder({ nodes, bound, newcomers }, problem, isStrict);
  return rare === undefined ? best! : { order: rare, faults: [] };
}

/**
 * Every order, as far as `SETS_MAX` goes: who may be bound next depends only on who is, so a set of pods from which nobody gets further is
 * not looked at again, nor one of their like. A spread that some of many pods fill up leaves few good orders, which chance does not meet.
 */
function searchedOrder({ nodes, bound, newcomers }: World, problem: Problem, isStrict: boolean): readonly Newcomer[] | undefined {
  const kinds = newcomers.map(({ shape, node }) => `${node} ${JSON.stringify(shape)}`);
  const seen = new Set<string>();
  const search = (order: readonly Newcomer[]): readonly Newcomer[] | undefined => {
    if (order.length === newcomers.length) return order;
    const taken = new Set(order);
    const set = kinds
      .filter((_, index) => taken.has(newcomers[index]!))
      .sort()
      .join();
    if (seen.has(set) || seen.size === SETS_MAX) return undefined;
    seen.add(set);
    const scheduler = new KubeScheduler(problem, nodes, bound);
    for (const pod of order) scheduler.bind(pod.key, pod.shape, scheduler.nodeNamed(pod.node));
    for (const pod of newcomers) {
      if (taken.has(pod) || refusalOf(pod, scheduler.nodeNamed(pod.node), scheduler, isStrict) !== undefined) continue;
      const found = search([...order, pod]);
      if (found !== undefined) return found;
    }
    return undefined;
  };
  return search([]);
}

/** undefined = it is bound. */
function refusalOf({ shape }: Newcomer, node: KubeNode, scheduler: KubeScheduler, isStrict: boolean): FaultKind | undefined {
  const refusal = scheduler.refusal(shape, node);
  return refusal === undefined || (!isStrict && isKnownRefusal(refusal, shape, node, scheduler)) ? undefined : refusal;
}

/** Who was refused tries again whenever somebody is bound: those before the others whose order it is. */
function bindAll(newcomers: readonly Newcomer[], scheduler: KubeScheduler, isStrict: boolean): Outcome {
  const order: Newcomer[] = [];
  const refused = new Map<Newcomer, FaultKind>();
  const isBound = (pod: Newcomer): boolean => {
    const node = scheduler.nodeNamed(pod.node);
    const kind = refusalOf(pod, node, scheduler, isStrict);
    if (kind !== undefined) {
      refused.set(pod, kind);
      return false;
    }
    refused.delete(pod);
    scheduler.bind(pod.key, pod.shape, node);
    order.push(pod);
    return true;
  };
  for (const pod of newcomers) {
    let last = [pod].find(isBound);
    while (last !== undefined) last = [...refused.keys()].find(isBound);
  }
  return { order, faults: [...refused].map(([pod, kind]) => fault(kind, pod.key, `kube-scheduler would not bind it to ${pod.node}`)) };
}

/** Alike on every run. */
function shuffled(newcomers: readonly Newcomer[], seed: number): readonly Newcomer[] {
  const order = [...newcomers];
  let state = seed;
  for (let index = order.length - 1; index > 0; index--) {
    state = (state * 48271) % 2147483647;
    const other = state % (index + 1);
    [order[index], order[other]] = [order[other]!, order[index]!];
  }
  return order;
}
