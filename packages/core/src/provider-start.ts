/** The cloud is asked when a term begins, and may be away then: the start is tried again, and it is told what is waited for. Rule O-67. */
import { type Clock, createRateLimiter } from "@joinery/kube";
import type { ProviderContext, ProviderFactory, ProviderParts } from "./controller.ts";
import type { Logger } from "./logger.ts";
import { messageOf } from "./runtime/answers.ts";
import { createTelling } from "./runtime/telling.ts";

const BACKOFF = { baseMs: 1000, maxMs: 30_000 };
const TELL_EVERY_MS = 60_000;

interface Rooms {
  readonly clock: Clock;
  readonly log: Logger;
  /** Told why it could not be started; undefined when it was. */
  readonly onFault: (why: string | undefined) => void;
}

/** Rejects when the signal aborts. */
export async function startProvider(
  factory: ProviderFactory,
  context: ProviderContext,
  { clock, log, onFault }: Rooms,
  signal: AbortSignal,
): Promise<ProviderParts> {
  const waits = createRateLimiter(clock, BACKOFF);
  const isNews = createTelling(clock, TELL_EVERY_MS);
  for (;;) {
    try {
      const parts = await factory.create(context);
      onFault(undefined);
      return parts;
    } catch (error) {
      signal.throwIfAborted();
      const why = messageOf(error);
      onFault(why);
      if (isNews("", why)) log.error({ error: why }, "waiting for the cloud provider");
      await clock.sleep(waits.next(""), signal);
    }
  }
}
