/** Why a pod has no place, or the one that it has; and why a node is what it is. One solve answers for all subjects of a problem. */

import { type RepeatableSolution, solveToExplain } from "../improve/improved-solve.ts";
import { remembered } from "../memo.ts";
import type { Plan, PlannedNode } from "../plan.ts";
import type { PodToPlace, Problem } from "../problem.ts";
import type { Reason } from "../reason.ts";
import { classOf } from "../solve/pod-classes.ts";
import { askPools } from "./asked-pools.ts";
import type { AskedPool } from "./candidate-edits.ts";
import { type CheaperPlan, cheaperPlan } from "./cheaper-plan.ts";
import { type CheaperTypes, cheaperTypes } from "./cheaper-types.ts";
import { type Decision, decisionOf, type OwnNode } from "./decision.ts";
import type { Edit } from "./edit.ts";
import { type FoundFix, findFix } from "./fix-search.ts";
import { type FunnelStage, isFurther, type PoolFunnel } from "./funnel.ts";
import { type LaterSolves, laterSolves, waits } from "./later-solves.ts";
import { type LaunchChoice, launchChoice } from "./launch-choice.ts";
import { askClaims, askNodes, type RefusedPlaces } from "./place-refusals.ts";

/** The pool and the stage at which the pod came furthest, or that the fix opens; `in` is how many instance types were left until then. */
type NearestMiss = FunnelStage & { readonly nodePool: string };

/** Why places that are there, or planned, do not take the pod; for a pod with a place, those that were asked before. */
export interface OtherPlaces {
  readonly existingNodes: readonly RefusedPlaces[];
  readonly plannedNodes: readonly RefusedPlaces[];
}

export type PodExplanation =
  | ({
      readonly kind: "unschedulable";
      readonly reasons: readonly Reason[];
      readonly funnel: readonly PoolFunnel[];
      readonly nearest: NearestMiss | undefined;
      /** The smallest edits with which another solve gives every such pod a place, and takes none from others; not looked for where time does it. */
      readonly fix: FoundFix | undefined;
      /** Where the pod is left to later solves: how many of them place pods, and how many of those that are alike. */
      readonly later?: { readonly solves: number; readonly placed: number };
      /** Equal pods without a place, this one too. */
      readonly alike: readonly string[];
    } & OtherPlaces)
  | ({
      readonly kind: "new-node";
      readonly node: PlannedNode;
      /** Of the pools that were asked before and of the node's own, as they were at the pod's turn. */
      readonly funnel: readonly PoolFunnel[];
      readonly cheaper: CheaperTypes;
      readonly launch: LaunchChoice;
      readonly ownNode: OwnNode | undefined;
      readonly givenUp: number;
      /** Other pods had opened the node before; absent where the plan was made cheaper, for then that is no reason. */
      readonly joins?: boolean;
      readonly cheaperPlan?: CheaperPlan;
    } & OtherPlaces)
  | ({
      readonly kind: "existing-node";
      readonly node: string;
      readonly ownNode: OwnNode | undefined;
      readonly givenUp: number;
      readonly cheaperPlan?: CheaperPlan;
    } & OtherPlaces);

export interface NodeExplanation {
  readonly node: PlannedNode;
  readonly cheaper: CheaperTypes;
  readonly launch: LaunchChoice;
}

export interface Explainer {
  readonly plan: Plan;
  /** undefined where the problem has no such pod. */
  pod(key: string): PodExplanation | undefined;
  /** undefined where the plan has no such new node. */
  node(name: string): NodeExplanation | undefined;
  /** What later solves make of the pods that the plan leaves to them; undefined where it leaves none. */
  later(): LaterSolves | undefined;
  /** The fix alone, for pods without a place; the same object for all that are alike. */
  fix(key: string): FoundFix | undefined;
}

export interface ExplainOptions {
  /** Pods of the same name here are made from one template, which an edit changes for all of them; absent: equal pods are. */
  readonly workloadOf?: (key: string) => string | undefined;
  /** Can the edit be written down for the pod's owner? Absent: all can. */
  readonly canMake?: (edit: Edit, key: string) => boolean;
}

/** Explains one pod: `createExplainer(problem).pod(key)`. */
export function explainPod(problem: Problem, key: string): PodExplanation | undefined {
  return createExplainer(problem).pod(key);
}

export function createExplainer(problem: Problem, options: ExplainOptions = {}): Explainer {
  return new SolvedProblem(problem, solveToExplain(problem), options);
}

/**
 * The pool that the smallest edit opens is nearer than one in which the pod comes further and that only more would open, such as one
 * without the device that it asks for. Without an edit, the furthest; and a pool that the pod does not select is never nearer.
 */
function nearestOf(funnel: readonly PoolFunnel[], opened: string | undefined): PoolFunnel | undefined {
  const own = funnel.find(({ nodePool, stages }) => nodePool === opened && stages.at(-1)?.stage !== "pool-label");
  return own ?? (funnel.length === 0 ? undefined : funnel.reduce((best, next) => (isFurther(next, best) ? next : best)));
}

class SolvedProblem implements Explainer {
  readonly plan: Plan;
  readonly #problem: Problem;
  readonly #solution: RepeatableSolution;
  readonly #options: ExplainOptions;
  readonly #reasons: ReadonlyMap<string, readonly Reason[]>;
  readonly #fixes = new Map<string | PodToPlace["shape"], Map<PodToPlace["shape"], FoundFix | undefined>>();
  #later: LaterSolves | undefined;

  constructor(problem: Problem, solution: RepeatableSolution, options: ExplainOptions) {
    this.#problem = problem;
    this.#solution = solution;
    this.#options = options;
    this.plan = solution.plan;
    this.#reasons = new Map(solution.plan.unschedulable.map(({ pod, reasons }) => [pod, reasons]));
  }

