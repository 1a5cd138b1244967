/**
 * Why a pod was given the place that it has: what the places that come before it lacked when the pod's turn came, and what a node of its
 * own would have cost. Rules S-85, S-91, S-92, S-98.
 */

import { intersection, isEmpty, isIn } from "../catalog/type-set.ts";
import type { RepeatableSolution } from "../improve/improved-solve.ts";
import { roundedPrice } from "../plan/plan-price.ts";
import type { PodToPlace, Problem } from "../problem.ts";
import type { Reason } from "../reason.ts";
import { classOf, type PodClass, type Search } from "../solve/pod-classes.ts";
import type { Template } from "../solve/template.ts";
import { askPool, type PoolFunnel } from "./funnel.ts";
import { askGate } from "./gate-stages.ts";
import { askClaims, askNodes, type RefusedPlaces } from "./place-refusals.ts";
import type { Surroundings } from "./residents.ts";

/** The cheapest node that the pod could have had for itself. */
export interface OwnNode {
  readonly nodePool: string;
  readonly instanceType: string;
  readonly pricePerHour: number;
}

export interface Decision {
  /** Existing nodes that did not take the pod. */
  readonly nodes: readonly RefusedPlaces[];
  /** Nodes planned before that did not. */
  readonly claims: readonly RefusedPlaces[];
  /** Of all pools, as they were then. */
  readonly funnel: readonly PoolFunnel[];
  readonly ownNode: OwnNode | undefined;
  /** Preferences, and terms of required node affinity, that nothing was found for. */
  readonly givenUp: number;
  /** Whether some node that was planned before would take the pod. */
  readonly joins: boolean;
}

/** The solve is repeated, and the pod's last turn in it is looked at. */
export function decisionOf(problem: Problem, solution: RepeatableSolution, pod: PodToPlace): Decision | undefined {
  const index = problem.pods.indexOf(pod);
  const dropped = new Map(solution.plan.droppedPools.map(({ nodePool, reason }) => [nodePool, reason]));
  let decision: Decision | undefined;
  solution.repeat((turn, view) => {
    if (turn === index)
      decision = decisionNow({
        problem,
        plan: solution.plan,
        pod,
        dropped,
        view,
        podClass: classOf(index, view.classes),
      });
  });
  return decision;
}

interface Turn extends Surroundings {
  readonly pod: PodToPlace;
  readonly podClass: PodClass;
  readonly dropped: ReadonlyMap<string, Reason>;
}

function decisionNow({ problem, plan, pod, podClass, dropped, view }: Turn): Decision {
  const funnel = view.templates.map(
    (template) => askPool(template, pod.shape, { problem, view, plan, podClass, dropped, reasons: [] }).funnel,
  );
  const residents = new Map();
  for (const [givenUp, search] of podClass.searches.entries()) {
    const question = { problem, view, plan, podClass, search, residents };
    const nodes = askNodes(question);
    const claims = askClaims(question);
    const own = ownNode({ problem, view, plan }, podClass, search);
    const isFound = nodes.open.length > 0 || claims.open.length > 0 || own !== undefined;
    if (isFound || search === podClass.searches.at(-1))
      return { nodes: nodes.refused, claims: claims.refused, funnel, ownNode: own, givenUp, joins: claims.open.length > 0 };
  }
  return { nodes: [], claims: [], funnel, ownNode: undefined, givenUp: 0, joins: false };
}

/** In the first pool that would take the pod. */
function ownNode(surroundings: Surroundings, podClass: PodClass, search: Search): OwnNode | undefined {
  for (const template of surroundings.view.templates) {
    const found = ownNodeOf(template, surroundings, podClass, search);
    if (found !== undefined) return found;
  }
  return undefined;
}

function ownNodeOf(template: Template, surroundings: Surroundings, { shape, requests }: PodClass, search: Search): OwnNode | undefined {
  const { catalog, limits, root, room } = template;
  const state = root.after(search.constraint);
  if (state === null) return undefined;
  let left = limits === undefined ? state.variants : intersection(state.variants, limits.allowed());
  for (const [position, column] of room.entries()) left = intersection(left, column.setOf(column.rowAtLeast(requests[position]!)));
  if (isEmpty(left)) return undefined;
  const answer = askGate({ template, shape, state, left, search, ...surroundings });
  if (isEmpty(answer.left)) return undefined;
  const order = catalog.priceOrder(answer.state.kinds);
  const types = new Set<number>();
  for (let variant = 0; variant < catalog.variantCount; variant++)
    if (isIn(answer.left, variant)) types.add(catalog.typeOfVariant[variant]!);
  const cheapest = order.types.find((type) => types.has(type));
  if (cheapest === undefined || !Number.isFinite(order.prices[cheapest]!)) return undefined;
  return { nodePool: template.name, instanceType: catalog.types[cheapest]!.name, pricePerHour: roundedPrice(order.prices[cheapest]!) };
}
