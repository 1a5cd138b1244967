/** What EC2 has left: a pool per instance type, zone and capacity type, endless unless a rule bounds it. */

export interface PoolKey {
  readonly instanceType: string;
  readonly zone: string;
  readonly capacityType: "spot" | "on-demand";
}

/** Which pools a rule speaks of; a field that is absent means all. */
export interface PoolSelector {
  readonly instanceType?: string | RegExp;
  readonly zone?: string;
  readonly capacityType?: "spot" | "on-demand";
}

interface Rule {
  readonly selector: PoolSelector;
  /** Instances that each selected pool can hold. */
  readonly size: number;
  readonly endsAtMs: number;
}

export class CapacityPools {
  #rules: Rule[] = [];
  readonly #used = new Map<string, number>();

  /** Each selected pool holds `size` instances until then; later rules win over earlier ones. 0 = insufficient capacity. */
  limit(selector: PoolSelector, size: number, endsAtMs = Number.POSITIVE_INFINITY): void {
    this.#rules.push({ selector, size, endsAtMs });
  }

  /** How many more instances the pool can hold. */
  free(pool: PoolKey, nowMs: number): number {
    if (this.#rules.some(({ endsAtMs }) => endsAtMs <= nowMs)) this.#rules = this.#rules.filter(({ endsAtMs }) => endsAtMs > nowMs);
    const rule = this.#rules.findLast(({ selector }) => isSelected(pool, selector));
    return rule === undefined ? Number.POSITIVE_INFINITY : rule.size - (this.#used.get(nameOf(pool)) ?? 0);
  }

  take(pool: PoolKey): void {
    this.#used.set(nameOf(pool), (this.#used.get(nameOf(pool)) ?? 0) + 1);
  }

  giveBack(pool: PoolKey): void {
    this.#used.set(nameOf(pool), (this.#used.get(nameOf(pool)) ?? 1) - 1);
  }
}

function isSelected(pool: PoolKey, { instanceType, zone, capacityType }: PoolSelector): boolean {
  const isType = typeof instanceType === "string" ? instanceType === pool.instanceType : (instanceType?.test(pool.instanceType) ?? true);
  return isType && (zone ?? pool.zone) === pool.zone && (capacityType ?? pool.capacityType) === pool.capacityType;
}

function nameOf({ instanceType, zone, capacityType }: PoolKey): string {
  return `${capacityType}/${instanceType}/${zone}`;
}
