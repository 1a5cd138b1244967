/**
 * Every instance has exactly one NodeClaim, or is collected within its deadline; and what stands for an instance stays as long as the
 * instance does. Rules L-82, L-117…L-131, L-170; W-600.
 */
import type { Node, NodeClaim } from "@joinery/api";
import type { Clock } from "@joinery/kube";
import type { LivingInstance, Truth } from "../truth.ts";
import { Violation } from "../violation.ts";

export interface Ownership {
  /** Throws a Violation. To be called when NodeClaims or instances have changed, and when a deadline has come. */
  check(): void;
  /** When to check again though nothing changes, in monotonic milliseconds. */
  readonly nextDeadlineMs: number;
  /** Deadlines count from here: in a storm nobody can promise when a collector gets through. Infinity = they do not count. */
  countFrom(monotonicMs: number): void;
  claimGone(claim: NodeClaim): void;
  nodeGone(node: Node): void;
}

/** L-170: half a minute of grace and two minutes between two looks; and L-18's longest back-off of a look that failed. */
const COLLECT_WITHIN_MS = 30_000 + 120_000 + 1_000_000;

export function createOwnership(truth: Truth, clock: Clock): Ownership {
  /** Provider ID → since when nobody owns it. */
  const orphans = new Map<string, number>();
  const providerIds = new Map<string, string>();
  let countedFromMs = 0;
  let nextDeadlineMs = Number.POSITIVE_INFINITY;

  function checkClaims(): Map<string, NodeClaim> {
    const byInstance = new Map<string, NodeClaim>();
    for (const claim of truth.claims()) {
      const { uid = "", name } = claim.metadata ?? {};
      const id = claim.status?.providerID;
      if (!id) continue;
      const other = byInstance.get(id);
      if (other !== undefined) {
        throw new Violation("one instance per NodeClaim", `${id} is the instance of NodeClaims ${other.metadata?.name} and ${name}`);
      }
      byInstance.set(id, claim);
      const before = providerIds.get(uid);
      if (before !== undefined && before !== id) {
        throw new Violation("one instance per NodeClaim", `NodeClaim ${name} had instance ${before}, and now has ${id}`);
      }
      providerIds.set(uid, id);
    }
    return byInstance;
  }

  function check(): void {
    const nowMs = clock.monotonicMs();
    const byInstance = checkClaims();
    const waiting = new Set<string>();
    for (const { metadata, status } of truth.claims()) if (!status?.providerID) waiting.add(metadata?.uid ?? "");
    const owners = new Map<string, LivingInstance>();
    const living = truth.living();
    for (const instance of living) {
      const twin = owners.get(instance.claimUid);
      if (twin !== undefined && instance.claimUid !== "") {
        throw new Violation("one instance per NodeClaim", `${twin.id} and ${instance.id} were both launched for ${instance.claimUid}`);
      }
      owners.set(instance.claimUid, instance);
      const isOwned = byInstance.has(instance.providerId) || waiting.has(instance.claimUid);
      if (isOwned) orphans.delete(instance.providerId);
      else if (!orphans.has(instance.providerId)) orphans.set(instance.providerId, nowMs);
    }
    const ids = new Set(living.map(({ providerId }) => providerId));
    nextDeadlineMs = Number.POSITIVE_INFINITY;
    for (const [id, sinceMs] of orphans) {
      if (!ids.has(id)) {
        orphans.delete(id);
        continue;
      }
      const deadlineMs = Math.max(sinceMs, countedFromMs) + COLLECT_WITHIN_MS;
      if (nowMs > deadlineMs) throw new Violation("no instance without NodeClaim", `${id} has had none for ${nowMs - sinceMs} ms`);
      nextDeadlineMs = Math.min(nextDeadlineMs, deadlineMs + 1);
    }
  }

  function isLiving(providerId: string | undefined): boolean {
    return truth.living().some((instance) => instance.providerId === providerId);
  }

  return {
    check,
    get nextDeadlineMs() {
      return nextDeadlineMs;
    },
    countFrom(monotonicMs) {
      countedFromMs = monotonicMs;
    },
    claimGone({ metadata, status }) {
      providerIds.delete(metadata?.uid ?? "");
      if (!isLiving(status?.providerID)) return;
      throw new Violation(
        "objects outlive their instance",
        `NodeClaim ${metadata?.name} is gone, and its instance ${status?.providerID} lives`,
      );
    },
    nodeGone({ metadata, spec }) {
      if (!isLiving(spec?.providerID)) return;
      throw new Violation("objects outlive their instance", `Node ${metadata?.name} is gone, and its instance ${spec?.providerID} lives`);
    },
  };
}
