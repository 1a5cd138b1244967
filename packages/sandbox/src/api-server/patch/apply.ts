/** Server-side apply: what a manager wishes is merged into the live object; what it no longer wishes goes; fields of others are conflicts. */
import { type ApiObject, copyJson, equalJson, isObject, type Json, type JsonObject } from "../objects/json.ts";
import { apiVersionOf } from "../registry/resource.ts";
import type { Shape } from "../schema/shape.ts";
import { type Call, fieldManagerOf } from "../verbs/backend.ts";
import { ApiFailure } from "../wire/status.ts";
import { childShape, elementOf, leavesOfObject, type Path, readablePath } from "./field-set.ts";
import { entriesOf, type Manager, managersOf, without } from "./managed-fields.ts";

export interface Applied {
  readonly draft: ApiObject;
  readonly managedFields: JsonObject[];
}

/** The managedFields of an object that an apply creates. */
export function appliedAsNew(wish: ApiObject, call: Call, time: string): JsonObject[] {
  return entriesOf([managerOf(call, time, new Set(leavesOfObject(wish, call.resource.shape).keys()))]);
}

/** Throws 409 with one cause per field when others own what the wish would change, unless it is forced. */
export function applyTo(live: ApiObject, wish: ApiObject, call: Call, time: string, isForced: boolean): Applied {
  const { shape } = call.resource;
  const wished = leavesOfObject(wish, shape);
  const liveLeaves = leavesOfObject(live, shape);
  const known = managersOf(live);
  const all = known.length > 0 ? known : [beforeFirstApply(call, time, new Set(liveLeaves.keys()))];
  const self = managerOf(call, time, new Set(wished.keys()));
  const isSelf = (manager: Manager) =>
    manager.name === self.name && manager.operation === "Apply" && manager.subresource === self.subresource;
  const others = all.filter((manager) => !isSelf(manager));
  const contested = (manager: Manager) =>
    [...wished]
      .filter(([path, value]) => manager.paths.has(path) && liveLeaves.has(path) && !equalJson(liveLeaves.get(path), value))
      .map(([path]) => path);
  const conflicts = others.map((manager) => ({ manager, paths: contested(manager) })).filter(({ paths }) => paths.length > 0);
  if (conflicts.length > 0 && !isForced) throw conflictFailure(conflicts);
  const taken = new Set(conflicts.flatMap(({ paths }) => paths));
  const left = others.map((manager) => ({ ...manager, paths: without(manager.paths, taken) }));
  const draft = merge(copyJson(live), wish, shape) as ApiObject;
  const before = all.find(isSelf)?.paths ?? new Set<Path>();
  const dropped = [...before].filter((path) => !wished.has(path) && !left.some((manager) => manager.paths.has(path)));
  const owned = [...wished.keys(), ...left.flatMap((manager) => [...manager.paths])];
  // Whole list items first: an item that somebody else still has fields in stays, with its keys.
  for (const path of dropped.sort((a, b) => a.length - b.length)) {
    if (!isItem(path) || !owned.some((other) => other.startsWith(`${path}\n`))) removePath(draft, path, shape, wished);
  }
  const managers = [self, ...left].filter((manager) => manager.paths.size > 0);
  const unchanged = all.find((manager) => isSelf(manager) && equalSets(manager.paths, self.paths));
  return {
    draft,
    managedFields: entriesOf(managers.map((manager) => (manager === self && unchanged !== undefined ? unchanged : manager))),
  };
}

function isItem(path: Path): boolean {
  return /^[kv]:/.test(path.slice(path.lastIndexOf("\n") + 1));
}

function managerOf(call: Call, time: string, paths: Set<Path>): Manager {
  return {
    name: fieldManagerOf(call),
    operation: "Apply",
    apiVersion: apiVersionOf(call.resource),
    subresource: call.target.subresource ?? "",
    time,
    paths,
  };
}

/** Fields of an object that nobody kept a record for belong to somebody unknown. */
function beforeFirstApply(call: Call, time: string, paths: Set<Path>): Manager {
  return { name: "before-first-apply", operation: "Update", apiVersion: apiVersionOf(call.resource), subresource: "", time, paths };
}

function equalSets(left: ReadonlySet<Path>, right: ReadonlySet<Path>): boolean {
  return left.size === right.size && [...left].every((path) => right.has(path));
}

