/** Strategic merge patch: a merge patch that knows which lists of the built-in kinds merge, and by which key. Directives start with `$`. */
import { copyJson, equalJson, isObject, type Json, type JsonObject } from "../objects/json.ts";
import type { Shape } from "../schema/shape.ts";
import { badRequest } from "../wire/status.ts";
import { childShape } from "./field-set.ts";

const orderPrefix = "$setElementOrder/";
const deletePrefix = "$deleteFromPrimitiveList/";

/** A patched copy of `original`, which stays as it is. Throws 400 for directives that make no sense. */
export function strategicMerge(original: Json | undefined, patch: JsonObject, shape: Shape): Json {
  return mergeObject(isObject(original) ? original : {}, patch, shape);
}

function mergeObject(original: JsonObject, patch: JsonObject, shape: Shape): JsonObject {
  const directive = patch.$patch;
  if (directive === "replace") return withoutDirectives(patch);
  if (directive === "delete") return {};
  if (directive !== undefined && directive !== "merge") throw badRequest(`unknown directive $patch: ${JSON.stringify(directive)}`);
  const result: JsonObject = { ...original };
  retainKeys(result, patch);
  for (const [key, value] of Object.entries(patch)) {
    if (key.startsWith(deletePrefix)) deleteScalars(result, key.slice(deletePrefix.length), value);
  }
  for (const [key, value] of Object.entries(patch)) {
    if (key.startsWith("$")) continue;
    if (value === null) delete result[key];
    else result[key] = mergeValue(result[key], value, childShape(shape, key), patch[orderPrefix + key]);
  }
  for (const [key, order] of Object.entries(patch)) {
    if (key.startsWith(orderPrefix) && patch[key.slice(orderPrefix.length)] === undefined)
      reorder(result, key.slice(orderPrefix.length), order, shape);
  }
  return result;
}

function mergeValue(original: Json | undefined, patch: Json, shape: Shape, order: Json | undefined): Json {
  if (isObject(patch)) return mergeObject(isObject(original) ? original : {}, patch, shape);
  if (!Array.isArray(patch)) return patch;
  if (shape.kind !== "list" || shape.merge === undefined)
    return copyJson(patch.filter((item) => !isObject(item) || item.$patch === undefined));
  const before = Array.isArray(original) ? original : [];
  const key = shape.merge.key;
  const merged = key === undefined ? mergeScalars(before, patch) : mergeItems(before, patch, key, shape.item);
  // Without an order of its own a patch is one: its items come first, in its order.
  return ordered(merged, Array.isArray(order) ? order : patch, key, before);
}

function mergeScalars(original: readonly Json[], patch: readonly Json[]): Json[] {
  const added = patch.filter((item) => !original.some((known) => equalJson(known, item)));
  return [...original, ...copyJson(added)];
}

function mergeItems(original: readonly Json[], patch: readonly Json[], key: string, itemShape: Shape): Json[] {
  if (patch.some((item) => isObject(item) && item.$patch === "replace")) {
    return patch
      .filter((item) => !(isObject(item) && item.$patch === "replace"))
      .map((item) => (isObject(item) ? withoutDirectives(item) : copyJson(item)));
  }
  let result = [...original];
  for (const item of patch) {
    if (!isObject(item)) throw badRequest(`cannot merge a list by "${key}": an item is no object`);
    if (item[key] === undefined) throw badRequest(`map: ${JSON.stringify(item)} does not contain declared merge key: ${key}`);
    const same = (other: Json) => isObject(other) && equalJson(other[key], item[key]);
    if (item.$patch === "delete") {
      result = result.filter((other) => !same(other));
      continue;
    }
    const at = result.findIndex(same);
    const merged = mergeObject(at < 0 ? {} : (result[at] as JsonObject), item, itemShape);
    if (at < 0) result.push(merged);
    else result[at] = merged;
  }
  return result;
}

function retainKeys(result: JsonObject, patch: JsonObject): void {
  const retained = patch.$retainKeys;
  if (retained === undefined) return;
  if (!Array.isArray(retained)) throw badRequest("$retainKeys must be a list");
  for (const key of Object.keys(result)) if (!retained.includes(key)) delete result[key];
}

function deleteScalars(result: JsonObject, key: string, gone: Json): void {
  const list = result[key];
  if (!Array.isArray(list) || !Array.isArray(gone)) return;
  result[key] = list.filter((item) => !gone.some((other) => equalJson(other, item)));
}

function reorder(result: JsonObject, key: string, order: Json, shape: Shape): void {
  const list = result[key];
  const listShape = childShape(shape, key);
  if (!Array.isArray(list) || !Array.isArray(order) || listShape.kind !== "list") return;
  result[key] = ordered(list, order, listShape.merge?.key, list);
}

/** Items in the wished order; those that the order does not name (another writer's) stay beside their old neighbours. */
function ordered(items: readonly Json[], order: readonly Json[], key: string | undefined, before: readonly Json[]): Json[] {
  const idOf = (item: Json) => JSON.stringify(key === undefined ? item : isObject(item) ? item[key] : item);
  const ranks = new Map(order.map((item, index) => [idOf(item), index]));
  const oldRanks = new Map(before.map((item, index) => [idOf(item), index]));
  const listed = items.filter((item) => ranks.has(idOf(item))).sort((left, right) => ranks.get(idOf(left))! - ranks.get(idOf(right))!);
  const result = [...listed];
  for (const item of items.filter((candidate) => !ranks.has(idOf(candidate)))) {
    const rank = oldRanks.get(idOf(item)) ?? Number.POSITIVE_INFINITY;
    const at = result.findIndex((other) => (oldRanks.get(idOf(other)) ?? -1) > rank);
    if (at < 0) result.push(item);
    else result.splice(at, 0, item);
  }
  return result;
}

function withoutDirectives(value: JsonObject): JsonObject {
  const copy = copyJson(value);
  for (const key of Object.keys(copy)) if (key.startsWith("$")) delete copy[key];
  return copy;
}
