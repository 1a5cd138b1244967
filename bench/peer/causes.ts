/** Why a pod has a place in the peer's plan and none in ours: each cause is proved, by the reference checker or by solving again. */
import { HOSTNAME_LABEL, parseResources } from "@joinery/api";
import { type Plan, type PodShape, type PoolOffer, type Problem, type RequirementItem, solve } from "@joinery/scheduling";
import { afterwards } from "../../packages/scheduling/src/plan/next-solve.ts";
import { byQueueOrder } from "../../packages/scheduling/src/testing/model-solver.ts";
import { hasMoment, lastPlaceRefusals } from "../../test/reference/binding.ts";
import { hasUnknownValue, isAllowed, isKnownRefusal, undecidedPods } from "../../test/reference/known-refusals.ts";
import { type BoundPod, doPortsClash, hardSpreads, type KubeNode, type KubeScheduler } from "../../test/reference/kube-scheduler.ts";
import { meets } from "../../test/reference/labels.ts";
import { fittingMachines } from "../../test/reference/worlds.ts";
import { type Comparison, placeOf } from "./comparison.ts";

export type Cause =
  /** kube-scheduler would not bind it where the peer has it, whatever the peer's nodes come to be, or in some of these worlds. */
  | { readonly kind: "forbidden"; readonly by: string; readonly isCertain: boolean }
  /**
   * It needs pods where the peer has them, on nodes that are still to come; but kube-scheduler binds some of them to nodes that are there
   * as soon as it tries again, as our plan has it, and then it would not bind this one.
   */
  | { readonly kind: "overtaken"; readonly by: string; readonly pods: readonly string[] }
  /** It waits until the nodes of our plan are there; so many solves later it has a place. */
  | { readonly kind: "next-solve"; readonly solves: number }
  /** minValues: the peer's node keeps so many values in name only, since in some of them nothing is offered, which Joinery does not leave open (S-141). */
  | { readonly kind: "min-values"; readonly key: string }
  /** S-82: these pods have their turn before it and a place in our plan alone; without them it would have its place too. */
  | { readonly kind: "outranked"; readonly by: readonly string[] }
  /**
   * S-111: it has given up its required terms but the last for the sake of its preferences; if it preferred nothing, it would have a place.
   * Karpenter's does so too, but where others are elsewhere the preferences may hold; and where one needs a label of which a term excludes
   * values, it forgets that the label is needed (S-31, S-41).
   */
  | { readonly kind: "gave-up-terms" }
  /**
   * It requires a label that no node has unless another pod has brought it there, by excluding values of it (S-31, S-41). Alone it has no
   * place; with this pod of the peer's node it has one. No rule forbids the place: it is a matter of whom the other pod has joined.
   */
  | { readonly kind: "borrowed-label"; readonly key: string; readonly from: string }
  /**
   * Ours has at least as many pods in all: these, whom the peer leaves out, have a place instead, which nobody loses for another (S-82);
   * without them it would have its place too.
   */
  | { readonly kind: "as-many"; readonly instead: readonly string[] }
  /** Equal questions do not get equal answers: in this one of a few more runs the peer leaves the pod out, or has it where another cause holds. */
  | { readonly kind: "by-chance"; readonly run: number; readonly instead: string }
  | { readonly kind: "unexplained" };

/** Later solves that are looked at: pods that want each other may have to wait for one another. */
const SOLVES_MAX = 3;

export function causeOf(pod: string, comparison: Comparison): Cause {
  return (
    forbidden(pod, comparison) ??
    overtaken(pod, comparison) ??
    nextSolve(pod, comparison) ??
    minValues(pod, comparison) ??
    gaveUpTerms(pod, comparison) ??
    outranked(pod, comparison) ??
    borrowedLabel(pod, comparison) ??
    asMany(pod, comparison) ?? { kind: "unexplained" }
  );
}

/** Runs of the peer that are looked at again: where a tie of two decides, all of these agree once in a million times. */
const RUNS_AGAIN_MAX = 20;

/** For a pod whose place is unexplained: the peer breaks ties by chance, and who has its place by that alone is nobody's to place. */
export async function chanceOf(pod: string, again: () => Promise<Comparison>): Promise<Cause> {
  for (let run = 1; run <= RUNS_AGAIN_MAX; run++) {
    const comparison = await again();
    if (placeOf(pod, comparison.theirs) === undefined) return { kind: "by-chance", run, instead: "is left out" };
    const cause = causeOf(pod, comparison);
    if (cause.kind !== "unexplained") return { kind: "by-chance", run, instead: `has a place of which holds: ${causeText(cause)}` };
  }
  return { kind: "unexplained" };
}