interface Conflict {
  readonly manager: Manager;
  readonly paths: readonly Path[];
}

function conflictFailure(conflicts: readonly Conflict[]): ApiFailure {
  const count = conflicts.reduce((sum, { paths }) => sum + paths.length, 0);
  const causes: Json[] = conflicts.flatMap(({ manager, paths }) =>
    paths
      .map(readablePath)
      .sort()
      .map((field) => ({ reason: "FieldManagerConflict", message: `conflict with ${titleOf(manager)}`, field })),
  );
  const [only] = conflicts;
  if (count === 1 && only !== undefined) {
    return new ApiFailure(
      409,
      "Conflict",
      `Apply failed with 1 conflict: conflict with ${titleOf(only.manager)}: ${readablePath(only.paths[0] ?? "")}`,
      { causes },
    );
  }
  const blocks = conflicts.map(
    ({ manager, paths }) =>
      `conflicts with ${titleOf(manager)}:\n${paths
        .map((path) => `- ${readablePath(path)}`)
        .sort()
        .join("\n")}`,
  );
  return new ApiFailure(409, "Conflict", `Apply failed with ${count} conflicts: ${blocks.sort().join("\n")}`, { causes });
}

/** Appliers are known by name alone; others also by what they wrote through. */
function titleOf({ name, operation, subresource, apiVersion }: Manager): string {
  if (operation === "Apply") return `"${name}"`;
  return `"${name}"${subresource === "" ? "" : ` with subresource "${subresource}"`} using ${apiVersion}`;
}

/** Merges a wish into a draft: objects by member, lists by their keys, everything else as a whole. */
function merge(into: Json | undefined, wish: Json, shape: Shape): Json {
  const isAtomic = (shape.kind === "object" || shape.kind === "map") && shape.isAtomic;
  if (isObject(wish) && isObject(into) && !isAtomic) {
    for (const [key, value] of Object.entries(wish)) into[key] = merge(into[key], value, childShape(shape, key));
    return into;
  }
  if (Array.isArray(wish) && Array.isArray(into) && shape.kind === "list" && shape.listType !== "atomic")
    return mergeList(into, wish, shape);
  return copyJson(wish);
}

function mergeList(into: Json[], wish: readonly Json[], shape: Shape & { readonly kind: "list" }): Json[] {
  const byElement = new Map(into.map((item) => [elementOf(item, shape), item]));
  const wished = wish.map((item) => elementOf(item, shape));
  const merged = new Map(wish.map((item, index) => [wished[index]!, merge(byElement.get(wished[index]!), item, shape.item)]));
  // What was there keeps its place; wished items that are new come after it, in the order of the wish.
  const kept = [...byElement].map(([element, item]) => merged.get(element) ?? item);
  const added = wished
    .filter((element, index) => !byElement.has(element) && wished.indexOf(element) === index)
    .map((element) => merged.get(element) as Json);
  return [...kept, ...added];
}

/** Takes a leaf away, and the objects and lists around it that it leaves empty. */
function removePath(draft: ApiObject, path: Path, shape: Shape, wished: ReadonlyMap<Path, Json>): void {
  removeIn(draft, path.split("\n"), shape, "", wished);
}

function removeIn(value: Json, elements: readonly string[], shape: Shape, at: Path, wished: ReadonlyMap<Path, Json>): void {
  const [element = "", ...rest] = elements;
  const here = at === "" ? element : `${at}\n${element}`;
  if (Array.isArray(value) && shape.kind === "list") {
    const index = value.findIndex((item) => elementOf(item, shape) === element);
    if (index < 0) return;
    const isKey = rest.length === 1 && shape.keys.includes((rest[0] ?? "").slice(2));
    if (rest.length > 0 && !isKey) removeIn(value[index] as Json, rest, shape.item, here, wished);
    else if (rest.length === 0) value.splice(index, 1);
    return;
  }
  const key = element.slice(2);
  if (!isObject(value) || value[key] === undefined) return;
  if (rest.length === 0) {
    delete value[key];
    return;
  }
  const child = value[key];
  removeIn(child, rest, childShape(shape, key), here, wished);
  const isEmpty = Array.isArray(child) ? child.length === 0 : isObject(child) && Object.keys(child).length === 0;
  if (isEmpty && !wished.has(here)) delete value[key];
}
