/** What the containers of a pod ask for together, and the rules of resources that are given for the pod as a whole. */
import { formatQuantity, type Quantity, quantityOf } from "@joinery/api";
import { isObject, type Json, type JsonObject, objectAt, objectsAt, textAt } from "../objects/json.ts";
import type { FieldFault } from "../wire/status.ts";

type Amounts = ReadonlyMap<string, Quantity>;

/** Whether a resource may be given for a pod as a whole. */
export function isPodLevel(name: string): boolean {
  return name === "cpu" || name === "memory" || name.startsWith("hugepages-");
}

/** Requests of all containers: those that run together added up, init containers only as far as they ask for more. */
export function aggregateRequests(spec: JsonObject): Record<string, string> {
  return aggregate(spec, "requests");
}

/** The same of limits. */
export function aggregateLimits(spec: JsonObject): Record<string, string> {
  return aggregate(spec, "limits");
}

function aggregate(spec: JsonObject, list: "requests" | "limits"): Record<string, string> {
  let running: Amounts = new Map();
  let sidecars: Amounts = new Map();
  let starting: Amounts = new Map();
  for (const container of objectsAt(spec, "containers")) running = sum(running, amountsOf(container, list));
  for (const container of objectsAt(spec, "initContainers")) {
    const own = sum(sidecars, amountsOf(container, list));
    if (textAt(container, "restartPolicy") === "Always") sidecars = own;
    starting = combine(starting, own, larger);
  }
  const most = combine(sum(running, sidecars), starting, larger);
  return Object.fromEntries([...most].map(([name, quantity]) => [name, formatQuantity(quantity)]));
}

function amountsOf(container: JsonObject, list: string): Amounts {
  const amounts = Object.entries(objectAt(container, "resources", list) ?? {});
  return new Map(amounts.map(([name, quantity]) => [name, quantityOf(String(quantity))]));
}

function sum(one: Amounts, other: Amounts): Amounts {
  return combine(one, other, (left, right) => left + right);
}

function larger(one: bigint, other: bigint): bigint {
  if (one > other) return one;
  return other;
}

function combine(one: Amounts, other: Amounts, merge: (left: bigint, right: bigint) => bigint): Amounts {
  const combined = new Map(one);
  for (const [name, quantity] of other) {
    const known = one.get(name);
    combined.set(name, known === undefined ? quantity : { nanos: merge(known.nanos, quantity.nanos), format: known.format });
  }
  return combined;
}

const supported = ["cpu", "hugepages-", "memory"];

/** What is wrong with `resources` of a pod as a whole; the lists themselves are checked as those of a container are. */
export function podResourceFaults(spec: JsonObject, field: string): FieldFault[] {
  const resources = objectAt(spec, "resources");
  if (resources === undefined) return [];
  const faults: FieldFault[] = [];
  for (const list of ["limits", "requests"]) {
    for (const name of Object.keys(objectAt(resources, list) ?? {})) {
      if (!isPodLevel(name)) faults.push({ kind: "unsupported", field: `${field}.resources.${list}[${name}]`, value: name, supported });
    }
  }
  const requests = objectAt(resources, "requests") ?? {};
  for (const [name, least] of Object.entries(aggregateRequests(spec))) {
    const quantity = requests[name];
    if (quantity !== undefined && isLess(quantity, least))
      faults.push({
        kind: "invalid",
        field: `${field}.resources.requests[${name}]`,
        value: quantity,
        detail: `must be greater than or equal to aggregate container requests of ${least}`,
      });
  }
  const limits = objectAt(resources, "limits") ?? {};
  objectsAt(spec, "containers").forEach((container, index) => {
    for (const [name, quantity] of Object.entries(objectAt(container, "resources", "limits") ?? {})) {
      const most = limits[name];
      if (most !== undefined && isLess(most, quantity))
        faults.push({
          kind: "invalid",
          field: `${field}.resources.containers[${index}][${name}].limits`,
          value: quantity,
          detail: `must be less than or equal to pod limits of ${most}`,
        });
    }
  });
  return faults;
}

function isLess(one: Json, other: Json): boolean {
  return !isObject(one) && quantityOf(String(one)).nanos < quantityOf(String(other)).nanos;
}