/** Which rules each refusal of kube-scheduler belongs to. */
const RULES: Readonly<Record<string, string>> = {
  taints: "S-92, S-94",
  "node-selector": "S-93, S-106",
  "host-port": "S-92, S-119",
  resources: "S-101",
  "volume-place": "S-124",
  "volume-limit": "S-127",
  spread: "S-141, S-144",
  affinity: "S-137, S-142, S-150",
  "anti-affinity": "S-142, S-154",
};

function forbidden(pod: string, { theirs, problem }: Comparison): Cause | undefined {
  const limit = passedLimit(pod, theirs, problem);
  if (limit !== undefined) return { kind: "forbidden", by: `limit of ${limit} (S-163)`, isCertain: true };
  if (isKeptOutByDaemons(pod, theirs, problem)) return { kind: "forbidden", by: "a DaemonSet's host port (S-119)", isCertain: true };
  // Where a rule asks for what kube-scheduler refuses, our plans may have it; that we do not is no fault.
  const strictly = lastPlaceRefusals(pod, theirs, problem, true);
  if (!strictly.includes(undefined)) return { kind: "forbidden", by: refusalText(strictly[0]!), isCertain: true };
  const refusals = lastPlaceRefusals(pod, theirs, problem);
  const found = refusals.filter((refusal) => refusal !== undefined);
  if (found.length > 0) return { kind: "forbidden", by: refusalText(found[0]!), isCertain: found.length === refusals.length };
  const moments = hasMoment(pod, theirs, problem, isWelcomeByRules(problem));
  const by = "spread (S-131, S-140, S-144, S-146)";
  return moments.every(Boolean) ? undefined : { kind: "forbidden", by, isCertain: !moments.includes(true) };
}

/**
 * As the rules have it, which are stricter about spreads than kube-scheduler is: the smallest count is 0 where a node could be had in one more
 * domain, as it always could over hostnames (S-131, S-144, S-146), and pods on the pod's own node count, whatever of its labels is open (S-140).
 */
function isWelcomeByRules(problem: Problem) {
  return (shape: PodShape, node: KubeNode, scheduler: KubeScheduler): boolean => {
    const refusal = scheduler.refusal(shape, node);
    if (refusal !== undefined && !isKnownRefusal(refusal, shape, node, scheduler)) return false;
    return hardSpreads(shape).every((spread) => {
      const { topologyKey, minDomains = 1 } = spread;
      const late = new Set(undecidedPods(spread, shape, scheduler).filter((other) => other.node !== node));
      const seen = {
        hasNode: (place: KubeNode) => place === node || !hasUnknownValue(place, topologyKey),
        hasPod: (other: BoundPod) => !late.has(other),
      };
      const isOpen = topologyKey === HOSTNAME_LABEL || hasEmptyDomain(topologyKey, shape, scheduler, problem);
      return scheduler.keepsSkew({ ...spread, minDomains: isOpen ? Number.POSITIVE_INFINITY : minDomains }, shape, node, seen);
    });
  };
}

/** A domain that the pod may be in, that is offered, and in which no node is. */
function hasEmptyDomain(key: string, shape: PodShape, { nodes }: KubeScheduler, { pools }: Problem): boolean {
  const valuesOf = (items: readonly RequirementItem[]) => items.find((item) => item.key === key && item.operator === "In")?.values ?? [];
  return pools.some(({ nodePool, instanceTypes }) => {
    const own = nodePool.spec.template.spec.requirements.filter((item) => item.key === key);
    const offered = instanceTypes.flatMap(({ offerings }) => offerings.filter(({ isAvailable }) => isAvailable));
    return offered
      .flatMap(({ requirements }) => valuesOf(requirements))
      .filter((value) => own.every((item) => meets(item, { [key]: value })) && isAllowed(shape, key, value))
      .some((value) => nodes.every(({ labels }) => labels[key] !== value));
  });
}

function refusalText(refusal: string): string {
  return `${refusal} (${RULES[refusal] ?? "S-91"})`;
}

/** S-119: whatever type the peer's new node comes to be, a DaemonSet's pod comes to it that holds a port of this pod. */
function isKeptOutByDaemons(pod: string, { newNodes }: Plan, problem: Problem): boolean {
  const { hostPorts } = problem.pods.find(({ key }) => key === pod)!.shape;
  const node = newNodes.find(({ pods }) => pods.includes(pod));
  if (node === undefined || hostPorts === undefined) return false;
  return fittingMachines(node, problem).every(({ daemons }) => daemons.some((daemon) => doPortsClash(daemon.hostPorts, hostPorts)));
}

