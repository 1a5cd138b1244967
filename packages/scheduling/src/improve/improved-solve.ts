/**
 * The solve: greedy first, then, where the problem asks for it, a cheaper plan of the same pods. The cheaper plan is made by the
 * same solver under the same rules, and it is taken only where it is not dearer and leaves no more pods out.
 */
import { instancesUsdPerHour } from "../plan/plan-price.ts";
import type { Plan } from "../plan.ts";
import type { Problem } from "../problem.ts";
import { repeat as repeatRun, type Solution, Solver, type SolverView, solveInTurn } from "../solve/solve.ts";
import { construct } from "./construct.ts";
import { Filler } from "./filler.ts";
import { type Improvement, stepsFor } from "./improvement.ts";
import { nodeUsdPerHour, packingModel } from "./packing-model.ts";
import { podGroups } from "./pod-groups.ts";
import { type Refillable, refillables } from "./refillable.ts";
import { repack } from "./repack.ts";
import { type Packing, replay } from "./replay.ts";
import { ruinAndRecreate } from "./ruin.ts";
import { SeededRandom } from "./seeded-random.ts";

/** Equal problems give equal plans, in whatever order their pods, nodes and pools are listed. */
export function solve(problem: Problem): Plan {
  return solveToExplain(problem).plan;
}

/** Called before a pod of the problem is tried, which may be several times. */
type OnTurn = (pod: number, view: SolverView) => void;

export interface RepeatableSolution extends Solution {
  /** The same turns once more, without the search for a cheaper plan: for those who ask what a pod was told at its turn. */
  repeat(onTurn: OnTurn): void;
}

/** The same solve, with what it asked its questions of. */
export function solveToExplain(problem: Problem): RepeatableSolution {
  const { improvement, isOverdue } = problem.options;
  const run = solveInTurn(problem);
  const { solver, plan: greedy } = run;
  const repeatGreedily = (onTurn: OnTurn) => repeatRun(run, problem, onTurn);
  if (improvement === undefined || (isOverdue?.() ?? false) || greedy.newNodes.length === 0)
    return { ...solver.view, plan: greedy, repeat: repeatGreedily };
  const found = { greedyUsdPerHour: instancesUsdPerHour(greedy), greedyNodes: greedy.newNodes.length };
  for (const attempt of attempts(greedy, improvement, solver)) {
    const second = new Solver(problem);
    const packing = packed(problem, solver, second, attempt);
    const plan = packing && replay(second, packing, { isOverdue });
    if (plan === undefined || !isBetter(plan, greedy, problem, improvement)) continue;
    const repeat = (onTurn: OnTurn) => {
      const third = new Solver(problem);
      const { view } = third;
      replay(third, packing!, { onTurn: (pod) => onTurn(pod, view) });
    };
    return { ...second.view, plan: { ...plan, improvement: { ...found, isImproved: true } }, repeat };
  }
  return { ...solver.view, plan: { ...greedy, improvement: { ...found, isImproved: false } }, repeat: repeatGreedily };
}

interface Attempt {
  readonly improvement: Improvement;
  readonly open: readonly Refillable[];
}

/**
 * The first that succeeds counts. Where the greedy plan lists too few types itself, and no plan with enough of them is cheaper, one with few may
 * be; where the nodes that limits allow cannot be filled anew, they stay.
 */
function attempts(greedy: Plan, improvement: Improvement, solver: Solver): readonly Attempt[] {
  const { spotTypesMin } = improvement;
  const isShort = greedy.newNodes.some(
    ({ cheapest, instanceTypes }) => cheapest.capacityType === "spot" && instanceTypes.length < spotTypesMin,
  );
  const open = refillables(solver);
  const wishes = isShort ? [improvement, { ...improvement, spotTypesMin: 1 }] : [improvement];
  return wishes.flatMap((wish) => [...(open.length > 0 ? [{ improvement: wish, open }] : []), { improvement: wish, open: [] }]);
}

/** undefined where the model has no place for some pod. */
function packed(problem: Problem, greedy: Solver, pristine: Solver, { improvement, open }: Attempt): Packing | undefined {
  const groups = podGroups(greedy, pristine, new Set(open.map(({ claim }) => claim)));
  const model = packingModel(problem, greedy, pristine, groups, improvement, open);
  const filler = new Filler(model);
  const stepsMax = stepsFor(improvement, problem.pods.length);
  const start = construct(model, filler, stepsMax);
  if (start === undefined) return undefined;
  const random = new SeededRandom(improvement.seed);
  const repacked = repack(model, filler, start, stepsMax, random);
  const bins = ruinAndRecreate(model, filler, repacked, stepsMax, random);
  return { model, bins, sequence: greedy.sequence, searchOfPod: greedy.searchOfPod };
}

/** What sums of equal prices differ by when they are added up in another order; far below any price. */
const DUST_USD_PER_HOUR = 1e-9;

/** Cheaper with all that a node costs, not dearer in instances alone, and no more pods left out. */
function isBetter(plan: Plan, greedy: Plan, problem: Problem, improvement: Improvement): boolean {
  const byPool = new Map(problem.pools.map((offer) => [offer.nodePool, nodeUsdPerHour(offer, improvement)]));
  const total = ({ newNodes }: Plan) =>
    newNodes.reduce((sum, { cheapest, nodePool }) => sum + cheapest.priceUsdPerHour + byPool.get(nodePool)!, 0);
  return (
    plan.unschedulable.length <= greedy.unschedulable.length &&
    total(plan) < total(greedy) - DUST_USD_PER_HOUR &&
    instancesUsdPerHour(plan) <= instancesUsdPerHour(greedy) + DUST_USD_PER_HOUR
  );
}