  pod(key: string): PodExplanation | undefined {
    const pod = this.#find(key);
    if (pod === undefined) return undefined;
    const reasons = this.#reasons.get(key);
    if (reasons !== undefined) return this.#unschedulable(pod, reasons);
    const { nodes, claims, funnel, ownNode, givenUp, joins } = this.#decision(pod);
    const node = this.plan.newNodes.find(({ pods }) => pods.includes(key));
    const cheaper = cheaperPlan(this.#problem, this.plan, key);
    if (node === undefined) {
      const { name } = this.plan.existingNodes.find(({ pods }) => pods.includes(key))!;
      return {
        kind: "existing-node",
        node: name,
        existingNodes: nodes,
        plannedNodes: [],
        ownNode,
        givenUp,
        ...(cheaper && { cheaperPlan: cheaper }),
      };
    }
    const own = this.#solution.templates.findIndex(({ name }) => name === node.nodePool.metadata?.name);
    return {
      kind: "new-node",
      funnel: funnel.slice(0, own + 1),
      existingNodes: nodes,
      plannedNodes: claims,
      ownNode,
      givenUp,
      ...(cheaper === undefined ? { joins } : { cheaperPlan: cheaper }),
      ...this.#choice(node),
    };
  }

  node(name: string): NodeExplanation | undefined {
    const node = this.plan.newNodes.find((one) => one.name === name);
    return node && this.#choice(node);
  }

  later(): LaterSolves | undefined {
    if (!this.plan.unschedulable.some(waits)) return undefined;
    this.#later ??= laterSolves(this.#problem, this.plan);
    return this.#later;
  }

  fix(key: string): FoundFix | undefined {
    const pod = this.#find(key);
    if (pod === undefined || !this.#reasons.has(key)) return undefined;
    const byShape = remembered(this.#fixes, this.#workloadOf(pod), () => new Map());
    if (!byShape.has(pod.shape)) byShape.set(pod.shape, this.#findFix(pod));
    return byShape.get(pod.shape);
  }

  #find(key: string): PodToPlace | undefined {
    return this.#problem.pods.find((pod) => pod.key === key);
  }

  #workloadOf({ key, shape }: PodToPlace): string | PodToPlace["shape"] {
    return this.#options.workloadOf?.(key) ?? shape;
  }

  #decision(pod: PodToPlace): Decision {
    // Its turn comes in every solve, because it has a place.
    return decisionOf(this.#problem, this.#solution, pod)!;
  }

  /** undefined where the pod is not left to a later solve. */
  #laterFor({ key }: PodToPlace): LaterSolves | undefined {
    const reasons = this.#reasons.get(key);
    return reasons !== undefined && waits({ reasons }) ? this.later() : undefined;
  }

  #unschedulable(pod: PodToPlace, reasons: readonly Reason[]): PodExplanation {
    const alike = this.#alike(pod);
    const later = this.#laterFor(pod);
    const funnel = this.#ask(pod, reasons).map(({ answer }) => answer.funnel);
    const fix = this.fix(pod.key);
    const nearest = nearestOf(funnel, fix?.nodePool);
    return {
      kind: "unschedulable",
      reasons,
      funnel,
      nearest: nearest && { nodePool: nearest.nodePool, ...nearest.stages.at(-1)! },
      fix,
      ...(later && { later: { solves: later.count, placed: alike.filter((key) => !later.unplaced.has(key)).length } }),
      alike,
      ...this.#otherPlaces(pod),
    };
  }

  #otherPlaces(pod: PodToPlace): OtherPlaces {
    const { classes } = this.#solution;
    const podClass = classOf(this.#problem.pods.indexOf(pod), classes);
    const search = podClass.searches.at(-1)!;
    const question = { problem: this.#problem, view: this.#solution, plan: this.plan, podClass, search, residents: new Map() };
    return { existingNodes: askNodes(question).refused, plannedNodes: askClaims(question).refused };
  }

  /** Equal pods of the same workload without a place. */
  #alike(pod: PodToPlace): readonly string[] {
    const workload = this.#workloadOf(pod);
    const equal = this.#problem.pods.filter(
      (other) => other.shape === pod.shape && this.#reasons.has(other.key) && this.#workloadOf(other) === workload,
    );
    return equal.map(({ key }) => key);
  }

  #ask(pod: PodToPlace, reasons: readonly Reason[]): readonly AskedPool[] {
    return askPools(this.#problem, this.#solution, pod, reasons);
  }

  #choice(node: PlannedNode): NodeExplanation {
    const template = this.#solution.templates.find(({ name }) => name === node.nodePool.metadata?.name)!;
    return { node, cheaper: cheaperTypes(template, this.#solution.axis, node), launch: launchChoice(template, node) };
  }

  #findFix(pod: PodToPlace): FoundFix | undefined {
    const unplaced = this.#laterFor(pod)?.unplaced ?? new Set(this.#reasons.keys());
    const alike = this.#alike(pod).filter((key) => unplaced.has(key));
    if (alike.length === 0) return undefined;
    const workload = this.#workloadOf(pod);
    const mine = this.#problem.pods.filter((other) => this.#workloadOf(other) === workload).map(({ key }) => key);
    const { canMake } = this.#options;
    return findFix({
      problem: this.#problem,
      solution: this.#solution,
      pod: unplaced.has(pod.key) ? pod : this.#find(alike[0]!)!,
      alike,
      mine: new Set(mine),
      unplaced,
      canMake: (edit) => canMake?.(edit, pod.key) ?? true,
    });
  }
}
