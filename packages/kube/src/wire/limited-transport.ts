/** A transport that sends no more than its share: `--kube-client-qps` and `--kube-client-burst` (L-248). */
import type { Clock } from "../clock/clock.ts";
import { type BucketOptions, createTokenBucket } from "../queue/rate-limiter.ts";
import type { Transport } from "./transport.ts";

/**
 * Requests beyond the bucket wait for their token, in the order in which they came. Opening a watch takes a token, its events take none. Leader election
 * must not wait behind other work, so it gets a transport without this limit (L-249).
 */
export function createLimitedTransport(transport: Transport, clock: Clock, bucket: BucketOptions): Transport {
  const tokens = createTokenBucket(clock, bucket);
  const turn = async (signal: AbortSignal | undefined) => {
    const waitMs = tokens.reserve();
    if (waitMs > 0) {
      await clock.sleep(waitMs, signal);
    }
  };
  return {
    async send(request, signal) {
      await turn(signal);
      return transport.send(request, signal);
    },
    async stream(request, signal) {
      await turn(signal);
      return transport.stream(request, signal);
    },
    close: () => transport.close(),
  };
}
