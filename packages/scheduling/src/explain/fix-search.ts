/**
 * The smallest edit that gives pods without a place one, proved by solving the whole problem with it; where none does alone, the first
 * pair, then a few edits of which each brings the pod further. What is tried is bounded by counts, never by time, so that equal problems give equal answers.
 */

import { formatResources, NODE_POOL_LABEL, type NodePool, parseResources } from "@joinery/api";
import { solve as solveAsPlanned } from "../improve/improved-solve.ts";
import type { Plan } from "../plan.ts";
import type { PodToPlace, Problem } from "../problem.ts";
import { PoolLimits } from "../solve/pool-limits.ts";
import { type Solution, solve, solveToExplain } from "../solve/solve.ts";
import { podSelector } from "../topology/label-selector.ts";
import { askPools, furthestFirst } from "./asked-pools.ts";
import { type AskedPool, type Candidate, candidateEdits } from "./candidate-edits.ts";
import { type Edit, edited } from "./edit.ts";
import { isFurther, type PoolFunnel } from "./funnel.ts";
import { laterSolves, waits } from "./later-solves.ts";

export interface FixQuestion {
  readonly problem: Problem;
  readonly solution: Solution;
  /** Stands for `alike`. */
  readonly pod: PodToPlace;
  /** Keys of the equal pods that have no place, `pod`'s too. */
  readonly alike: readonly string[];
  /** Keys of the pods that an edit of the template changes. */
  readonly mine: ReadonlySet<string>;
  /** Keys of all pods that get no place, later solves counted. */
  readonly unplaced: ReadonlySet<string>;
  /** Can the edit be written down for the pod's owner? */
  readonly canMake: (edit: Edit) => boolean;
}

/** Solves of the pod with its company that may be spent on single edits and on pairs, and solves of the whole problem. */
const TRIALS_MAX = 60;
const PAIR_TRIALS_MAX = 100;
const PROOFS_MAX = 4;
const PAIR_PROOFS_MAX = 3;
/** Where a solve of the whole problem is cheap, more of them may be spent. */
const SMALL_PODS_MAX = 2000;
const SMALL_PROOFS_MAX = 12;
/** Edits that a pair may begin and end with, and of them those of one kind. */
const PAIR_WIDTH = 12;
const PAIR_KIND_MAX = 3;
const HALVINGS_MAX = 5;
/** Pods that are solved beside the pod in a trial, of those that its constraints count. */
const COMPANY_MAX = 300;

/** Edits that only help all together, and those of which the next one of them is chosen. */
const CHAIN_MAX = 4;
const CHAIN_WIDTH = 12;

export interface FoundFix {
  /** The least that helps: one, seldom more. */
  readonly edits: readonly Edit[];
  /** Solves after the next one until all pods have their place: they may have to be beside pods that are not placed yet. */
  readonly laterSolves: number;
  /** Whose new node the pod goes to with it; absent where it goes to one that exists, or a later solve places it. */
  readonly nodePool?: string;
}

/** undefined where none was found. */
export function findFix(question: FixQuestion): FoundFix | undefined {
  return new FixSearch(question).find();
}

class FixSearch {
  readonly #question: FixQuestion;
  /** The pod, and all that are alike, each with their company. */
  readonly #one: Problem;
  readonly #all: Problem;
  /** By pool, what the plan has used up of its limits: the pods that it was for are not in a trial. */
  readonly #used: ReadonlyMap<string, ReadonlyMap<string, number>>;
  readonly #isSmall: boolean;
  /** Of the last proof that held. */
  #laterSolves = 0;
  #nodePool: string | undefined;
  #proofs = 0;
  #trials = 0;

