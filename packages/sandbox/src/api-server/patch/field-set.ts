/**
 * Which fields a value sets, as paths. A path is its elements in the notation of FieldsV1 (`f:spec`, `k:{"name":"a"}`, `v:"x"`) joined by
 * line feeds, so that sets of paths are plain sets of strings.
 */
import { ensureObject, isObject, type Json, type JsonObject } from "../objects/json.ts";
import { anyShape, type Shape } from "../schema/shape.ts";

export type Path = string;
/** Path to the value there. A list item that is told apart by keys stands for itself with its key. */
export type Leaves = Map<Path, Json>;

const systemMetadata = new Set([
  "name",
  "namespace",
  "uid",
  "resourceVersion",
  "generation",
  "creationTimestamp",
  "deletionTimestamp",
  "deletionGracePeriodSeconds",
  "managedFields",
  "selfLink",
  "generateName",
]);

/** The leaves of a whole object, without what identifies it or belongs to the server. */
export function leavesOfObject(object: JsonObject, shape: Shape): Leaves {
  const leaves: Leaves = new Map();
  for (const [key, value] of Object.entries(object)) {
    if (key === "apiVersion" || key === "kind") continue;
    if (key !== "metadata") collect(value, childShape(shape, key), `f:${key}`, leaves);
    else if (isObject(value)) collectMetadata(value, childShape(shape, key), leaves);
  }
  return leaves;
}

function collectMetadata(metadata: JsonObject, shape: Shape, leaves: Leaves): void {
  for (const [key, value] of Object.entries(metadata)) {
    if (!systemMetadata.has(key)) collect(value, childShape(shape, key), `f:metadata\nf:${key}`, leaves);
  }
}

export function childShape(shape: Shape, key: string): Shape {
  if (shape.kind === "object") return shape.fields.get(key)?.shape ?? anyShape;
  if (shape.kind === "map") return shape.value;
  return anyShape;
}

function isAtomic(shape: Shape): boolean {
  return (shape.kind === "object" || shape.kind === "map") && shape.isAtomic;
}

function collect(value: Json, shape: Shape, path: Path, leaves: Leaves): void {
  if (isObject(value) && !isAtomic(shape)) {
    const entries = Object.entries(value);
    if (entries.length === 0) leaves.set(path, value);
    for (const [key, member] of entries) collect(member, childShape(shape, key), `${path}\nf:${key}`, leaves);
    return;
  }
  if (Array.isArray(value) && shape.kind === "list" && shape.listType !== "atomic") {
    if (value.length === 0) leaves.set(path, value);
    for (const item of value) collectItem(item, shape, path, leaves);
    return;
  }
  leaves.set(path, value);
}

function collectItem(item: Json, shape: Shape & { readonly kind: "list" }, path: Path, leaves: Leaves): void {
  const element = elementOf(item, shape);
  const at = `${path}\n${element}`;
  leaves.set(at, element);
  if (shape.listType === "map" && isObject(item)) {
    for (const [key, member] of Object.entries(item)) collect(member, childShape(shape.item, key), `${at}\nf:${key}`, leaves);
  }
}

/** Keys that may be left out because they have a default. */
const keyDefaults: Readonly<Record<string, Json>> = { protocol: "TCP" };

/** `k:{…}` for an item of a list with keys, `v:…` for one of a set. */
export function elementOf(item: Json, shape: Shape & { readonly kind: "list" }): string {
  if (shape.listType !== "map") return `v:${JSON.stringify(item)}`;
  const keys: JsonObject = {};
  for (const key of [...shape.keys].sort()) {
    const value = (isObject(item) ? item[key] : undefined) ?? keyDefaults[key];
    if (value !== undefined) keys[key] = value;
  }
  return `k:${JSON.stringify(keys)}`;
}

/** The tree that `fieldsV1` holds. */
export function toFieldsV1(paths: Iterable<Path>): JsonObject {
  const root: JsonObject = {};
  for (const path of [...paths].sort()) {
    let at = root;
    const elements = path.split("\n");
    for (const element of elements) at = ensureObject(at, element);
    if (/^[kv]:/.test(elements[elements.length - 1]!)) at["."] = {};
  }
  return tidy(root);
}

/** A list item without fields of its own is written `{}`. */
function tidy(tree: JsonObject): JsonObject {
  for (const [key, value] of Object.entries(tree)) {
    const child = value as JsonObject;
    if (key.startsWith("v:") && Object.keys(child).length === 1 && child["."] !== undefined) delete child["."];
    else tidy(child);
  }
  return tree;
}

export function fromFieldsV1(tree: unknown): Set<Path> {
  const paths = new Set<Path>();
  const walk = (node: unknown, path: Path): void => {
    const entries = isObject(node) ? Object.entries(node) : [];
    if (entries.length === 0 || (isObject(node) && node["."] !== undefined)) paths.add(path);
    for (const [key, child] of entries) if (key !== ".") walk(child, path === "" ? key : `${path}\n${key}`);
  };
  if (isObject(tree) && Object.keys(tree).length > 0) walk(tree, "");
  paths.delete("");
  return paths;
}

/** `.spec.containers[name="a"].image`, as conflicts name it. */
export function readablePath(path: Path): string {
  return path
    .split("\n")
    .map((element) => {
      if (element.startsWith("f:")) return `.${element.slice(2)}`;
      if (element.startsWith("v:")) return `[=${element.slice(2)}]`;
      const keys = JSON.parse(element.slice(2)) as JsonObject;
      return `[${Object.entries(keys)
        .map(([key, value]) => `${key}=${JSON.stringify(value)}`)
        .join(",")}]`;
    })
    .join("");
}
