/**
 * Which pools can take which workloads, asked of the solver itself: the problem is made as for `plan`, with one pod per workload,
 * one pool at a time, nothing bound and limits as ceilings for a single node.
 */
import type { TopologySpreadConstraint } from "@joinery/api";
import type { Clock, Random } from "@joinery/kube";
import {
  createExplainer,
  type Edit,
  editsText,
  type InstanceType,
  type PodToPlace,
  type Problem,
  type Reason,
  Requirements,
  solve,
  untoleratedTaints,
} from "@joinery/scheduling";
import type { Catalogue } from "../plan/catalogue.ts";
import { clusterObjects } from "../plan/cluster-objects.ts";
import type { ObjectSource } from "../plan/input.ts";
import { problemOf } from "../plan/make-plan.ts";
import { requiredTerms } from "./node-demands.ts";
import type { PoolFacts } from "./pool-facts.ts";
import { onePodEach, podKeyOf } from "./representative-pods.ts";
import type { Workload } from "./workloads.ts";

interface Verdict {
  /** Sound pools whose new node would take a pod of it, in the order in which they are tried. */
  readonly takers: readonly PoolFacts[];
  /** `unknown`: not asked, or the solver says that it cannot weigh this. */
  readonly outcome: "placed" | "refused" | "unknown";
  /** Of all pools; of the pod itself where it is wrong (S-18). */
  readonly reasons: readonly Reason[];
}

export interface Answers {
  of(workload: Workload): Verdict;
  /** The smallest edits with which the solver takes a pod of a refused workload; undefined where it finds none. */
  editsFor(workload: Workload): readonly Edit[] | undefined;
  /** The same as a sentence. */
  helpFor(workload: Workload): string | undefined;
  /** Why the solver leaves a pool out of every solve (S-64). */
  droppedReason(pool: PoolFacts): Reason | undefined;
  /** Is there a type on which the smallest pod would fit beside the pool's DaemonSets? */
  hasRoom(pool: PoolFacts): boolean;
}

export interface Question {
  readonly source: ObjectSource;
  readonly workloads: readonly Workload[];
  readonly pools: readonly PoolFacts[];
  readonly catalogue: Catalogue;
  readonly clock: Clock;
  readonly random: Random;
  readonly defaultSpread: readonly TopologySpreadConstraint[];
}

/** Workloads for which an edit is looked for, since each costs some hundred solves of a few pods. */
const HELPED_MAX = 20;

const NO_REFUSALS: ReadonlyMap<string, readonly Reason[]> = new Map();
const NOT_ASKED: Verdict = { takers: [], outcome: "unknown", reasons: [] };

export async function askSolver(question: Question): Promise<Answers> {
  const { catalogue, pools } = question;
  const sound = pools.filter(({ isSound }) => isSound);
  const asked = question.workloads.filter(({ kind }) => kind !== "DaemonSet");
  const offers = sound.map((pool) => ({ pool, offer: offerOf(pool, catalogue) }));
  const objects = clusterObjects(onePodEach(question.source, asked));
  const { problem, rejected } = await problemOf(
    { ...question, preferencePolicy: "Ignore", minValuesPolicy: "Strict" },
    objects,
    offers.map(({ offer }) => offer),
  );
  const refusedAtOnce = new Map(rejected.map(({ pod, reasons }) => [`${pod.metadata.namespace}/${pod.metadata.name}`, reasons]));
  const pods = new Map(problem.pods.map((pod) => [pod.key, pod]));
  const dropped = new Map<PoolFacts, Reason>();
  const full = new Set(offers.flatMap(({ pool, offer }) => (isFull({ ...problem, nodes: [], pools: [offer] }) ? [pool] : [])));
  const perPool = offers.map(({ pool, offer }) => {
    const outcome = askPool({ ...problem, nodes: [], pools: [offer] }, pool, catalogue);
    if (outcome.dropped !== undefined) dropped.set(pool, outcome.dropped);
    return { pool, refusals: outcome.refusals };
  });
  const isRefusedByAll = ({ key }: PodToPlace) => perPool.every(({ refusals }) => refusals.has(key));
  // All pools together: pods that want to be near others may find them on another pool.
  const everywhere = sound.length > 0 && problem.pods.some(isRefusedByAll) ? refusalsOf({ ...problem, nodes: [] }) : NO_REFUSALS;
  const verdicts = new Map<string, Verdict>();
  for (const workload of asked) {
    const key = podKeyOf(workload);
    verdicts.set(workload.key, verdictOf(workload, key));
  }
  const helped = new Set<string>();
  // Pods of different workloads may be equal, and each is asked for itself.
  const explainer = onceMade(() => createExplainer({ ...problem, nodes: [] }, { workloadOf: (key) => key }));
  const editsFor = (workload: Workload) => {
    helped.add(workload.key);
    return helped.size > HELPED_MAX ? undefined : explainer().fix(podKeyOf(workload))?.edits;
  };
  return {
    of: ({ key }) => verdicts.get(key) ?? NOT_ASKED,
    editsFor,
    helpFor: (workload) => {
      const edits = editsFor(workload);
      return edits && editsText(edits);
    },
    droppedReason: (pool) => dropped.get(pool),
    hasRoom: (pool) => !full.has(pool),
  };

  function verdictOf(workload: Workload, key: string): Verdict {
    const own = refusedAtOnce.get(key);
    if (own !== undefined) {
      // What no plan may be made for can still be meant for nodes that exist, such as one named by its hostname.
      const isRefused = isDecisive(own) && !problem.nodes.some(({ labels }) => admits(labels, workload));
      return { takers: [], outcome: isRefused ? "refused" : "unknown", reasons: own };
    }
    const pod = pods.get(key);
    if (pod === undefined || sound.length === 0) return NOT_ASKED;
    const takers = perPool.filter(({ refusals }) => !refusals.has(key)).map(({ pool }) => pool);
    const reasons = perPool.flatMap(({ refusals }) => refusals.get(key) ?? []);
    if (takers.length > 0 || !everywhere.has(key) || fitsSomeNode(pod, problem)) return { takers, outcome: "placed", reasons };
    // A pool that is itself wrong has its own finding; what only it would take is not wrong, too.
    const isOnlyWrongPool = pools.some(
      (pool) => (dropped.has(pool) || full.has(pool) || !pool.isSound) && wouldGoTo(pool, workload, question),
    );
    return { takers, outcome: isDecisive(reasons) && !isOnlyWrongPool ? "refused" : "unknown", reasons };
  }
}

