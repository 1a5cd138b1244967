/** Events are kept for an hour after their last write, as a real API server keeps them; one timer for all of them. */
import { Events } from "@joinery/api";
import { type Clock, createKubeClient, parseKey } from "@joinery/kube";
import type { ApiServer } from "../api-server/api-server.ts";

export interface EventExpiryOptions {
  readonly apiServer: ApiServer;
  readonly clock: Clock;
  readonly keepMs?: number;
}

/** The default of kube-apiserver's `--event-ttl`. */
const KEEP_MS = 3_600_000;
/** Events that end within so long of each other go together. */
const TOGETHER_MS = 10_000;

export function startEventExpiry({ apiServer, clock, keepMs = KEEP_MS }: EventExpiryOptions): void {
  const client = createKubeClient(apiServer.transport("kube-apiserver"), { userAgent: "kube-apiserver" });
  /** Key → end, in monotonic milliseconds; the order of insertion is the order of the ends. */
  const ends = new Map<string, number>();
  let isWaiting = false;

  async function expire(): Promise<void> {
    const nowMs = clock.monotonicMs();
    for (const [key, endMs] of ends) {
      if (endMs > nowMs) {
        break;
      }
      ends.delete(key);
      // Somebody may have deleted it before: it is gone either way.
      await client.delete(Events, parseKey(key)).catch(() => {});
    }
    isWaiting = false;
    wait();
  }

  function wait(): void {
    const next = ends.values().next();
    if (!isWaiting && !next.done) {
      isWaiting = true;
      clock.after(Math.max(0, next.value - clock.monotonicMs()) + TOGETHER_MS, () => void expire());
    }
  }

  apiServer.onChange((resourceId, { type, key }) => {
    if (resourceId !== Events.resource) {
      return;
    }
    ends.delete(key);
    if (type !== "DELETED") {
      ends.set(key, clock.monotonicMs() + keepMs);
      wait();
    }
  });
}
