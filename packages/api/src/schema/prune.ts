/** Drops the fields that a schema does not know, or names them for a strict answer. */

import type { Path } from "./issue.ts";
import { isObject, type JsonObject } from "./json.ts";
import type { OpenApiSchema } from "./open-api.ts";

export interface Pruned {
  /** The very same object when nothing had to go. */
  readonly object: unknown;
  readonly unknown: readonly Path[];
}

const RESOURCE_FIELDS = ["apiVersion", "kind", "metadata"];

/** Fields of every object that stand in no CRD: what ObjectMeta has. */
const METADATA_FIELDS = new Set([
  "name",
  "generateName",
  "namespace",
  "selfLink",
  "uid",
  "resourceVersion",
  "generation",
  "creationTimestamp",
  "deletionTimestamp",
  "deletionGracePeriodSeconds",
  "labels",
  "annotations",
  "ownerReferences",
  "finalizers",
  "managedFields",
]);

/** Copies on write; `object` is borrowed. */
export function prune(schema: OpenApiSchema, object: unknown): Pruned {
  const unknown: Path[] = [];
  return { object: pruneValue(schema, object, [], unknown, true), unknown };
}

function pruneValue(schema: OpenApiSchema, value: unknown, path: Path, unknown: Path[], isResource: boolean): unknown {
  if (Array.isArray(value)) {
    const { items } = schema;
    return items === undefined ? value : mapped(value, (item, at) => pruneValue(items, item, [...path, at], unknown, isEmbedded(items)));
  }
  if (!isObject(value)) return value;
  return pruneObject(schema, value, path, unknown, isResource || isEmbedded(schema));
}

function pruneObject(schema: OpenApiSchema, value: JsonObject, path: Path, unknown: Path[], isResource: boolean): JsonObject {
  const { properties, additionalProperties } = schema;
  const keepsUnknown = schema["x-kubernetes-preserve-unknown-fields"] === true || additionalProperties === true;
  let changed: Record<string, unknown> | undefined;
  for (const [name, child] of Object.entries(value)) {
    const childPath = [...path, name];
    let kept: unknown = child;
    if (isResource && RESOURCE_FIELDS.includes(name)) {
      if (name === "metadata") kept = pruneMetadata(child, childPath, unknown);
    } else if (properties !== undefined && Object.hasOwn(properties, name)) {
      kept = pruneValue(properties[name]!, child, childPath, unknown, isEmbedded(properties[name]!));
    } else if (typeof additionalProperties === "object") {
      kept = pruneValue(additionalProperties, child, childPath, unknown, isEmbedded(additionalProperties));
    } else if (!keepsUnknown) {
      unknown.push(childPath);
      kept = undefined;
    }
    if (kept === child) continue;
    changed ??= { ...value };
    if (kept === undefined) delete changed[name];
    else changed[name] = kept;
  }
  return changed ?? value;
}

function pruneMetadata(metadata: unknown, path: Path, unknown: Path[]): unknown {
  if (!isObject(metadata)) return metadata;
  const strangers = Object.keys(metadata).filter((name) => !METADATA_FIELDS.has(name));
  if (strangers.length === 0) return metadata;
  for (const name of strangers) unknown.push([...path, name]);
  return Object.fromEntries(Object.entries(metadata).filter(([name]) => METADATA_FIELDS.has(name)));
}

function isEmbedded(schema: OpenApiSchema): boolean {
  return schema["x-kubernetes-embedded-resource"] === true;
}

function mapped(list: readonly unknown[], change: (item: unknown, at: number) => unknown): readonly unknown[] {
  const items = list.map(change);
  return items.every((item, at) => item === list[at]) ? list : items;
}
