/** How much a NodePool may still grow during one solve. Rules S-160…S-164. */
import { type NodePool, parseResources } from "@joinery/api";
import type { Catalog } from "../catalog/catalog.ts";
import { fullSet, hasCommon, isEmpty, type TypeSet } from "../catalog/type-set.ts";
import { remembered } from "../memo.ts";
import type { ExistingNode } from "../problem.ts";
import type { Reason } from "../reason.ts";
import type { ClaimState } from "./claim-state.ts";

const NODES = "nodes";

/** Amounts by limit. */
export type Charge = Float64Array;

interface KnownCharge {
  readonly allowed: TypeSet | undefined;
  readonly charge: Charge;
}

export interface LimitShortfall {
  readonly resource: string;
  readonly limit: number;
  readonly used: number;
  /** Capacity of the smallest type in question. */
  readonly least: number;
}

/**
 * `nodes` counts the claims of this solve too. Karpenter counts only between solves, so that one solve can overshoot (S-163); a
 * limit that people set is better kept.
 */
export class PoolLimits {
  readonly #poolName: string;
  readonly #catalog: Catalog;
  readonly #limits: readonly (readonly [resource: string, limit: number])[];
  readonly #remaining = new Map<string, number>();
  /** By limit: the types above it, as a row of its column. The same rows mean the same set. */
  readonly #rowsAbove: Int32Array;
  #allowed: TypeSet | undefined;
  /** undefined as long as nothing has been charged. */
  #allowedAtFirst: TypeSet | undefined;
  readonly #charges = new Map<ClaimState, Map<Float64Array, KnownCharge>>();

  /** undefined when the pool has no limit that could ever be met. `nodes` are those of the pool that exist. */
  static of(nodePool: NodePool, catalog: Catalog, nodes: readonly ExistingNode[]): PoolLimits | undefined {
    const limits = Object.entries(parseResources(nodePool.spec.limits))
      .filter(([, limit]) => Number.isFinite(limit))
      .sort(([a], [b]) => (a < b ? -1 : 1));
    return limits.length === 0 ? undefined : new PoolLimits(nodePool.metadata?.name ?? "", catalog, limits, nodes);
  }

  private constructor(
    poolName: string,
    catalog: Catalog,
    limits: readonly (readonly [resource: string, limit: number])[],
    nodes: readonly ExistingNode[],
  ) {
    this.#poolName = poolName;
    this.#catalog = catalog;
    this.#limits = limits;
    for (const [resource, limit] of limits) {
      const used = nodes.reduce((sum, { capacity }) => sum + (resource === NODES ? 1 : (capacity[resource] ?? 0)), 0);
      this.#remaining.set(resource, limit - used);
    }
    this.#rowsAbove = Int32Array.from(limits, ([resource]) => this.#rowAbove(resource));
  }

  /** Variants of types that still fit into every limit (S-161); empty when none does. The same set as long as no type drops out. */
  allowed(): TypeSet {
    this.#allowed ??= this.#computeAllowed();
    return this.#allowed;
  }

  /** The same before anything was charged. */
  allowedAtFirst(): TypeSet {
    return this.#allowedAtFirst ?? this.allowed();
  }

  /** What a new claim that may become any of `types` counts for, by limit: the largest of them (S-162). */
  chargeOf(types: TypeSet): Charge {
    return Float64Array.from(this.#limits, ([resource]) =>
      resource === NODES ? 1 : Math.max(0, this.#catalog.capacityColumn(resource).greatestIn(types)),
    );
  }

  /** What `rememberCharge` was told of the same state, set of types and row of requests. */
  knownCharge(state: ClaimState, allowed: TypeSet | undefined, requests: Float64Array): Charge | undefined {
    const known = this.#charges.get(state)?.get(requests);
    return known !== undefined && known.allowed === allowed ? known.charge : undefined;
  }

  rememberCharge(state: ClaimState, allowed: TypeSet | undefined, requests: Float64Array, charge: Charge): void {
    remembered(this.#charges, state, (): Map<Float64Array, KnownCharge> => new Map()).set(requests, { allowed, charge });
  }

  /** Takes what `chargeOf` said. */
  charge(amounts: Charge): void {
    this.#allowedAtFirst ??= this.allowed();
    for (let index = 0; index < amounts.length; index++) {
      const resource = this.#limits[index]![0];
      this.#remaining.set(resource, this.#remaining.get(resource)! - amounts[index]!);
      const row = this.#rowAbove(resource);
      if (row === this.#rowsAbove[index]) continue;
      this.#rowsAbove[index] = row;
      this.#allowed = undefined;
    }
  }

  /** Why `allowed` is empty, or has nothing in common with `wanted`: the first limit that alone says so, else the first of all. */
  reason(wanted: TypeSet): Reason {
    const decisive = this.#limits.find(([resource]) => !hasCommon(this.#within(resource), wanted)) ?? this.#limits[0]!;
    const [resource, limit] = decisive;
    return { kind: "over-limit", nodePool: this.#poolName, resource, used: limit - this.#remaining.get(resource)!, limit };
  }

  /** Each limit that alone leaves nothing of `wanted`: what is used of it, and what the smallest of `wanted` needs. */
  shortfalls(wanted: TypeSet): readonly LimitShortfall[] {
    return this.#limits
      .filter(([resource]) => !hasCommon(this.#within(resource), wanted))
      .map(([resource, limit]) => ({
        resource,
        limit,
        used: limit - this.#remaining.get(resource)!,
        least: resource === NODES ? 1 : this.#catalog.capacityColumn(resource).leastIn(wanted),
      }));
  }

  /** By limited resource: what is left, below zero where more is used than allowed. */
  get remaining(): ReadonlyMap<string, number> {
    return this.#remaining;
  }

  #computeAllowed(): TypeSet {
    const allowed = fullSet(this.#catalog.variantCount);
    for (const [resource] of this.#limits) {
      const within = this.#within(resource);
      for (let word = 0; word < allowed.length; word++) allowed[word] = allowed[word]! & within[word]!;
    }
    return allowed;
  }

  #within(resource: string): TypeSet {
    const all = fullSet(this.#catalog.variantCount);
    if (resource === NODES) return this.#remaining.get(resource)! > 0 ? all : all.fill(0);
    const above = this.#catalog.capacityColumn(resource).setOf(this.#rowAbove(resource));
    for (let word = 0; word < all.length; word++) all[word] = all[word]! & ~above[word]!;
    return all;
  }

  /** Types in this row have more than is left; of nodes there is only "none left" (0) and "some". */
  #rowAbove(resource: string): number {
    const remaining = this.#remaining.get(resource)!;
    return resource === NODES ? Number(remaining > 0) : this.#catalog.capacityColumn(resource).rowAbove(remaining);
  }

  get isExhausted(): boolean {
    return isEmpty(this.allowed());
  }
}