  constructor(question: FixQuestion) {
    const { problem, solution, pod, alike } = question;
    this.#question = question;
    this.#isSmall = problem.pods.length <= SMALL_PODS_MAX;
    const company = companyOf(question);
    const named = new Set(alike.slice(0, COMPANY_MAX));
    this.#one = { ...problem, pods: [pod, ...company.filter(({ key }) => key !== pod.key)] };
    this.#all = {
      ...problem,
      pods: [...problem.pods.filter(({ key }) => named.has(key)), ...company.filter(({ key }) => !named.has(key))],
    };
    // Placed company is in the trial itself, and uses what it uses.
    this.#used = company.every(({ key }) => alike.includes(key)) ? plannedUse(problem, solution) : new Map();
  }

  find(): FoundFix | undefined {
    const edits = this.#findSingle() ?? this.#findPair() ?? this.#findChain();
    return edits && { edits, laterSolves: this.#laterSolves, ...(this.#nodePool !== undefined && { nodePool: this.#nodePool }) };
  }

  #findSingle(): readonly Edit[] | undefined {
    const { problem, solution } = this.#question;
    const proofsMax = this.#isSmall ? SMALL_PROOFS_MAX : PROOFS_MAX;
    for (const candidate of this.#candidates(problem, solution).slice(0, TRIALS_MAX)) {
      if (!this.#mayHelp([candidate.edit])) continue;
      if (this.#proofs >= proofsMax) return undefined;
      const edit = this.#proved(candidate);
      if (edit !== undefined) return [edit];
    }
    return undefined;
  }

  /** What the second edit of a pair could be is asked of the problem in which the first is made, as far as it goes. */
  #findPair(): readonly Edit[] | undefined {
    const { problem, solution } = this.#question;
    this.#proofs = 0;
    for (const first of forPairs(this.#candidates(problem, solution))) {
      const changed = this.#changed(this.#all, [most(first)]);
      const next = solveToExplain(changed);
      if (this.#arePlaced(changed, next.plan)) continue;
      for (const second of forPairs(this.#candidates(changed, next))) {
        if (this.#trials++ === PAIR_TRIALS_MAX || this.#proofs >= PAIR_PROOFS_MAX) return undefined;
        if (areOfOnePlace(first.edit, second.edit) || !this.#mayHelp([most(first), most(second)])) continue;
        const pair = this.#provedPair(first, second);
        if (pair !== undefined) return pair;
      }
    }
    return undefined;
  }

  /** One edit after the other, each the first with which the pod comes further than before. */
  #findChain(): readonly Edit[] | undefined {
    let edits: readonly Edit[] = [];
    let problem = this.#changed(this.#one, []);
    let solution = solveToExplain(problem);
    while (edits.length < CHAIN_MAX) {
      const reached = this.#reached(problem, solution);
      if (reached === undefined) return undefined;
      const next = this.#nextOf(edits, this.#candidates(problem, solution), reached);
      if (next === undefined) return undefined;
      edits = [...edits, next.edit];
      if (next.reached === undefined) return this.#helps(edits) ? edits : undefined;
      [problem, solution] = [next.problem, next.solution];
    }
    return undefined;
  }

  #nextOf(edits: readonly Edit[], candidates: readonly Candidate[], reached: PoolFunnel) {
    for (const candidate of forPairs(candidates).slice(0, CHAIN_WIDTH)) {
      const edit = most(candidate);
      if (edits.some((one) => areOfOnePlace(one, edit))) continue;
      const problem = this.#changed(this.#one, [...edits, edit]);
      const solution = solveToExplain(problem);
      const further = this.#reached(problem, solution);
      if (further === undefined || isFurther(further, reached)) return { edit, problem, solution, reached: further };
    }
    return undefined;
  }

  /** How far the pod comes in the pool where it comes furthest; undefined where it gets a place, or there is no pool. */
  #reached(problem: Problem, solution: Solution): PoolFunnel | undefined {
    const { key } = this.#question.pod;
    if (isPlacedInTheEnd(problem, solution.plan, key)) return undefined;
    return this.#asked(problem, solution)[0]?.answer.funnel;
  }

  #candidates(problem: Problem, solution: Solution): readonly Candidate[] {
    const { alike, canMake } = this.#question;
    const surroundings = { problem, view: solution, plan: solution.plan };
    const { shape } = this.#subject(problem, solution);
    const candidates = candidateEdits(this.#asked(problem, solution), {
      surroundings,
      shape,
      count: alike.length,
      waiting: limited(solution.plan),
    });
    const real = problem === this.#question.problem ? candidates : candidates.map((candidate) => this.#asIfUsed(candidate));
    return real.filter(({ edit }) => canMake(edit));
  }

  /** What a trial says of a limit, said of the pool as it is. */
  #asIfUsed(candidate: Candidate): Candidate {
    const raised = (edit: Edit): Edit => {
      if (edit.kind !== "raise-limit") return edit;
      const used = this.#used.get(edit.nodePool)?.get(edit.resource) ?? 0;
      return { ...edit, from: edit.from + used, to: edit.to + used };
    };
    const { grown } = candidate;
    return { ...candidate, edit: raised(candidate.edit), ...(grown && { grown: (step: number) => raised(grown(step)) }) };
  }

  #asked(problem: Problem, solution: Solution): readonly AskedPool[] {
    const subject = this.#subject(problem, solution);
    const reasons = solution.plan.unschedulable.find(({ pod }) => pod === subject.key)?.reasons ?? [];
    return furthestFirst(askPools(problem, solution, subject, reasons));
  }

  /** Of the pods that are alike the one without a place, or the pod itself. */
  #subject(problem: Problem, { plan }: Solution): PodToPlace {
    const { pod, alike } = this.#question;
    const left = new Set(plan.unschedulable.map((entry) => entry.pod));
    const key = left.has(pod.key) ? pod.key : (alike.find((one) => left.has(one)) ?? pod.key);
    return problem.pods.find((one) => one.key === key)!;
  }

  /** A trial with the edits made, whose pools have what the plan leaves of their limits. */
  #changed(trial: Problem, edits: readonly Edit[]): Problem {
    const changed = edited(withSelected(trial, edits, this.#question), edits, this.#question.mine);
    return { ...changed, pools: changed.pools.map((offer) => ({ ...offer, nodePool: lessUsed(offer.nodePool, this.#used) })) };
  }

  #proved(candidate: Candidate): Edit | undefined {
    return this.#climbed(candidate.steps ?? 1, (step) => [at(candidate, step)])?.[0];
  }

  /** Two ladders are climbed together. */
  #provedPair(first: Candidate, second: Candidate): readonly Edit[] | undefined {
    return this.#climbed(Math.max(first.steps ?? 1, second.steps ?? 1), (step) => [at(first, step), at(second, step)]);
  }

  /** A ladder is climbed no further than it takes: halved down between the last step and the first, as far as that is cheap. */
  #climbed(steps: number, editsAt: (step: number) => readonly Edit[]): readonly Edit[] | undefined {
    if (this.#helps(editsAt(1))) return editsAt(1);
    if (steps <= 1 || !this.#helps(editsAt(steps))) return undefined;
    let [tooFew, enough] = [1, steps];
    for (let halving = 0; this.#isSmall && halving < HALVINGS_MAX && enough - tooFew > 1; halving++) {
      const middle = (tooFew + enough) >>> 1;
      if (this.#helps(editsAt(middle))) enough = middle;
      else tooFew = middle;
    }
    return editsAt(enough);
  }

  /** With the pod and those that its constraints count, which is cheap; nothing that fails here is worth a proof. */
  #mayHelp(edits: readonly Edit[]): boolean {
    const changed = this.#changed(this.#one, edits);
    return isPlacedInTheEnd(changed, solve(changed), this.#question.pod.key);
  }

  #arePlaced(problem: Problem, plan: Plan): boolean {
    const { alike } = this.#question;
    const keys = new Set(problem.pods.map(({ key }) => key));
    return alike.every((key) => !keys.has(key) || isPlacedInTheEnd(problem, plan, key));
  }

  /** A cheaper plan leaves no more pods out than the greedy one, but it may be others: where that is cheap to ask, it has to agree. */
  #helps(edits: readonly Edit[]): boolean {
    this.#proofs++;
    const { problem, mine } = this.#question;
    const changed = edited(problem, edits, mine);
    const plan = solve(changed);
    if (!this.#areServed(changed, plan)) return false;
    const isAgreed = plan.unschedulable.length === 0 || problem.options.improvement === undefined || !this.#isSmall;
    return isAgreed || this.#areServed(changed, solveAsPlanned(changed));
  }

  #areServed(changed: Problem, plan: Plan): boolean {
    this.#laterSolves = 0;
    if (this.#isEnough(new Set(plan.unschedulable.map(({ pod }) => pod)))) {
      this.#nodePool = plan.newNodes.find(({ pods }) => pods.includes(this.#question.pod.key))?.nodePool.metadata?.name;
      return true;
    }
    this.#nodePool = undefined;
    if (!plan.unschedulable.some(waits)) return false;
    const later = laterSolves(changed, plan);
    this.#laterSolves = later.count;
    return this.#isEnough(later.unplaced);
  }

  #isEnough(left: ReadonlySet<string>): boolean {
    const { alike, unplaced } = this.#question;
    return !alike.some((key) => left.has(key)) && [...left].every((key) => unplaced.has(key));
  }
}

/** How many pods a pool's limits keep out: what is raised for one of them, others may take. */
function limited({ unschedulable }: Plan): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const { reasons } of unschedulable) {
    for (const reason of reasons) {
      if (reason.kind === "over-limit") counts.set(reason.nodePool, (counts.get(reason.nodePool) ?? 0) + 1);
    }
  }
  return counts;
}

