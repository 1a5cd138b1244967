/** What a candidate knows of the Lease, judged by its own clock alone: the stamps in it are other machines' and only for people. */
import { formatMicroTime, isEqualJson, type Lease } from "@joinery/api";
import type { EpochMs } from "../clock/clock.ts";
import { compareVersions, versionOf } from "../informer/store.ts";

export interface Observation {
  /** Undefined: there is no Lease (any more). */
  readonly lease: Lease | undefined;
  /** Who held it when it was last seen, also when it was deleted since. */
  readonly holder: string;
  readonly durationMs: number;
  /** When, by our monotonic clock, the record was first seen as it is. Never before it was written. */
  readonly sinceMs: number;
}

/** The observation after the server said this. States that are older than what is known change nothing. */
export function observe(held: Observation | undefined, lease: Lease | undefined, nowMs: number, defaultMs: number): Observation {
  if (lease === undefined) {
    // Whoever held the deleted Lease may not know yet: its time runs on.
    return { holder: "", durationMs: 0, sinceMs: nowMs, ...held, lease: undefined };
  }
  const order = held?.lease === undefined ? undefined : compareVersions(versionOf(lease), versionOf(held.lease));
  if (held?.lease !== undefined && (order ?? 1) <= 0) {
    return held;
  }
  const isSame = held?.lease !== undefined && isEqualJson(held.lease.spec, lease.spec);
  const seconds = lease.spec?.leaseDurationSeconds ?? 0;
  return {
    lease,
    holder: lease.spec?.holderIdentity ?? "",
    durationMs: seconds > 0 ? seconds * 1000 : defaultMs,
    sinceMs: isSame ? held.sinceMs : nowMs,
  };
}

/** When the Lease may be taken by `identity`, by our monotonic clock. Now or earlier: at once. */
export function takeableAtMs({ holder, sinceMs, durationMs }: Observation, identity: string): number {
  return holder === "" || holder === identity ? Number.NEGATIVE_INFINITY : sinceMs + durationMs;
}

/** `spec` for taking or renewing. */
export function heldSpec(before: Lease["spec"], identity: string, leaseMs: number, wallMs: EpochMs): NonNullable<Lease["spec"]> {
  const now = formatMicroTime(wallMs);
  const isRenewal = before?.holderIdentity === identity;
  return {
    ...before,
    holderIdentity: identity,
    leaseDurationSeconds: Math.ceil(leaseMs / 1000),
    acquireTime: isRenewal ? (before.acquireTime ?? now) : now,
    renewTime: now,
    leaseTransitions: before === undefined ? 0 : (before.leaseTransitions ?? 0) + (isRenewal ? 0 : 1),
  };
}

/** `spec` after a clean stop: nobody holds it, so the next one need not wait. */
export function releasedSpec(before: Lease["spec"], wallMs: EpochMs): NonNullable<Lease["spec"]> {
  const now = formatMicroTime(wallMs);
  return { ...before, holderIdentity: "", leaseDurationSeconds: 1, acquireTime: now, renewTime: now };
}
