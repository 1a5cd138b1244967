/** LimitRanges: the defaults of their own lists, what they fill into new pods, and the bounds that pods and claims must keep. */
import { quantityOf } from "@joinery/api";
import { type ApiObject, ensureObject, type Json, type JsonObject, objectAt, objectsAt, setDefault, textAt } from "../objects/json.ts";
import type { RuleContext, Strategy } from "../registry/resource.ts";
import { type FieldFault, forbidden } from "../wire/status.ts";
import { aggregateLimits, aggregateRequests } from "./pod-resources.ts";

type Amounts = Readonly<Record<string, Json>>;

/** Something that is measured: a container, a pod as a whole, or a claim. */
interface Measured {
  readonly type: string;
  readonly requests: Amounts;
  readonly limits: Amounts;
}

export const limitRanges: Strategy = {
  defaults: (draft) => {
    for (const limit of objectsAt(draft, "spec", "limits")) {
      if (limit.type !== "Container") continue;
      fill(limit, "default", objectAt(limit, "max"));
      fill(limit, "defaultRequest", objectAt(limit, "default"));
      fill(limit, "defaultRequest", objectAt(limit, "min"));
    }
  },
  validate: (object) => {
    const types = new Set<Json>();
    return objectsAt(object, "spec", "limits").flatMap((limit, index) => {
      const field = `spec.limits[${index}]`;
      const type = limit.type ?? "";
      const repeated: FieldFault[] = types.has(type) ? [{ kind: "duplicate", field: `${field}.type`, value: type }] : [];
      types.add(type);
      return [...repeated, ...orderFaults(limit, field)];
    });
  },
};

/** Which list must not be above which, how the lower one is called, and whose value is named as the wrong one. */
const orders = [
  ["min", "max", "min value", "min"],
  ["min", "defaultRequest", "min value", "defaultRequest"],
  ["min", "default", "min value", "min"],
  ["defaultRequest", "max", "default request value", "defaultRequest"],
  ["defaultRequest", "default", "default request value", "defaultRequest"],
  ["default", "max", "default value", "max"],
] as const;
const called: Readonly<Record<string, string>> = { max: "max value", default: "default value", defaultRequest: "default request value" };

/** min ≤ defaultRequest ≤ default ≤ max. */
function orderFaults(limit: JsonObject, field: string): FieldFault[] {
  return orders.flatMap(([lower, upper, words, named]) =>
    Object.entries(objectAt(limit, lower) ?? {}).flatMap(([name, low]): FieldFault[] => {
      const high = objectAt(limit, upper)?.[name];
      if (high === undefined || nanos(low) <= nanos(high)) return [];
      const wrong = upper === "max" ? lower : upper;
      const value = named === upper ? high : low;
      return [
        { kind: "invalid", field: `${field}.${wrong}[${name}]`, value, detail: `${words} ${low} is greater than ${called[upper]} ${high}` },
      ];
    }),
  );
}

/** Fills in what the namespace's ranges give by default, and refuses a pod beyond their bounds. */
export function applyLimitRanges(pod: ApiObject, context: RuleContext): void {
  const ranges = rangesOf(pod, context);
  if (ranges.length === 0) return;
  const spec = ensureObject(pod, "spec");
  const containers = [
    ...objectsAt(spec, "containers").map((container) => ["container", container] as const),
    ...objectsAt(spec, "initContainers").map((container) => ["init container", container] as const),
  ];
  for (const range of ranges) {
    for (const limit of objectsAt(range, "spec", "limits")) {
      if (limit.type === "Container")
        noteDefaults(
          pod,
          containers.flatMap(([what, container]) => fillContainer(what, container, limit)),
        );
    }
  }
  const all: Measured[] = [
    ...containers.map(([, container]) => measured("Container", objectAt(container, "resources"))),
    { type: "Pod", requests: aggregateRequests(spec), limits: aggregateLimits(spec) },
  ];
  refuse("pods", pod, ranges, all);
}

/** Refuses a claim for less or more storage than the namespace's ranges allow. */
export function limitClaim(claim: ApiObject, context: RuleContext): void {
  const ranges = rangesOf(claim, context);
  if (ranges.length === 0) return;
  const requests = objectAt(claim, "spec", "resources", "requests") ?? {};
  refuse("persistentvolumeclaims", claim, ranges, [{ type: "PersistentVolumeClaim", requests, limits: requests }]);
}