/** Now, or by a later solve. */
function isPlacedInTheEnd(problem: Problem, plan: Plan, key: string): boolean {
  const left = plan.unschedulable.find(({ pod }) => pod === key);
  return left === undefined || (waits(left) && !laterSolves(problem, plan).unplaced.has(key));
}

/** Many pools make many edits of one kind, of which those of the nearest come first. */
function forPairs(candidates: readonly Candidate[]): readonly Candidate[] {
  const counts = new Map<Edit["kind"], number>();
  const chosen = candidates.filter(({ edit: { kind } }) => {
    const count = (counts.get(kind) ?? 0) + 1;
    counts.set(kind, count);
    return count <= PAIR_KIND_MAX;
  });
  return chosen.slice(0, PAIR_WIDTH);
}

/** Two edits of one entry say two things of it. */
function areOfOnePlace(one: Edit, other: Edit): boolean {
  if (one.kind === "node-selector") return other.kind === one.kind && other.key === (one.to?.key ?? one.key);
  return one.kind === "raise-limit" && other.kind === one.kind && other.nodePool === one.nodePool && other.resource === one.resource;
}

/** As far as a ladder goes. */
function most(candidate: Candidate): Edit {
  return at(candidate, candidate.steps ?? 1);
}

/** The edit itself is the first step. */
function at({ edit, grown, steps = 1 }: Candidate, step: number): Edit {
  return grown === undefined || step <= 1 ? edit : grown(Math.min(step, steps));
}

