/**
 * Follows the status conditions of one kind: counts and times their transitions, shows what they are when somebody looks, and tells people
 * through Events. Driven by changes of the cache. Rules O-231…O-236, O-275, O-276, V-106.
 *
 * O-233 leaves open which series carry labels of the object, and how they are spelt: in Karpenter's status library it is every series of
 * the kind, with `/`, `.` and `-` of the key as `_`. The deprecated names have them nowhere, and the client's default buckets.
 */
import { type Condition, type Kind, type KubeObject, parseTime } from "@joinery/api";
import type { Cache, Change, Clock } from "@joinery/kube";
import { type EventSink, subjectOf } from "../events/event.ts";
import { DEFAULT_BUCKETS } from "./buckets.ts";
import { seconds } from "./core-metrics.ts";
import { Counter, Histogram, type Registry, registerLiveGauge, type Sample } from "./prometheus.ts";

export type Conditioned = KubeObject & { readonly status?: { readonly conditions?: readonly Condition[] } };

export interface ConditionWatch {
  /** Counts and tells from now on, while this replica leads. Returns what ends it. */
  start(events: EventSink): () => void;
}

export interface Watched<T extends Conditioned> {
  readonly kind: Kind;
  readonly cache: Cache<T>;
  /** Keys of labels of the object that its series carry too (O-233). */
  readonly labelKeys?: readonly string[];
  /** O-234: Nodes have none. */
  readonly hasTwins: boolean;
  /** O-232: those of core's kinds unless said otherwise. */
  readonly buckets?: readonly number[];
}

/** O-232. */
const CORE_BUCKETS = Array.from({ length: 15 }, (_, n) => 0.5 * 2 ** n);

/** The series of deprecated names, which all kinds share. Make it once per registry. */
export type Twins = ReturnType<typeof createTwins>;

export function createTwins(registry: Registry) {
  return series(registry, "operator", { ownNames: [], twinNames: ["group", "kind"], buckets: DEFAULT_BUCKETS });
}

