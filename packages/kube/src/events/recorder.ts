/**
 * Tells people what happened to an object, as `v1` Events, which `kubectl describe` shows. Rules L-21, O-242…O-247. Saying something never fails
 * and never waits: events leave in order in the background, and are dropped rather than piled up.
 */
import { apiVersionOf, Events, formatTime, type Kind, type KubeEvent, type KubeObject } from "@joinery/api";
import type { KubeClient } from "../client.ts";
import { createBackoff } from "../clock/backoff.ts";
import type { Clock, Random } from "../clock/clock.ts";
import { randomHex } from "../clock/random.ts";
import { type BucketOptions, createTokenBucket } from "../queue/rate-limiter.ts";
import { isNotFound, isTransient } from "../wire/errors.ts";
import { type Correlated, createCorrelator } from "./correlator.ts";
import { createDeduper } from "./dedupe.ts";

export interface ObjectReference {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly namespace?: string;
  readonly uid?: string;
  readonly resourceVersion?: string;
}

export interface EventToRecord {
  readonly subject: ObjectReference;
  readonly type: "Normal" | "Warning";
  /** One word in CamelCase. */
  readonly reason: string;
  readonly message: string;
  /** What makes the event the same as an earlier one, with the reason. Default: the subject's UID; empty: never the same. */
  readonly dedupeValues?: readonly string[];
  /** How long an equal event is dropped. Default: two minutes. */
  readonly dedupeMs?: number;
  /** Which of the limits it shares with others. Default: none. */
  readonly bucket?: string;
}

export interface EventRecorder {
  publish(event: EventToRecord): void;
  /** Resolves when all that was published has left or was given up. */
  flush(): Promise<void>;
}

export interface EventRecorderOptions {
  readonly client: KubeClient;
  readonly clock: Clock;
  /** For names and jitter. */
  readonly random: Random;
  /** Who speaks. O-242: `karpenter`. */
  readonly component?: string;
  /** The host it speaks from. */
  readonly instance?: string;
  /** By name, what the events of a bucket share. O-245, V-94: `Nominated`, and `InsufficientCapacityError` of pods. */
  readonly limits?: Readonly<Record<string, BucketOptions>>;
  /** An event could not be written, or too many wait. */
  readonly onError?: (error: unknown, event: EventToRecord) => void;
}

/** L-21. */
const DEDUPE_MS = 120_000;
/** O-245, V-94. */
const LIMITS: Readonly<Record<string, BucketOptions>> = {
  Nominated: { perSecond: 5, burst: 10 },
  InsufficientCapacityError: { perSecond: 5, burst: 10 },
};
/** Events that may wait while the server does not answer; about 1 MB. */
const WAITING_MAX = 1000;
/** client-go's patience with a server that does not answer. */
const ATTEMPTS_MAX = 12;
const BACKOFF = { baseMs: 1000, maxMs: 10_000 };
/** Names of objects end at 253 characters; a dot and 16 figures follow. */
const SUBJECT_NAME_MAX = 236;

/** One for each process: what is deduplicated and counted up is remembered in it. */
export function createEventRecorder(options: EventRecorderOptions): EventRecorder {
  const { client, clock, random, component = "karpenter", instance = "", limits = LIMITS, onError } = options;
  const deduper = createDeduper(clock);
  const correlator = createCorrelator(clock);
  const buckets = new Map(Object.entries(limits).map(([name, limit]) => [name, createTokenBucket(clock, limit)]));
  const waiting: EventToRecord[] = [];
  let sending: Promise<void> | undefined;

  /** O-244: remembered first, limited then; what the limiter refuses stays muted for its window. */
  function isWorthSaying({ subject, reason, dedupeValues, dedupeMs = DEDUPE_MS, bucket = "" }: EventToRecord): boolean {
    const values = dedupeValues ?? [subject.uid ?? `${subject.kind}/${subject.namespace ?? ""}/${subject.name}`];
    return deduper.isNew(reason, values, dedupeMs) && (buckets.get(bucket)?.tryTake() ?? true);
  }

  async function sendAll(): Promise<void> {
    for (let event = waiting.shift(); event !== undefined; event = waiting.shift()) {
      const correlated = correlator.correlate({ ...event, subjectKey: subjectKey(event.subject) });
      if (correlated !== undefined) {
        await send(event, correlated);
      }
    }
    sending = undefined;
  }

  async function send(event: EventToRecord, correlated: Correlated): Promise<void> {
    const lastTimestamp = formatTime(clock.wallMs());
    const backoff = createBackoff(random, BACKOFF);
    for (let attempt = 1; ; attempt++) {
      try {
        await write(event, correlated, lastTimestamp);
        return;
      } catch (error) {
        if (!isTransient(error) || attempt === ATTEMPTS_MAX) {
          onError?.(error, event);
          return;
        }
        await clock.sleep(backoff.next());
      }
    }
  }

  async function write(event: EventToRecord, { series, message }: Correlated, lastTimestamp: string): Promise<void> {
    const namespace = event.subject.namespace || "default";
    if (series.name !== undefined) {
      try {
        const body = { count: series.count, lastTimestamp, message };
        await client.patch(Events, { name: series.name, namespace }, { type: "merge", body });
        return;
      } catch (error) {
        if (!isNotFound(error)) {
          throw error;
        }
        series.name = undefined; // The server has forgotten it: events live an hour.
      }
    }
    const name = nameFor(event.subject, random);
    const body: KubeEvent & { readonly reportingInstance: string } = {
      metadata: { name, namespace },
      involvedObject: event.subject,
      reason: event.reason,
      message,
      type: event.type,
      count: series.count,
      firstTimestamp: formatTime(series.firstMs),
      lastTimestamp,
      source: instance === "" ? { component } : { component, host: instance },
      reportingComponent: component,
      reportingInstance: instance,
    };
    await client.create(Events, body);
    series.name = name;
  }

  return {
    publish(event) {
      if (!isWorthSaying(event)) {
        return;
      }
      if (waiting.length >= WAITING_MAX) {
        onError?.(new Error(`Cannot record event ${event.reason}: ${WAITING_MAX} events wait already`), event);
        return;
      }
      waiting.push(event);
      sending ??= Promise.resolve().then(sendAll);
    },
    async flush() {
      while (sending !== undefined) {
        await sending;
      }
    },
  };
}

/** How an event names an object. List items carry no `apiVersion` and `kind`, so the kind is given. */
export function referenceTo<T extends KubeObject>(kind: Kind<T>, { metadata = {} }: T): ObjectReference {
  const { name = "", namespace, uid, resourceVersion } = metadata;
  return { apiVersion: apiVersionOf(kind), kind: kind.kind, name, namespace, uid, resourceVersion };
}

function subjectKey({ apiVersion, kind, namespace = "", name, uid = "" }: ObjectReference): string {
  return [apiVersion, kind, namespace, name, uid].join("/");
}

function nameFor({ name }: ObjectReference, random: Random): string {
  return `${name.slice(0, SUBJECT_NAME_MAX).replace(/[^a-z0-9]+$/, "")}.${randomHex(random, 16)}`;
}
