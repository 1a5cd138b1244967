/** What each NodePool holds, as a running sum of its nodes' capacities. Rules L-55, L-56. */
import { type Resources, subtractResources, sumResources } from "@joinery/api";

export interface PoolLedger {
  /** Replaces what the node `key` contributes. */
  set(key: string, pool: string | undefined, resources: Resources): void;
  /** undefined when the pool holds nothing. */
  of(pool: string): Resources | undefined;
  onChange(listener: (pool: string) => void): () => void;
}

interface Contribution {
  readonly pool: string;
  readonly resources: Resources;
}

export function createPoolLedger(): PoolLedger {
  const contributions = new Map<string, Contribution>();
  const totals = new Map<string, Resources>();
  const listeners = new Set<(pool: string) => void>();

  function change(pool: string, total: Resources): void {
    if (Object.values(total).some((amount) => amount !== 0)) totals.set(pool, total);
    else totals.delete(pool);
  }

  return {
    set(key, pool, resources) {
      const before = contributions.get(key);
      if (before === undefined && pool === undefined) return;
      if (before?.pool === pool && isEqual(before?.resources ?? {}, resources)) return;
      if (before !== undefined) {
        contributions.delete(key);
        const total = totals.get(before.pool) ?? {};
        change(before.pool, subtractResources(sumResources(total, zeros(before.resources)), before.resources));
      }
      if (pool !== undefined) {
        contributions.set(key, { pool, resources });
        change(pool, sumResources(totals.get(pool), resources));
      }
      for (const name of new Set([before?.pool, pool])) {
        if (name !== undefined) for (const listener of listeners) listener(name);
      }
    },
    of: (pool) => totals.get(pool),
    onChange(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

function zeros(resources: Resources): Resources {
  return Object.fromEntries(Object.keys(resources).map((name) => [name, 0]));
}

function isEqual(one: Resources, other: Resources): boolean {
  const names = Object.keys(one);
  return names.length === Object.keys(other).length && names.every((name) => one[name] === other[name]);
}