/** By pool and limited resource, what the planned nodes count for. */
function plannedUse(problem: Problem, { templates }: Solution): ReadonlyMap<string, ReadonlyMap<string, number>> {
  const used = templates.flatMap(({ name, nodePool, catalog, limits }) => {
    const own = problem.nodes.filter(({ labels }) => labels[NODE_POOL_LABEL] === name);
    const before = limits && PoolLimits.of(nodePool, catalog, own);
    if (before === undefined) return [];
    return [[name, new Map(Array.from(before.remaining, ([key, amount]) => [key, amount - limits!.remaining.get(key)!]))] as const];
  });
  return new Map(used);
}

function lessUsed(nodePool: NodePool, used: ReadonlyMap<string, ReadonlyMap<string, number>>): NodePool {
  const own = used.get(nodePool.metadata?.name ?? "");
  if (own === undefined) return nodePool;
  const limits = Object.entries(parseResources(nodePool.spec.limits)).map(
    ([resource, limit]) => [resource, Math.max(0, limit - (own.get(resource) ?? 0))] as const,
  );
  return { ...nodePool, spec: { ...nodePool.spec, limits: formatResources(Object.fromEntries(limits)) } };
}

/** A corrected term means other pods than those that the pod's own terms look at. */
function withSelected(trial: Problem, edits: readonly Edit[], { problem }: FixQuestion): Problem {
  const terms = edits.flatMap((edit) => (edit.kind === "pod-term" && edit.to !== undefined ? [edit.to] : []));
  if (terms.length === 0) return trial;
  const known = new Set(trial.pods.map(({ key }) => key));
  const selectors = terms.map(({ labelSelector }) => podSelector(labelSelector));
  const meant = problem.pods.filter(({ key, shape }) => !known.has(key) && selectors.some(({ selects }) => selects(shape.labels)));
  return { ...trial, pods: [...trial.pods, ...meant.slice(0, COMPANY_MAX)] };
}

/** Pods of the problem that the constraints of the pod look at, in their order. */
function companyOf({ problem, solution: { classes }, pod }: FixQuestion): readonly PodToPlace[] {
  const own = classes.list[classes.classOfPod[problem.pods.indexOf(pod)]!];
  const asked = new Set(
    (own?.searches ?? []).flatMap(({ topology }) => [...(topology?.domains ?? []), ...(topology?.hosts ?? [])].map(({ group }) => group)),
  );
  if (asked.size === 0) return [];
  const isMeant = classes.list.map(({ marks }) => marks.groups.some((group) => asked.has(group)));
  const company: PodToPlace[] = [];
  for (const [index, other] of problem.pods.entries()) {
    if (company.length === COMPANY_MAX) break;
    if (other !== pod && isMeant[classes.classOfPod[index]!]) company.push(other);
  }
  return company;
}