function rangesOf({ metadata }: ApiObject, context: RuleContext): ApiObject[] {
  return [...context.values("limitranges")].filter((range) => range.metadata.namespace === metadata.namespace);
}

function measured(type: string, resources: JsonObject | undefined): Measured {
  return { type, requests: objectAt(resources, "requests") ?? {}, limits: objectAt(resources, "limits") ?? {} };
}

/** Gives what was filled in, in the words of the annotation. */
function fillContainer(what: string, container: JsonObject, limit: JsonObject): string[] {
  const resources = ensureObject(container, "resources");
  const filled = [
    ["request", fill(resources, "requests", objectAt(limit, "defaultRequest"))],
    ["limit", fill(resources, "limits", objectAt(limit, "default"))],
  ] as const;
  return filled.flatMap(([list, names]) =>
    names.length === 0 ? [] : [`${names.sort().join(", ")} ${list} for ${what} ${container.name}`],
  );
}

function noteDefaults(pod: ApiObject, notes: readonly string[]): void {
  if (notes.length === 0) return;
  ensureObject(pod.metadata, "annotations")["kubernetes.io/limit-ranger"] = `LimitRanger plugin set: ${notes.join("; ")}`;
}

/** Gives the names that were not there. */
function fill(into: JsonObject, key: string, defaults: JsonObject | undefined): string[] {
  const missing = Object.entries(defaults ?? {}).filter(([name]) => objectAt(into, key)?.[name] === undefined);
  for (const [name, quantity] of missing) setDefault(ensureObject(into, key), name, quantity);
  return missing.map(([name]) => name);
}

function refuse(resource: string, object: ApiObject, ranges: readonly ApiObject[], all: readonly Measured[]): void {
  const limits = ranges.flatMap((range) => objectsAt(range, "spec", "limits"));
  const why = limits.flatMap((limit) => all.filter(({ type }) => type === limit.type).flatMap((one) => broken(limit, one)));
  if (why.length === 0) return;
  const name = textAt(object, "metadata", "name") ?? "";
  throw forbidden({ group: "", resource }, name, why.length === 1 ? String(why[0]) : `[${why.join(", ")}]`);
}

function broken(limit: JsonObject, { type, requests, limits }: Measured): string[] {
  const why: string[] = [];
  for (const [name, least] of amounts(limit, "min")) {
    const rule = `minimum ${name} usage per ${type} is ${least}`;
    if (requests[name] === undefined) why.push(`${rule}.  No request is specified`);
    else if (nanos(requests[name]) < nanos(least)) why.push(`${rule}, but request is ${requests[name]}`);
    else if (limits[name] !== undefined && nanos(limits[name]) < nanos(least)) why.push(`${rule}, but limit is ${limits[name]}`);
  }
  for (const [name, most] of amounts(limit, "max")) {
    const rule = `maximum ${name} usage per ${type} is ${most}`;
    if (limits[name] === undefined) why.push(`${rule}.  No limit is specified`);
    else if (type === "PersistentVolumeClaim" && nanos(requests[name]) > nanos(most)) why.push(`${rule}, but request is ${requests[name]}`);
    else if (nanos(limits[name]) > nanos(most)) why.push(`${rule}, but limit is ${limits[name]}`);
    else if (requests[name] !== undefined && nanos(requests[name]) > nanos(most)) why.push(`${rule}, but request is ${requests[name]}`);
  }
  for (const [name, most] of amounts(limit, "maxLimitRequestRatio")) {
    const rule = `${name} max limit to request ratio per ${type} is ${most}`;
    const [request, limited] = [nanos(requests[name]), nanos(limits[name])];
    if (request === 0n) why.push(`${rule}, but no request is specified or request is 0`);
    else if (limited === 0n) why.push(`${rule}, but no limit is specified or limit is 0`);
    else if (Number(limited) / Number(request) > Number(nanos(most)) / 1e9)
      why.push(`${rule}, but provided ratio is ${(Number(limited) / Number(request)).toFixed(6)}`);
  }
  return why;
}

function amounts(limit: JsonObject, list: string): [string, Json][] {
  return Object.entries(objectAt(limit, list) ?? {}).sort(([one], [other]) => (one < other ? -1 : 1));
}

function nanos(quantity: Json | undefined): bigint {
  return quantity === undefined ? 0n : quantityOf(String(quantity)).nanos;
}
