/** A key that one object of a text has twice: which of two values counts, readers do not agree on. */
import { isRecord } from "./built-in/shapes.ts";
import { type FieldPath, formatFieldPath } from "./field-path.ts";
import { objectTitle, type Position, type RawObject } from "./manifest.ts";
import type { InputProblem } from "./problem.ts";

/** What an `InputProblem` says of it, beside the file. */
export type RepeatedKeyFault = Pick<InputProblem, "message" | "path" | "object"> & { readonly at: Position };

/**
 * @param path of the key, from the document's root
 * @param first where the key stands the first time
 */
export function repeatedKeyFault(document: unknown, path: FieldPath, at: Position, first: Position): RepeatedKeyFault {
  const around = objectAround(document, path);
  return {
    at,
    ...(around.object !== undefined && { object: objectTitle(around.object) }),
    path: formatFieldPath(around.path),
    message: `the key "${path.at(-1)}" is given twice in one object, first in line ${first.line}; give it once`,
  };
}

/** The innermost Kubernetes object that the path goes through (an item of a List), and the rest of the path. */
function objectAround(document: unknown, path: FieldPath): { readonly object?: RawObject; readonly path: FieldPath } {
  let value = document;
  let found: { object?: RawObject; path: FieldPath } = { path };
  for (let depth = 0; depth < path.length; depth++) {
    if (isObject(value)) found = { object: value, path: path.slice(depth) };
    value = isRecord(value) || Array.isArray(value) ? (value as Readonly<Record<string | number, unknown>>)[path[depth]!] : undefined;
  }
  return found;
}

/** Templates of pods and references to others have no such head. */
function isObject(value: unknown): value is RawObject {
  return isRecord(value) && typeof value.kind === "string" && typeof value.apiVersion === "string" && !value.kind.endsWith("List");
}
