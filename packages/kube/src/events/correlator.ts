/**
 * Merges what repeats, so that a broken thing fills neither the API server nor the screen. Rule O-246, the behaviour of the Kubernetes
 * client library: the same event again raises a count; many events that differ only in their message become one; and one object may say only so
 * much.
 */
import type { Clock, EpochMs } from "../clock/clock.ts";
import { createTokenBucket, type TokenBucket } from "../queue/rate-limiter.ts";

interface Utterance {
  /** Who it is about. */
  readonly subjectKey: string;
  readonly type: string;
  readonly reason: string;
  readonly message: string;
}

/** What the API server holds, or will hold, for equal utterances. Written to by the recorder. */
interface Series {
  name: string | undefined;
  count: number;
  readonly firstMs: EpochMs;
}

export interface Correlated {
  readonly series: Series;
  readonly message: string;
}

export interface Correlator {
  /** Undefined: the subject has said too much. */
  correlate(said: Utterance): Correlated | undefined;
}

/** O-246: burst 25, then one in 300 s for each subject. */
const SUBJECT_BUCKET = { burst: 25, perSecond: 1 / 300 };
/** O-246: more than ten messages of one kind in ten minutes become one. */
const SIMILAR_MAX = 10;
const SIMILAR_WINDOW_MS = 600_000;
/** O-246: entries of each cache. */
const ENTRIES_MAX = 4096;

interface Similar {
  readonly messages: Set<string>;
  lastMs: number;
}

export function createCorrelator(clock: Clock): Correlator {
  const buckets = createRecent<TokenBucket>(ENTRIES_MAX);
  const similar = createRecent<Similar>(ENTRIES_MAX);
  const series = createRecent<Series>(ENTRIES_MAX);

  function messageAmongSimilar({ message }: Utterance, groupKey: string): { readonly message: string; readonly isMerged: boolean } {
    const nowMs = clock.monotonicMs();
    const held = similar.get(groupKey);
    const group = held !== undefined && nowMs - held.lastMs <= SIMILAR_WINDOW_MS ? held : { messages: new Set<string>(), lastMs: nowMs };
    group.lastMs = nowMs;
    similar.set(groupKey, group);
    if (group.messages.has(message) || group.messages.size < SIMILAR_MAX) {
      group.messages.add(message);
      return { message, isMerged: false };
    }
    return { message: `(combined from similar events): ${message}`, isMerged: true };
  }

  return {
    correlate(said) {
      const groupKey = [said.subjectKey, said.type, said.reason].join("\n");
      const { message, isMerged } = messageAmongSimilar(said, groupKey);
      const bucket = buckets.get(said.subjectKey) ?? createTokenBucket(clock, SUBJECT_BUCKET);
      buckets.set(said.subjectKey, bucket);
      if (!bucket.tryTake()) {
        return undefined;
      }
      const key = isMerged ? groupKey : `${groupKey}\n${message}`;
      const held = series.get(key) ?? { name: undefined, count: 0, firstMs: clock.wallMs() };
      held.count++;
      series.set(key, held);
      return { series: held, message };
    },
  };
}

interface Recent<V> {
  get(key: string): V | undefined;
  /** Makes the entry the most recent, and drops the oldest one when there are too many. */
  set(key: string, value: V): void;
}

function createRecent<V>(entriesMax: number): Recent<V> {
  const entries = new Map<string, V>();
  return {
    get: (key) => entries.get(key),
    set(key, value) {
      entries.delete(key);
      entries.set(key, value);
      if (entries.size > entriesMax) {
        entries.delete(entries.keys().next().value!);
      }
    },
  };
}