/** S-163: more nodes of the pool than its limit; what a new node's types might add is for the solver to weigh. */
function passedLimit(pod: string, { newNodes }: Plan, { nodes }: Problem): string | undefined {
  const node = newNodes.find(({ pods }) => pods.includes(pod));
  if (node === undefined) return undefined;
  const { name } = node.nodePool.metadata!;
  const present = nodes.filter(({ labels }) => labels["karpenter.sh/nodepool"] === name).length;
  const planned = newNodes.filter(({ nodePool }) => nodePool === node.nodePool).length;
  const { nodes: most = Number.POSITIVE_INFINITY } = parseResources(node.nodePool.spec.limits);
  return present + planned > most ? `${most} nodes` : undefined;
}

function overtaken(pod: string, { ours, theirs, problem }: Comparison): Cause | undefined {
  if (!theirs.newNodes.some(({ pods }) => pods.includes(pod))) return undefined;
  const atOnce = bindableNow(ours, problem);
  const moved = [...atOnce.keys()].filter((key) => atOnce.get(key) !== placeOf(key, theirs));
  const refusals = lastPlaceRefusals(pod, withMoved(theirs, new Map(moved.map((key) => [key, atOnce.get(key)!]))), problem);
  return refusals.includes(undefined) ? undefined : { kind: "overtaken", by: refusals[0]!, pods: moved };
}

/** Pod → node, of those that need no new node and that kube-scheduler binds without any. */
function bindableNow({ existingNodes }: Plan, problem: Problem): ReadonlyMap<string, string> {
  const plan = { newNodes: [], existingNodes, unschedulable: [], droppedPools: [] };
  return new Map(
    existingNodes
      .flatMap(({ name, pods }) => pods.map((key) => [key, name] as const))
      .filter(([key]) => lastPlaceRefusals(key, plan, problem)[0] === undefined),
  );
}

function withMoved({ newNodes, existingNodes, ...plan }: Plan, moved: ReadonlyMap<string, string>): Plan {
  const staying = (pods: readonly string[]) => pods.filter((key) => !moved.has(key));
  const names = new Set([...existingNodes.map(({ name }) => name), ...moved.values()]);
  return {
    ...plan,
    newNodes: newNodes.map((node) => ({ ...node, pods: staying(node.pods) })),
    existingNodes: Array.from(names, (name) => ({
      name,
      pods: [
        ...staying(existingNodes.find((node) => node.name === name)?.pods ?? []),
        ...[...moved].filter(([, to]) => to === name).map(([key]) => key),
      ],
    })),
  };
}

function nextSolve(pod: string, { ours, problem }: Comparison): Cause | undefined {
  let plan = ours;
  let next = problem;
  for (let solves = 1; solves <= SOLVES_MAX; solves++) {
    next = afterwards(next, plan);
    plan = solve(next);
    if (placeOf(pod, plan) !== undefined) return { kind: "next-solve", solves };
  }
  return undefined;
}

function minValues(pod: string, { ours, theirs, problem }: Comparison): Cause | undefined {
  const node = theirs.newNodes.find(({ pods }) => pods.includes(pod));
  const reasons = ours.unschedulable.find((entry) => entry.pod === pod)?.reasons ?? [];
  if (node === undefined || problem.options.minValuesPolicy !== "Strict") return undefined;
  const machines = fittingMachines(node, problem);
  const key = node.nodePool.spec.template.spec.requirements
    .filter((item) => reasons.some((reason) => reason.kind === "min-values" && reason.labels.some((label) => label.key === item.key)))
    .find((item) => new Set(machines.map(({ labels }) => labels[item.key])).size < (item.minValues ?? 0))?.key;
  if (key === undefined) return undefined;
  const pools = problem.pools.map((offer) => (offer.nodePool === node.nodePool ? withoutMinValues(offer, key) : offer));
  return placeOf(pod, solve({ ...problem, pools })) === undefined ? undefined : { kind: "min-values", key };
}

function withoutMinValues({ nodePool, instanceTypes }: PoolOffer, key: string): PoolOffer {
  const { spec } = nodePool;
  const requirements = spec.template.spec.requirements.map((item) => (item.key === key ? { ...item, minValues: undefined } : item));
  const template = { ...spec.template, spec: { ...spec.template.spec, requirements } };
  return { nodePool: { ...nodePool, spec: { ...spec, template } }, instanceTypes };
}

