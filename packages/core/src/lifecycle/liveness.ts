/** NodeClaims that do not become nodes in time are given up. Rules L-106…L-111. */
import { type NodeClaim, parseTime } from "@joinery/api";
import type { Rooms } from "../rooms.ts";
import { again, asleep } from "../runtime/step.ts";
import { claimCondition } from "../state/conditions.ts";
import { type DeletionReason, deleteFor } from "./deletion.ts";
import { done, type PhaseResult } from "./phase.ts";

/** L-107. */
const LAUNCH_TIMEOUT_MS = 5 * 60_000;
/** L-108. */
const REGISTRATION_TIMEOUT_MS = 15 * 60_000;

/** L-251: would an instance that is launched now be given up at once? So it is when nobody led for a quarter of an hour. */
export function isTooLateToLaunch(claim: NodeClaim, { clock, provider }: Rooms): boolean {
  const nowMs = clock.wallMs();
  return (
    remainingMs(claim, "Launched", provider.launchTimeoutMs ?? LAUNCH_TIMEOUT_MS, nowMs) <= 0 &&
    remainingMs(claim, "Registered", REGISTRATION_TIMEOUT_MS, nowMs) <= 0
  );
}

/** L-109: from the condition's last transition. */
function remainingMs(claim: NodeClaim, type: string, timeoutMs: number, nowMs: number): number {
  return (parseTime(claimCondition(claim, type).lastTransitionTime) ?? nowMs) + timeoutMs - nowMs;
}

/** One timeout is recorded per NodeClaim, where Karpenter may record both in one pass (L-110). */
export async function checkLiveness(claim: NodeClaim, rooms: Rooms, signal: AbortSignal): Promise<PhaseResult> {
  const { clock, provider } = rooms;
  if (claimCondition(claim, "Registered").status === "True") return done(claim);
  const launchTimeoutMs = provider.launchTimeoutMs ?? LAUNCH_TIMEOUT_MS;

  if (claimCondition(claim, "Launched").status !== "True") {
    const launchMs = remainingMs(claim, "Launched", launchTimeoutMs, clock.wallMs());
    return launchMs > 0 ? { claim, step: again(launchMs) } : giveUp("launch_timeout");
  }
  const registrationMs = remainingMs(claim, "Registered", REGISTRATION_TIMEOUT_MS, clock.wallMs());
  return registrationMs > 0 ? { claim, step: again(registrationMs) } : giveUp("registration_timeout");

  async function giveUp(reason: DeletionReason): Promise<PhaseResult> {
    await rooms.health.recordFailure(claim, signal);
    await deleteFor(reason, claim, rooms, signal);
    return { claim, step: asleep, isDeleted: true };
  }
}
