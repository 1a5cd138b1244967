/** The keys under which parsers of Karpenter's logs look for who speaks, and about what. Rules O-85, O-88. */
import { formatGoDuration, type Kind } from "@joinery/api";
import { type RandomSource, randomUuid } from "@joinery/kube";
import type { Logger } from "../logger.ts";

/** @param kind of the objects that the controller reconciles, if there is one */
export function controllerLog(log: Logger, controller: string, kind?: Kind): Logger {
  return log.child({ controller, ...(kind !== undefined && { controllerGroup: kind.group, controllerKind: kind.kind }) });
}

/** What all lines of one reconcile carry: its object, and an ID, which is made when the first line is written. */
export function reconcileFields(kind: Kind | undefined, key: string, ids: RandomSource): object {
  let id: string | undefined;
  return {
    ...objectFields(kind, key),
    get reconcileID() {
      id ??= randomUuid(ids);
      return id;
    },
  };
}

export function within<R>(log: Logger, fields: object, action: () => R): R {
  return log.within === undefined ? action() : log.within(fields, action);
}

/**
 * Of one reconcile: its object under the name of its kind. A loop without objects has the empty key.
 * @param key `name`, `namespace/name`, or `namespace/name/uid`
 */
export function objectFields(kind: Kind | undefined, key: string): object {
  if (key === "") return {};
  const [first = "", second] = key.split("/");
  const { namespace, name } = second === undefined ? { namespace: undefined, name: first } : { namespace: first, name: second };
  const place = namespace === undefined ? {} : { namespace };
  return { ...(kind !== undefined && { [kind.kind]: { name, ...place } }), ...place, name };
}

/** `1m30s` (O-85). */
export function durationText(ms: number): string {
  return formatGoDuration(BigInt(Math.round(ms * 1_000_000)));
}

const NAMES_MAX = 5;

/** The first few, and how many there are beside. */
export function listText(names: readonly string[]): string {
  const others = names.length - NAMES_MAX;
  return names.slice(0, NAMES_MAX).join(", ") + (others > 0 ? ` and ${others} other(s)` : "");
}