function outranked(pod: string, { ours, theirs, problem }: Comparison): Cause | undefined {
  const own = problem.pods.find(({ key }) => key === pod)!;
  const ahead = problem.pods
    .filter((other) => byQueueOrder(other, own) < 0)
    .map(({ key }) => key)
    .filter((key) => placeOf(key, ours) !== undefined && placeOf(key, theirs) === undefined);
  const by = [...ahead.map((key) => [key]), ahead].find((keys) => keys.length > 0 && hasPlaceWithout(keys, pod, problem));
  return by && { kind: "outranked", by };
}

function hasPlaceWithout(others: readonly string[], pod: string, problem: Problem): boolean {
  const rest = { ...problem, pods: problem.pods.filter(({ key }) => !others.includes(key)) };
  return placeOf(pod, solve(rest)) !== undefined || hasGivenUpTerms(pod, rest);
}

function gaveUpTerms(pod: string, { problem }: Comparison): Cause | undefined {
  return hasGivenUpTerms(pod, problem) ? { kind: "gave-up-terms" } : undefined;
}

/** Has it several required terms, and would it have a place if it preferred nothing? */
function hasGivenUpTerms(pod: string, problem: Problem): boolean {
  const own = problem.pods.find(({ key }) => key === pod)!;
  const terms = own.shape.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms ?? [];
  if (terms.length < 2) return false;
  const shape = withoutPreferences(own.shape);
  return placeOf(pod, solve({ ...problem, pods: problem.pods.map((other) => (other === own ? { ...own, shape } : other)) })) !== undefined;
}

function withoutPreferences({ affinity = {}, topologySpreadConstraints, ...shape }: PodShape): PodShape {
  const required = <T extends { readonly preferredDuringSchedulingIgnoredDuringExecution?: unknown }>(wish: T | undefined) =>
    wish && { ...wish, preferredDuringSchedulingIgnoredDuringExecution: undefined };
  const { nodeAffinity, podAffinity, podAntiAffinity } = affinity;
  return {
    ...shape,
    affinity: { nodeAffinity: required(nodeAffinity), podAffinity: required(podAffinity), podAntiAffinity: required(podAntiAffinity) },
    topologySpreadConstraints: topologySpreadConstraints?.filter(({ whenUnsatisfiable }) => whenUnsatisfiable === "DoNotSchedule"),
  };
}

function borrowedLabel(pod: string, { ours, theirs, problem }: Comparison): Cause | undefined {
  const reasons = ours.unschedulable.find((entry) => entry.pod === pod)?.reasons ?? [];
  const missing = reasons.find((reason) => reason.kind === "undefined-label");
  const beside = theirs.newNodes.find(({ pods }) => pods.includes(pod))?.pods.filter((key) => key !== pod);
  if (missing === undefined || beside === undefined) return undefined;
  const hasPlaceWith = (others: readonly string[]) =>
    placeOf(pod, solve({ ...problem, pods: problem.pods.filter(({ key }) => key === pod || others.includes(key)) })) !== undefined;
  const from = hasPlaceWith([]) ? undefined : beside.find((key) => hasPlaceWith([key]));
  return from === undefined ? undefined : { kind: "borrowed-label", key: missing.key, from };
}

function asMany(pod: string, { ours, theirs, problem }: Comparison): Cause | undefined {
  const alone = (one: Plan, other: Plan) =>
    problem.pods.map(({ key }) => key).filter((key) => placeOf(key, one) !== undefined && placeOf(key, other) === undefined);
  const instead = alone(ours, theirs);
  const isNoLoss = instead.length >= alone(theirs, ours).length;
  return isNoLoss && hasPlaceWithout(instead, pod, problem) ? { kind: "as-many", instead } : undefined;
}

export function causeText(cause: Cause): string {
  switch (cause.kind) {
    case "forbidden":
      return `forbidden: ${cause.by}${cause.isCertain ? "" : ", as some of its nodes may turn out"}`;
    case "overtaken":
      return `${cause.by}, since kube-scheduler binds ${cause.pods.join(", ")} to nodes that are there`;
    case "next-solve":
      return `it gets its place ${cause.solves} solves later`;
    case "min-values":
      return `minValues of ${cause.key} holds in name only where the peer has it (S-57, V-74, S-141)`;
    case "outranked":
      return `${cause.by.join(", ")} came first and got the room`;
    case "gave-up-terms":
      return "its required terms were given up before its preferences (S-31, S-41, S-111)";
    case "borrowed-label":
      return `only ${cause.from} brings the label ${cause.key} that it requires, and ours has that pod with others (S-31, S-41)`;
    case "as-many":
      return `ours has ${cause.instead.join(", ")} instead`;
    case "by-chance":
      return `by chance: when Karpenter is asked again (${cause.run}) the pod ${cause.instead}`;
    case "unexplained":
      return "unexplained";
  }
}
