/**
 * NodePools stay within their limits: no launch takes the pool beyond a limit that was in force when it was planned. S-160…S-163: nodes
 * on their way out do not count; for static pools they do.
 */
import { NODE_POOL_LABEL, type NodeClaim, type NodePool, parseResources, parseTime } from "@joinery/api";
import type { Clock } from "@joinery/kube";
import type { Truth } from "../truth.ts";
import { Violation } from "../violation.ts";

const RESOURCES = ["cpu", "memory", "nodes"] as const;

type Amounts = Readonly<Record<(typeof RESOURCES)[number], number>>;

/** What was in force from then on; Infinity for what is not limited. */
interface Bounds extends Amounts {
  readonly sinceMs: number;
}

export interface Limits {
  poolChanged(pool: NodePool): void;
  /** Throws a Violation where the NodeClaim that has just been created is one too many for its static pool (L-195, L-198). */
  created(claim: NodeClaim): void;
  /** Throws a Violation where the NodeClaim, which has just learned its capacity, takes its pool beyond the limit. */
  launched(claim: NodeClaim): void;
}

/** How late a replica may learn that a limit was lowered: a dead watch is found out after at most ten and a half minutes. */
const STALE_MS = 11 * 60_000;

export function createLimits(truth: Truth, clock: Clock): Limits {
  /** Per pool, oldest first. */
  const history = new Map<string, Bounds[]>();

  /** The loosest limit that was in force between then and now. */
  function loosest(resource: keyof Amounts, pool: string, fromMs: number): number {
    const entries = history.get(pool) ?? [];
    let most = Number.NEGATIVE_INFINITY;
    for (const [at, bounds] of entries.entries()) {
      const untilMs = entries[at + 1]?.sinceMs ?? Number.POSITIVE_INFINITY;
      if (untilMs >= fromMs) most = Math.max(most, bounds[resource]);
    }
    return most;
  }

  /** What the NodeClaims of a pool that stay have, as they and their Nodes say it: never more than a plan could know. */
  function held(pool: string): Amounts {
    const capacities = new Map([...truth.nodes()].map(({ spec, status }) => [spec?.providerID, parseResources(status?.capacity)]));
    const sum = { cpu: 0, memory: 0, nodes: 0 };
    for (const { metadata, status } of truth.claims()) {
      if (metadata?.labels?.[NODE_POOL_LABEL] !== pool || metadata.deletionTimestamp !== undefined || !status?.providerID) continue;
      const promised = parseResources(status.capacity);
      const real = capacities.get(status.providerID) ?? promised;
      for (const resource of ["cpu", "memory"] as const) sum[resource] += Math.min(promised[resource] ?? 0, real[resource] ?? Infinity);
      sum.nodes++;
    }
    return sum;
  }

  return {
    poolChanged({ metadata, spec }) {
      const name = metadata?.name ?? "";
      const limits = parseResources(spec.limits);
      const [cpu, memory, nodes] = RESOURCES.map((resource) => limits[resource] ?? Number.POSITIVE_INFINITY) as [number, number, number];
      const entries = history.get(name) ?? [];
      const last = entries.at(-1);
      if (last?.cpu === cpu && last.memory === memory && last.nodes === nodes) return;
      history.set(name, [...entries.slice(-50), { sinceMs: clock.wallMs(), cpu, memory, nodes }]);
    },
    created(claim) {
      const pool = claim.metadata?.labels?.[NODE_POOL_LABEL] ?? "";
      if (![...truth.pools()].some(({ metadata, spec }) => metadata?.name === pool && spec.replicas !== undefined)) return;
      const count = [...truth.claims()].filter(({ metadata }) => metadata?.labels?.[NODE_POOL_LABEL] === pool).length;
      const limit = loosest("nodes", pool, clock.wallMs() - STALE_MS);
      if (count > limit)
        throw new Violation("limits", `NodePool ${pool} has ${count} nodes of ${limit} since NodeClaim ${claim.metadata?.name}`);
    },
    launched(claim) {
      const pool = claim.metadata?.labels?.[NODE_POOL_LABEL] ?? "";
      const used = held(pool);
      const fromMs = (parseTime(claim.metadata?.creationTimestamp) ?? clock.wallMs()) - STALE_MS;
      for (const resource of RESOURCES) {
        const limit = loosest(resource, pool, fromMs);
        if (used[resource] <= limit) continue;
        const text = `${used[resource]} of ${limit} ${resource}`;
        throw new Violation("limits", `NodePool ${pool} has ${text} since NodeClaim ${claim.metadata?.name}`);
      }
    },
  };
}
