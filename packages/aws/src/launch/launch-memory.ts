/**
 * What this process knows about launches whose end it has not seen. Safety rests on EC2's client tokens alone: the memory makes a
 * retry send the very same request, and after a restart the request may differ, which EC2 then tells.
 */
import type { CreateFleetRequest } from "../ec2/launch-shapes.ts";
import type { LaunchWish } from "./fleet-request.ts";

export interface PendingLaunch {
  readonly request: CreateFleetRequest;
  readonly wish: LaunchWish;
}

interface Memory {
  /** Counts the fleets of this NodeClaim that came back with nothing. */
  attempt: number;
  pending?: PendingLaunch;
  /** Since when EC2 says that the token was used with another request. */
  mismatchSinceMs?: number;
}

export class LaunchMemories {
  readonly #byUid = new Map<string, Memory>();

  /** The NodeClaim's UID, and a number from the second fleet on (EC2 answers a used token with the old, empty fleet). */
  tokenOf(uid: string): string {
    const { attempt } = this.#get(uid);
    return attempt === 0 ? uid : `${uid}-${attempt}`;
  }

  pendingOf(uid: string): PendingLaunch | undefined {
    return this.#byUid.get(uid)?.pending;
  }

  keepPending(uid: string, pending: PendingLaunch): void {
    this.#get(uid).pending = pending;
  }

  dropPending(uid: string): void {
    delete this.#get(uid).pending;
  }

  /** The fleet ended without an instance: the next one needs a token of its own. */
  nextAttempt(uid: string): void {
    this.#byUid.set(uid, { attempt: this.#get(uid).attempt + 1 });
  }

  /** Since when; the first call sets it. */
  mismatchSince(uid: string, nowMs: number): number {
    const memory = this.#get(uid);
    memory.mismatchSinceMs ??= nowMs;
    return memory.mismatchSinceMs;
  }

  forget(uid: string): void {
    this.#byUid.delete(uid);
  }

  #get(uid: string): Memory {
    const memory = this.#byUid.get(uid) ?? { attempt: 0 };
    this.#byUid.set(uid, memory);
    return memory;
  }
}
