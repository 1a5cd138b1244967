/** What goes wrong, how often, and how often it has: one die per replica and per kind of fault, all from the run's seed. */
import type { Random } from "@joinery/kube";

export const FAULT_KINDS = [
  "api-conflict",
  "api-too-many-requests",
  "api-server-error",
  "api-unreachable",
  "api-lost-reply",
  "api-error-after-effect",
  "api-timeout",
  "api-slow",
  "list-slow",
  "watch-refused",
  "watch-expired",
  "watch-dropped",
  "watch-stale",
  "watch-hung",
  "cloud-throttled",
  "cloud-error",
  "cloud-lost-reply",
  "cloud-no-capacity",
  "spot-loss",
  "machine-loss",
  "process-killed",
  "process-stopped",
  "partition",
  "clock-jump",
] as const;

export type FaultKind = (typeof FAULT_KINDS)[number];

/** Chances per call (of the API server or the cloud), per opened watch, per value of a watch. */
export interface Weather {
  readonly isCalm: boolean;
  readonly chances: Readonly<Partial<Record<FaultKind, number>>>;
  /** How late a stale watch, a slow call and a slow list are at most. */
  readonly staleMs: number;
  readonly slowMs: number;
}

export const CALM: Weather = { isCalm: true, chances: {}, staleMs: 0, slowMs: 0 };

/** One storm is not like another: each has its own mixture. */
export function aStorm(random: Random): Weather {
  const upTo = (most: number) => (random.below(3) === 0 ? 0 : most * random.fraction());
  return {
    isCalm: false,
    chances: {
      "api-conflict": upTo(0.06),
      "api-too-many-requests": upTo(0.05),
      "api-server-error": upTo(0.05),
      "api-unreachable": upTo(0.05),
      "api-lost-reply": upTo(0.08),
      "api-error-after-effect": upTo(0.05),
      "api-slow": upTo(0.1),
      "list-slow": upTo(0.5),
      "watch-refused": upTo(0.3),
      "watch-expired": upTo(0.3),
      "watch-dropped": upTo(0.02),
      "watch-stale": upTo(0.4),
      "watch-hung": upTo(0.05),
      "process-killed": upTo(0.004),
      "process-stopped": upTo(0.0005),
      partition: upTo(0.1),
      "clock-jump": upTo(0.003),
      "api-timeout": upTo(0.01),
    },
    staleMs: 1000 + random.below(30_000),
    slowMs: 100 + random.below(4000),
  };
}

export interface FaultCounts {
  count(kind: FaultKind): void;
  readonly counts: ReadonlyMap<FaultKind, number>;
}

export function createFaultCounts(onFault: (kind: FaultKind) => void): FaultCounts {
  const counts = new Map<FaultKind, number>(FAULT_KINDS.map((kind) => [kind, 0]));
  return {
    counts,
    count(kind) {
      counts.set(kind, (counts.get(kind) ?? 0) + 1);
      onFault(kind);
    },
  };
}

/** Throws the die for one kind; nothing is drawn for what cannot happen now. */
export function happens(kind: FaultKind, { chances }: Weather, random: Random): boolean {
  const chance = chances[kind] ?? 0;
  return chance > 0 && random.fraction() < chance;
}
