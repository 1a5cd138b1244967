/**
 * Keeps a store true to the server: lists page by page, then watches from the list's version, and takes the watch up again where it
 * broke. A version that is too old (410) means a new list, whose differences to the store become changes.
 */
import type { Kind, KubeObject } from "@joinery/api";
import type { Encoding, KubeClient, ListOptions, WatchOptions } from "../client.ts";
import { type Backoff, createBackoff } from "../clock/backoff.ts";
import { type Clock, type Random, sleepOn } from "../clock/clock.ts";
import { ApiError, isGone, TransportError } from "../wire/errors.ts";
import { compareVersions, type Store, versionOf } from "./store.ts";

export interface ReflectorOptions {
  readonly clock: Clock;
  readonly random: Random;
  readonly namespace?: string;
  readonly labelSelector?: ListOptions["labelSelector"];
  readonly fieldSelector?: string;
  readonly encoding?: Encoding;
  readonly pageSize: number;
  /** A list or watch failed; it is tried again. */
  readonly onError?: (error: unknown) => void;
}

export interface Reflector {
  run(signal: AbortSignal): Promise<void>;
  /** The store holds everything up to this version; undefined before the first complete list. */
  readonly version: string | undefined;
}

/** First and longest wait after a failure; the figures of client-go's reflector. */
const BACKOFF = { baseMs: 800, maxMs: 30_000 };
/** The server is asked to close a watch after 5 to 10 minutes, as client-go does, so that load spreads over API servers again. */
const WATCH_SECONDS_MIN = 300;
/** A watch that the server should have closed this long ago hangs on a dead connection. */
const WATCH_GRACE_MS = 30_000;
/** A watch shorter than this without an event counts as a failure, or an idle proxy would make us ask in a loop. */
const WATCH_SHORT_MS = 1000;
/** Lists older than the store are refused this often; after that the server was put back to an earlier state, and it is right. */
const STALE_LISTS_MAX = 5;

export function createReflector<Raw extends KubeObject, Kept extends KubeObject>(
  client: KubeClient,
  kind: Kind<Raw>,
  store: Store<Raw, Kept>,
  { clock, random, namespace, labelSelector, fieldSelector, encoding, pageSize, onError }: ReflectorOptions,
  onListed: () => void,
): Reflector {
  const scope = { namespace, labelSelector, fieldSelector, encoding } as const;
  const backoff = createBackoff(random, BACKOFF);
  let version: string | undefined;
  let staleCount = 0;

  async function list(signal: AbortSignal, isPaged: boolean): Promise<string> {
    const listed = new Set<string>();
    let mayGoBack = false;
    let next: string | undefined;
    let listVersion: string | undefined;
    do {
      const page = await client.page(kind, { ...scope, limit: isPaged ? pageSize : undefined, continue: next }, signal);
      if (listVersion === undefined) {
        listVersion = page.resourceVersion;
        mayGoBack = judgeAge(listVersion);
      }
      for (const object of page.objects) {
        listed.add(store.put(object, { mayGoBack }));
      }
      next = page.continue;
    } while (next !== undefined);
    store.removeUnlisted(listed, listVersion, { mayGoBack });
    return listVersion;
  }

  /** Whether the store must follow a list of this version backwards. Throws where the list should be asked for again. */
  function judgeAge(listVersion: string): boolean {
    const order = version === undefined ? undefined : compareVersions(listVersion, version);
    if (order === undefined || order >= 0) {
      staleCount = 0;
      return false;
    }
    staleCount++;
    if (staleCount < STALE_LISTS_MAX) {
      throw new StaleListError(
        `Cannot use the list of ${kind.resource}: its version is ${listVersion}, wanted at least ${version}, which was seen before`,
      );
    }
    staleCount = 0;
    return true;
  }

  /** A continue token may expire between two pages; the second try asks for everything at once, as client-go does. */
  async function listOrAllAtOnce(signal: AbortSignal): Promise<string> {
    try {
      return await list(signal, true);
    } catch (error) {
      if (isGone(error)) {
        return await list(signal, false);
      }
      throw error;
    }
  }

  /** Follows one watch to its end. True when it said anything. */
  async function watchOnce(from: string, signal: AbortSignal): Promise<boolean> {
    const timeoutSeconds = WATCH_SECONDS_MIN + random.below(WATCH_SECONDS_MIN);
    const watchdog = new AbortController();
    const cancel = clock.after(timeoutSeconds * 1000 + WATCH_GRACE_MS, () =>
      watchdog.abort(new TransportError("timeout", `the watch of ${kind.resource} hung: it did not end after ${timeoutSeconds} s`)),
    );
    const options: WatchOptions = { ...scope, resourceVersion: from, timeoutSeconds };
    let hasSpoken = false;
    try {
      for await (const event of client.watch(kind, options, AbortSignal.any([signal, watchdog.signal]))) {
        if (event.type === "BOOKMARK") {
          version = event.resourceVersion;
        } else {
          version = versionOf(event.object);
          if (event.type === "DELETED") {
            store.remove(event.object);
          } else {
            store.put(event.object);
          }
        }
        hasSpoken = true;
        backoff.reset();
      }
      watchdog.signal.throwIfAborted();
      return hasSpoken;
    } finally {
      cancel();
    }
  }

  async function follow(signal: AbortSignal): Promise<void> {
    let isListNeeded = true;
    while (!signal.aborted) {
      try {
        if (isListNeeded || version === undefined) {
          version = await listOrAllAtOnce(signal);
          isListNeeded = false;
          onListed();
        }
        const startedMs = clock.monotonicMs();
        const hasSpoken = await watchOnce(version, signal);
        if (!hasSpoken && clock.monotonicMs() - startedMs < WATCH_SHORT_MS) {
          await pause(backoff, 0, signal);
        } else {
          backoff.reset();
        }
      } catch (error) {
        if (signal.aborted) {
          return;
        }
        isListNeeded ||= isVersionRefused(error);
        onError?.(error);
        await pause(backoff, error instanceof ApiError ? (error.retryAfterMs ?? 0) : 0, signal);
      }
    }
  }

  async function pause(waits: Backoff, atLeastMs: number, signal: AbortSignal): Promise<void> {
    await sleepOn(clock.after, Math.max(atLeastMs, waits.next()), signal).catch(() => {});
  }

  return {
    run: follow,
    get version() {
      return version;
    },
  };
}

/** The list is older than what was seen before: an API server that lags behind answered. */
class StaleListError extends Error {
  override readonly name = "StaleListError";
}

/** Too old (410), or ahead of the server, which was put back to an earlier state (504 with this cause). */
function isVersionRefused(error: unknown): boolean {
  return (
    isGone(error) ||
    (error instanceof ApiError && error.details?.causes?.some(({ reason }) => reason === "ResourceVersionTooLarge") === true)
  );
}