/** A pod that asks for nothing and tolerates everything. */
const SMALLEST_POD: PodToPlace = {
  key: "smallest",
  uid: "smallest",
  createdAtMs: 0,
  shape: { namespace: "", labels: {}, requests: { pods: 1 }, tolerations: [{ operator: "Exists" }] },
};

function isFull(problem: Problem): boolean {
  const [refused] = solve({ ...problem, pods: [SMALLEST_POD] }).unschedulable;
  return refused?.reasons.some(({ kind }) => kind === "insufficient-resources") ?? false;
}

function onceMade<T>(make: () => T): () => T {
  let made: T | undefined;
  return () => {
    made ??= make();
    return made;
  };
}

function admits(labels: Readonly<Record<string, string>>, workload: Workload): boolean {
  const own = Requirements.fromLabels(labels);
  return requiredTerms(workload).some((term) => own.isCompatible(term));
}

/** By taints and labels alone. */
function wouldGoTo({ taints, requirements }: PoolFacts, workload: Workload, { catalogue: { vocabulary } }: Question): boolean {
  const untolerated = untoleratedTaints(taints, workload.spec.tolerations ?? []);
  if (untolerated.some(({ effect }) => effect !== "PreferNoSchedule")) return false;
  return requiredTerms(workload).some((term) => requirements.isCompatible(term, vocabulary.wellKnown));
}

/** Existing nodes that run nothing, for one pod alone; a pool is there because without one nothing is tried (S-8). */
function fitsSomeNode(pod: PodToPlace, problem: Problem): boolean {
  if (problem.nodes.length === 0) return false;
  return solve({ ...problem, pods: [pod], pools: problem.pools.slice(0, 1) }).unschedulable.length === 0;
}

/**
 * Not a verdict for all time: of what the solver does not weigh, and of pods that look at each other, since with the whole workload,
 * pods that run, or one solve later the answer may be another (S-87, S-141, S-151).
 */
const UNDECIDED: ReadonlySet<string> = new Set([
  "unsupported",
  "next-solve",
  "opted-out",
  "topology-spread",
  "pod-affinity",
  "pod-anti-affinity",
  "reserved-capacity",
]);

function isDecisive(reasons: readonly Reason[]): boolean {
  return !reasons.some(({ kind }) => UNDECIDED.has(kind));
}

interface PoolOutcome {
  readonly refusals: ReadonlyMap<string, readonly Reason[]>;
  readonly dropped: Reason | undefined;
}

function askPool(problem: Problem, pool: PoolFacts, catalogue: Catalogue): PoolOutcome {
  const plan = solve(problem);
  const refusals = new Map(plan.unschedulable.map(({ pod, reasons }) => [pod, reasons]));
  const all = catalogue.typesFor(pool.pool);
  const [offer] = problem.pools;
  if (offer!.instanceTypes.length < all.length && refusals.size > 0) {
    // What fits only types beyond the limits is refused because of the limits.
    const pods = problem.pods.filter(({ key }) => refusals.has(key));
    const unlimited = refusalsOf({ ...problem, pods, pools: [{ ...offer!, instanceTypes: all }] });
    for (const { key } of pods) if (!unlimited.has(key)) refusals.set(key, [beyondLimit(pool, all)]);
  }
  return { refusals, dropped: plan.droppedPools[0]?.reason };
}

function refusalsOf(problem: Problem): ReadonlyMap<string, readonly Reason[]> {
  return new Map(solve(problem).unschedulable.map(({ pod, reasons }) => [pod, reasons]));
}

function beyondLimit({ name, limits }: PoolFacts, types: readonly InstanceType[]): Reason {
  const [resource, limit] = Object.entries(limits).find(([key, most]) => types.some(({ capacity }) => (capacity[key] ?? 0) > most))!;
  return { kind: "over-limit", nodePool: name, resource, used: 0, limit };
}

/** The pool as if it were dynamic and had room for one node of any type that its limits admit. */
function offerOf(pool: PoolFacts, catalogue: Catalogue): Problem["pools"][number] {
  const { limits: _, replicas: __, ...spec } = pool.pool.spec;
  const all = catalogue.typesFor(pool.pool);
  const within = all.filter(({ capacity }) => Object.entries(pool.limits).every(([resource, most]) => (capacity[resource] ?? 0) <= most));
  const isOff = pool.limits.nodes === 0;
  return { nodePool: { ...pool.pool, spec }, instanceTypes: isOff ? [] : within.length === all.length ? all : within };
}
