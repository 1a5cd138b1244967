/**
 * Edits that could give a pod a place, the least first: what was mistyped is corrected before anything is allowed, raised, dropped or
 * cut. None is believed before the solver has agreed.
 */
import type { PodShape } from "../problem.ts";
import type { Reason } from "../reason.ts";
import type { Template } from "../solve/template.ts";
import { companyCorrections, freedPorts, softerTerms, widerSpreads } from "./company-edits.ts";
import type { Edit } from "./edit.ts";
import type { PodAnswer } from "./funnel.ts";
import { corrections, movedSelectors, onlyValues, removals } from "./label-edits.ts";
import { softerOthers } from "./others-edits.ts";
import { admissions, domainsLeftOut, lowerMinValues, raisedLimits } from "./pool-edits.ts";
import { isSlight, lowerRequests, requestCorrections } from "./request-edits.ts";
import type { Surroundings } from "./residents.ts";
import { isSought, tolerationCorrections, tolerationsFor } from "./taint-edits.ts";
import { widenedPool } from "./widened-pool.ts";

export interface AskedPool {
  readonly template: Template;
  readonly answer: PodAnswer;
  /** Why the solve went without the pool. */
  readonly dropped: Reason | undefined;
  /** What the solver says in the end. */
  readonly reasons: readonly Reason[];
}

export interface Candidate {
  readonly edit: Edit;
  /** `edit` is the first step of a ladder: the further up, the more pods it could serve. */
  readonly grown?: (step: number) => Edit;
  readonly steps?: number;
}

export interface EditQuestion {
  readonly surroundings: Surroundings;
  readonly shape: PodShape;
  readonly count: number;
  readonly waiting: ReadonlyMap<string, number>;
}

/**
 * @param pools those in which the pod comes furthest first
 * @param count pods of the shape that have no place
 * @param waiting by pool, pods of all shapes that its limits keep out
 */
export function candidateEdits(pools: readonly AskedPool[], { surroundings, shape, count, waiting }: EditQuestion): readonly Candidate[] {
  const { problem, view } = surroundings;
  const sought = pools.filter((pool) => isSought(pool, pools, shape));
  const cuts = lowerRequests(pools, view.axis, shape);
  const candidates = [
    ...only(corrections(pools, shape)),
    ...only(requestCorrections(pools, shape)),
    ...only(companyCorrections(pools, shape, problem)),
    ...only(tolerationCorrections(pools, shape)),
    ...only(sought.flatMap((pool) => tolerationsFor(pool, shape))),
    ...pools.flatMap((pool) => raisedLimits(pool, Math.max(count, waiting.get(pool.template.name) ?? 0))),
    ...only(pools.flatMap(lowerMinValues)),
    ...only(onlyValues(pools, shape, false)),
    ...only(movedSelectors(pools, shape)),
    ...only(pools.flatMap(domainsLeftOut)),
    ...only(cuts.filter(isSlight)),
    ...only(pools.flatMap(admissions)),
    ...only(pools.slice(0, WIDENED_POOLS_MAX).flatMap((pool) => widenedPool(pool, shape, surroundings))),
    ...widerSpreads(pools, shape, count),
    ...only(softerTerms(pools, shape)),
    ...only(softerOthers(pools, surroundings)),
    ...only(freedPorts(pools, shape)),
    ...only(pools.flatMap((pool) => tolerationsFor(pool, shape))),
    ...only(onlyValues(pools, shape, true)),
    ...only(removals(shape)),
    ...only(cuts),
  ];
  const seen = new Set<string>();
  return candidates.filter(({ edit }) => {
    const text = JSON.stringify(edit);
    return !seen.has(text) && seen.add(text);
  });
}

/** A pool is compiled anew for each of its requirements that might be wider. */
const WIDENED_POOLS_MAX = 3;

function only(edits: readonly Edit[]): Candidate[] {
  return edits.map((edit) => ({ edit }));
}
