/** The catalogue file of formats.md: JSON in, instance types out, or every fault with its path. V-70 for the volume limits. */
import {
  CAPACITY_TYPE_LABEL,
  isObject,
  type JsonObject,
  type NodeSelectorRequirement,
  parseQuantity,
  parseResources,
  type Resources,
  ZONE_LABEL,
} from "@joinery/api";
import type { InstanceType, Offering } from "@joinery/scheduling";
import { instanceTypeOf } from "./instance-type-of.ts";
import { JsonReader } from "./json-reader.ts";

export interface CatalogueFault {
  readonly code: "wrong-type" | "missing" | "bad-quantity" | "bad-requirement" | "duplicate" | "out-of-range" | "unknown-field";
  /** As in `[3].offerings[0].Price`; "" for the file as a whole. */
  readonly path: string;
  readonly message: string;
}

export type CatalogueOutcome =
  | { readonly kind: "catalogue"; readonly types: readonly InstanceType[] }
  | { readonly kind: "invalid"; readonly faults: readonly CatalogueFault[] };

/** Pods that a type holds when it does not say (formats.md). */
const DEFAULT_PODS = 110;
const TYPE_FIELDS = ["name", "architecture", "operatingSystems", "resources", "offerings", "labels", "overhead", "volumeLimits"];
const OFFERING_FIELDS = ["Price", "Available", "ReservationCapacity", "Requirements"];

/** Reads a catalogue. Nothing is taken from a file with a fault; all faults are told at once. */
export function parseCatalogue(json: unknown): CatalogueOutcome {
  const faults: CatalogueFault[] = [];
  const reader = new JsonReader((fault) => faults.push(fault));
  const types: InstanceType[] = [];
  const seen = new Set<string>();
  for (const [item, path] of reader.objects(json, "")) {
    reader.onlyFields(item, path, TYPE_FIELDS);
    const type = readType(reader, item, path);
    if (seen.has(type.name))
      faults.push({ code: "duplicate", path: `${path}.name`, message: `instance type "${type.name}" is listed twice` });
    seen.add(type.name);
    types.push(type);
  }
  return faults.length > 0 ? { kind: "invalid", faults } : { kind: "catalogue", types };
}

/** One line per fault, for a terminal. */
export function formatCatalogueFault({ path, message }: CatalogueFault): string {
  return path === "" ? message : `${path}: ${message}`;
}

function readType(reader: JsonReader, item: JsonObject, path: string): InstanceType {
  const volumeLimits = reader.optional(item, "volumeLimits", path, (value, at) =>
    reader.map(value, at, (limit, where) => reader.wholeNumber(limit, where)),
  );
  return instanceTypeOf({
    name: reader.text(item.name, `${path}.name`),
    architecture: reader.text(item.architecture, `${path}.architecture`),
    operatingSystems: reader.texts(item.operatingSystems, `${path}.operatingSystems`),
    capacity: readCapacity(reader, item.resources, `${path}.resources`),
    overhead: reader.optional(item, "overhead", path, (value, at) => readResources(reader, value, at)) ?? {},
    labels: reader.optional(item, "labels", path, (value, at) => reader.map(value, at, (label, where) => reader.text(label, where))) ?? {},
    offerings: [...reader.objects(item.offerings, `${path}.offerings`)].map(([offering, at]) => readOffering(reader, offering, at)),
    volumeLimits,
  });
}

function readCapacity(reader: JsonReader, value: unknown, path: string): Resources {
  const given = readResources(reader, value, path);
  for (const resource of ["cpu", "memory"]) {
    if (isObject(value) && !(resource in value)) reader.fault("missing", `${path}.${resource}`, `needs the ${resource} of the type`);
  }
  return { pods: DEFAULT_PODS, ...given };
}

function readResources(reader: JsonReader, value: unknown, path: string): Resources {
  return reader.map(value, path, (amount, at, resource) => {
    const quantity = typeof amount === "string" || typeof amount === "number" ? parseQuantity(amount) : undefined;
    if (quantity !== undefined && quantity.nanos >= 0n) return parseResources({ [resource]: String(amount) })[resource] ?? 0;
    reader.fault("bad-quantity", at, `${JSON.stringify(amount)} is no amount of ${resource}; write for example 4, 500m or 16Gi`);
    return 0;
  });
}

function readOffering(reader: JsonReader, item: JsonObject, path: string): Offering {
  reader.onlyFields(item, path, OFFERING_FIELDS);
  const requirements = [...reader.objects(item.Requirements, `${path}.Requirements`)].map(([requirement, at]) =>
    readRequirement(reader, requirement, at),
  );
  for (const key of [CAPACITY_TYPE_LABEL, ZONE_LABEL]) {
    if (!requirements.some((requirement) => requirement.key === key))
      reader.fault("missing", `${path}.Requirements`, `needs a requirement with key "${key}"`);
  }
  const reservationCapacity = reader.optional(item, "ReservationCapacity", path, (value, at) => reader.wholeNumber(value, at)) ?? 0;
  const isReserved = requirements.some(({ key, values }) => key === CAPACITY_TYPE_LABEL && values?.[0] === "reserved");
  return {
    requirements,
    priceUsdPerHour: reader.amount(item.Price, `${path}.Price`),
    isAvailable: reader.optional(item, "Available", path, (value, at) => reader.flag(value, at)) ?? true,
    ...(isReserved ? { reservationCapacity } : {}),
  };
}

function readRequirement(reader: JsonReader, item: JsonObject, path: string): NodeSelectorRequirement {
  reader.onlyFields(item, path, ["key", "operator", "values"]);
  const key = reader.text(item.key, `${path}.key`);
  const operator = item.operator;
  if (operator === "DoesNotExist" || operator === "Exists") return { key, operator };
  if (operator !== "In") {
    reader.fault("bad-requirement", `${path}.operator`, `is ${JSON.stringify(operator)}; an offering takes In, Exists or DoesNotExist`);
  }
  return { key, operator: "In", values: reader.texts(item.values, `${path}.values`) };
}
