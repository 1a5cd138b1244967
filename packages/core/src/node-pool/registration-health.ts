/** Do nodes of a NodePool come up? The last four outcomes decide. Rules L-101, L-112…L-116, L-189. */
import { NODE_POOL_LABEL, type NodeClaim, type NodePool } from "@joinery/api";
import type { Clock } from "@joinery/kube";
import type { Writes } from "../runtime/writes.ts";
import type { Caches } from "../state/caches.ts";
import { claimCondition, findPoolCondition, setPoolCondition } from "../state/conditions.ts";

export type Health = "Unknown" | "Healthy" | "Unhealthy";

export interface RegistrationHealth {
  of(pool: NodePool): Health;
  /** L-115. */
  recordSuccess(claim: NodeClaim, signal: AbortSignal): Promise<void>;
  /** L-114; called before the NodeClaim is deleted. */
  recordFailure(claim: NodeClaim, signal: AbortSignal): Promise<void>;
  /** L-189 (a): what a condition that was found stands for. */
  seed(pool: NodePool, outcomes: readonly boolean[]): void;
  /** L-189 (b). */
  clear(pool: NodePool): void;
}

/** L-112: fixed, also while there are fewer outcomes. */
const WINDOW = 4;
const CONDITION = "NodeRegistrationHealthy";

interface Outcome {
  /** UID of the NodeClaim; "" for what was found in a condition. */
  readonly claim: string;
  readonly isGood: boolean;
}

export function healthOf(outcomes: readonly { readonly isGood: boolean }[]): Health {
  if (outcomes.length === 0) return "Unknown";
  return outcomes.filter(({ isGood }) => !isGood).length / WINDOW >= 0.5 ? "Unhealthy" : "Healthy";
}

export function createRegistrationHealth(rooms: {
  readonly caches: Caches;
  readonly writes: Writes;
  readonly clock: Clock;
}): RegistrationHealth {
  const { caches, writes, clock } = rooms;
  const windows = new Map<string, readonly Outcome[]>();

  const outcomesOf = ({ metadata }: NodePool) => windows.get(metadata?.uid ?? "") ?? [];
  const keep = ({ metadata }: NodePool, outcomes: readonly Outcome[]) => void windows.set(metadata?.uid ?? "", outcomes);

  /** A pass that is repeated after a conflict tells the same outcome again; it counts once. */
  function withOutcome(pool: NodePool, { metadata }: NodeClaim, isGood: boolean): readonly Outcome[] {
    const outcomes = outcomesOf(pool);
    const claim = metadata?.uid ?? "";
    if (outcomes.some((outcome) => outcome.claim === claim && outcome.isGood === isGood)) return outcomes;
    return [...outcomes, { claim, isGood }].slice(-WINDOW);
  }

  /** L-113: only for the very pool that the NodeClaim came from. */
  function findPool({ metadata }: NodeClaim): NodePool | undefined {
    const pool = caches.nodePools.find(metadata?.labels?.[NODE_POOL_LABEL] ?? "");
    const isOwner = metadata?.ownerReferences?.some(({ kind, uid }) => kind === "NodePool" && uid === pool?.metadata?.uid);
    return isOwner ? pool : undefined;
  }

  return {
    of: (pool) => healthOf(outcomesOf(pool)),
    async recordSuccess(claim, signal) {
      const pool = findPool(claim);
      if (pool === undefined) return;
      const outcomes = withOutcome(pool, claim, true);
      if (healthOf(outcomes) === "Healthy") {
        await writes.saveNodePool(pool, setPoolCondition(pool, { type: CONDITION, status: "True" }, clock.wallMs()), signal);
      }
      keep(pool, outcomes);
    },
    async recordFailure(claim, signal) {
      const pool = findPool(claim);
      if (pool === undefined) return;
      const outcomes = withOutcome(pool, claim, false);
      if (healthOf(outcomes) === "Unhealthy" && findPoolCondition(pool, CONDITION)?.status !== "False") {
        const launched = claimCondition(claim, "Launched");
        const { reason, message } =
          launched.status === "True" ? { reason: "RegistrationFailed", message: "Failed to register node" } : launched;
        const wished = { type: CONDITION, status: "False", reason, message } as const;
        await writes.saveNodePool(pool, setPoolCondition(pool, wished, clock.wallMs()), signal);
      }
      keep(pool, outcomes);
    },
    seed: (pool, outcomes) =>
      keep(
        pool,
        outcomes.map((isGood) => ({ claim: "", isGood })),
      ),
    clear: (pool) => keep(pool, []),
  };
}
