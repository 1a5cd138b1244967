/**
 * Which claims a constraint has no business with, because of their labels. Two sources: verdicts that were found one by one, and an
 * index of the claims that are bound to few values of a label. Thanks to the index, a thousand teams with nodes of their own do
 * not ask each other's nodes.
 */
import { ClaimSet } from "../claim-set.ts";
import { remembered } from "../memo.ts";
import type { Requirement } from "../requirements/requirement.ts";
import type { Requirements } from "../requirements/requirements.ts";
import type { ClaimState, Constraint } from "./claim-state.ts";

/** A claim with more values than this for a label counts as not bound to it: its bits would cost more than asking it. */
const BOUND_VALUES_MAX = 8;

interface BoundClaims {
  /** All claims that are bound to some values. */
  readonly claims: ClaimSet;
  readonly byValue: Map<string, number[]>;
}

export class LabelRefusals {
  /** Keys that some constraint asks for with listed values; others need no index. */
  readonly #keys: readonly string[];
  readonly #bound = new Map<string, BoundClaims>();
  /** By constraint. */
  readonly #refused: ClaimSet[];
  /** By constraint: how many claims there were when the index was last consulted, in words; every 32 claims are enough. */
  readonly #wordsSeen: Uint32Array;

  constructor(constraints: readonly Constraint[]) {
    this.#keys = [...new Set(constraints.flatMap(({ requirements }) => [...requirements].filter(isListed).map(({ key }) => key)))];
    this.#refused = constraints.map(() => new ClaimSet());
    this.#wordsSeen = new Uint32Array(constraints.length);
  }

  /** The caller adds what it finds out. */
  of({ index, requirements }: Constraint, claimCount: number): ClaimSet {
    const refused = this.#refused[index]!;
    const words = (claimCount + 31) >>> 5;
    if (words <= this.#wordsSeen[index]!) return refused;
    this.#wordsSeen[index] = words;
    this.#addBoundElsewhere(refused, requirements);
    return refused;
  }

  /** The claim now stands in this state. */
  note(claim: number, state: ClaimState): void {
    for (const key of this.#keys) {
      const requirement = state.requirements.find(key);
      if (requirement !== undefined && isListed(requirement) && requirement.values.length <= BOUND_VALUES_MAX)
        this.#bind(claim, requirement);
    }
  }

  /** The claim may take such pods after all. */
  forget(claim: number, { index }: Constraint): void {
    this.#refused[index]!.delete(claim);
  }

  /** Values that a claim has lost since stay listed: then it is asked, and says no itself. */
  #bind(claim: number, { key, values }: Requirement): void {
    const bound = remembered(this.#bound, key, (): BoundClaims => ({ claims: new ClaimSet(), byValue: new Map() }));
    if (bound.claims.has(claim)) return;
    bound.claims.add(claim);
    for (const value of values) remembered(bound.byValue, value, (): number[] => []).push(claim);
  }

  #addBoundElsewhere(refused: ClaimSet, requirements: Requirements): void {
    for (const requirement of requirements) {
      const bound = isListed(requirement) ? this.#bound.get(requirement.key) : undefined;
      if (bound === undefined) continue;
      const here = new ClaimSet();
      for (const value of requirement.values) for (const claim of bound.byValue.get(value) ?? []) here.add(claim);
      refused.addAllBut(bound.claims, here);
    }
  }
}

function isListed({ listedValues, values }: Requirement): boolean {
  return listedValues !== undefined && values.length > 0;
}