export function createConditionWatch<T extends Conditioned>(
  registry: Registry,
  { kind, cache, labelKeys = [], hasTwins, buckets = CORE_BUCKETS }: Watched<T>,
  twins: Twins,
  clock: Clock,
): ConditionWatch {
  const names = labelKeys.map((key) => [key, key.replace(/[/.-]/g, "_")] as const);
  const labelsOf = ({ metadata }: KubeObject) => Object.fromEntries(names.map(([key, name]) => [name, metadata?.labels?.[key] ?? ""]));
  const ownNames = names.map(([, name]) => name);
  const own = series(registry, `operator_${kind.kind.toLowerCase()}`, { ownNames, twinNames: [], buckets });
  const twin = { group: kind.group, kind: kind.kind };
  const all: readonly (Twins & { readonly extra: (object: T) => Readonly<Record<string, string>> })[] = [
    { ...own, extra: labelsOf },
    ...(hasTwins ? [{ ...twins, extra: () => twin }] : []),
  ];
  let isWatching = false;

  type Extra = (object: T) => Readonly<Record<string, string>>;

  function* perCondition(extra: Extra, measure: (condition: Condition) => number | undefined): Iterable<Sample> {
    for (const object of isWatching ? cache.values() : []) {
      const { namespace = "", name = "" } = object.metadata ?? {};
      for (const condition of object.status?.conditions ?? []) {
        const value = measure(condition);
        const { type, status, reason = "" } = condition;
        if (value !== undefined) yield { labels: { namespace, name, type, status, reason, ...extra(object) }, value };
      }
    }
  }

  const ageOf = (time: string | undefined) => {
    const sinceMs = parseTime(time);
    return sinceMs === undefined ? undefined : seconds(clock.wallMs() - sinceMs);
  };
  for (const { add, extra } of all) {
    add.count(() => perCondition(extra, () => 1));
    add.age(() => perCondition(extra, ({ lastTransitionTime }) => ageOf(lastTransitionTime)));
    add.leaving(() => leaving(extra));
  }

  function* leaving(extra: Extra): Iterable<Sample> {
    for (const object of isWatching ? cache.values() : []) {
      const { namespace = "", name = "", deletionTimestamp } = object.metadata ?? {};
      const value = ageOf(deletionTimestamp);
      if (value !== undefined) yield { labels: { namespace, name, ...extra(object) }, value };
    }
  }

  function see(change: Change<T>, events: EventSink): void {
    const { object } = change;
    if (change.type === "deleted") {
      end(object, events);
      return;
    }
    const before = change.type === "updated" ? change.previous : undefined;
    for (const condition of object.status?.conditions ?? []) transition(object, before, condition, events);
    for (const finalizer of before?.metadata?.finalizers ?? []) {
      if (!object.metadata?.finalizers?.includes(finalizer)) tellFinalized(object, finalizer, events);
    }
  }

  function transition(object: T, before: T | undefined, { type, status, ...rest }: Condition, events: EventSink): void {
    const left = before?.status?.conditions?.find((other) => other.type === type) ?? notYetSet(type, before);
    if (left?.status === status) return;
    for (const { transitions, durations, extra } of all) {
      transitions.inc({ type, status, reason: rest.reason ?? "", ...extra(object) });
      const [fromMs, toMs] = [parseTime(left?.lastTransitionTime), parseTime(rest.lastTransitionTime)];
      if (left !== undefined && fromMs !== undefined && toMs !== undefined) {
        durations.observe({ type, status: left.status, to_status: status, ...extra(object) }, seconds(toMs - fromMs));
      }
    }
    if (before === undefined || left === undefined) return; // O-235: what is seen first has not changed
    const message = rest.message ? `, Message: ${rest.message}` : "";
    events.publish({
      subject: subjectOf(kind, object),
      type: "Normal",
      reason: type,
      message: `Status condition transitioned, Type: ${type}, Status: ${left.status} -> ${status}, Reason: ${rest.reason ?? ""}${message}`,
      dedupe: [],
    });
  }

  /** L-7: a condition of ours that nobody has written yet is Unknown since the object's creation; so its first True is told. */
  function notYetSet(type: string, before: T | undefined): Condition | undefined {
    if (before === undefined || !hasTwins) return undefined;
    return { type, status: "Unknown", lastTransitionTime: before.metadata?.creationTimestamp };
  }

  function end(object: T, events: EventSink): void {
    const leavingMs = parseTime(object.metadata?.deletionTimestamp);
    if (leavingMs === undefined) return;
    for (const { terminations, extra } of all) terminations.observe(extra(object), seconds(clock.wallMs() - leavingMs));
    // The write that takes the last finalizer off is seen as the deletion.
    for (const finalizer of object.metadata?.finalizers ?? []) tellFinalized(object, finalizer, events);
  }

  function tellFinalized(object: T, finalizer: string, events: EventSink): void {
    events.publish({
      subject: subjectOf(kind, object),
      type: "Normal",
      reason: "Finalized",
      message: `Finalized ${finalizer}`,
      dedupe: [],
    });
  }

  return {
    start(events) {
      isWatching = true;
      const unsubscribe = cache.onChange((change) => see(change, events));
      for (const object of cache.values()) see({ type: "added", object }, events);
      return () => {
        isWatching = false;
        unsubscribe();
      };
    },
  };
}

type Samples = () => Iterable<Sample>;

interface Shape {
  readonly ownNames: readonly string[];
  readonly twinNames: readonly string[];
  readonly buckets: readonly number[];
}

function series(registry: Registry, prefix: string, { ownNames, twinNames, buckets }: Shape) {
  const registers = [registry];
  const extraNames = [...ownNames, ...twinNames];

  /** Several kinds may feed one gauge of the deprecated names. */
  function gauge(name: string, help: string) {
    const sources: Samples[] = [];
    registerLiveGauge(registry, `${prefix}_${name}`, help, function* () {
      for (const source of sources) yield* source();
    });
    return (samples: Samples) => void sources.push(samples);
  }

  return {
    add: {
      count: gauge("status_condition_count", "Conditions by status."),
      age: gauge("status_condition_current_status_seconds", "Since when conditions are what they are."),
      leaving: gauge("termination_current_time_seconds", "Since when objects are being deleted."),
    },
    transitions: new Counter<string>({
      name: `${prefix}_status_condition_transitions_total`,
      help: "Changes of conditions.",
      labelNames: ["type", "status", "reason", ...extraNames],
      registers,
    }),
    durations: new Histogram<string>({
      name: `${prefix}_status_condition_transition_seconds`,
      help: "How long conditions had been what they were.",
      labelNames: ["type", "status", "to_status", ...extraNames],
      buckets: [...buckets],
      registers,
    }),
    terminations: new Histogram<string>({
      name: `${prefix}_termination_duration_seconds`,
      help: "From the deletion of objects until they are gone.",
      labelNames: [...extraNames],
      buckets: [...buckets],
      registers,
    }),
  };
}
