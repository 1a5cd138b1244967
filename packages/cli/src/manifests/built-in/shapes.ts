/** Types and names of the fields of built-in kinds, as an API server with strict field validation decodes them. */
import { parseQuantity } from "@joinery/api";
import { shapeTexts } from "./shapes.generated.ts";

type Type =
  | { readonly kind: "text" | "whole" | "truth" | "quantity" | "whole-or-text" | "anything" }
  | { readonly kind: "list" | "map"; readonly of: Type }
  | { readonly kind: "shape"; readonly name: string };

type Shape = ReadonlyMap<string, Type>;

/** `path` is shared with the walk: copy it to keep it. */
export type ShapeReport = (severity: "error" | "warning", path: readonly (string | number)[], message: string) => void;

const shapes = new Map<string, Shape>();

/** Reports wrong types as errors and unknown fields as warnings. `null` stands for an absent field, as in Kubernetes. */
export function checkShape(value: unknown, shapeName: string, report: ShapeReport): void {
  checkFields(value, shapeName, [], report);
}

function checkFields(value: unknown, shapeName: string, path: (string | number)[], report: ShapeReport): void {
  if (!isRecord(value)) {
    report("error", path, `must be an object, is ${describe(value)}`);
    return;
  }
  const shape = shapeOf(shapeName);
  for (const field in value) {
    const type = shape.get(field);
    path.push(field);
    if (type !== undefined) checkType(value[field], type, path, report);
    else report("warning", path, `unknown field; ${hintFor(field, shape)}`);
    path.pop();
  }
}

function checkType(value: unknown, type: Type, path: (string | number)[], report: ShapeReport): void {
  if (value === null || value === undefined) return;
  switch (type.kind) {
    case "shape":
      checkFields(value, type.name, path, report);
      return;
    case "list":
      if (!Array.isArray(value)) {
        report("error", path, `must be a list, is ${describe(value)}`);
        return;
      }
      eachOf(value.entries(), type.of, path, report);
      return;
    case "map":
      if (!isRecord(value)) {
        report("error", path, `must be a map, is ${describe(value)}`);
        return;
      }
      eachOf(Object.entries(value), type.of, path, report);
      return;
    default: {
      const fault = faultOf(value, type.kind);
      if (fault !== undefined) report("error", path, fault);
    }
  }
}

function eachOf(entries: Iterable<[string | number, unknown]>, type: Type, path: (string | number)[], report: ShapeReport): void {
  for (const [key, item] of entries) {
    path.push(key);
    checkType(item, type, path, report);
    path.pop();
  }
}

function faultOf(value: unknown, kind: Exclude<Type["kind"], "shape" | "list" | "map">): string | undefined {
  switch (kind) {
    case "text":
      return typeof value === "string" ? undefined : `must be text, is ${describe(value)}; put quotes around it`;
    case "whole":
      return Number.isInteger(value) ? undefined : `must be a whole number, is ${describe(value)}`;
    case "truth":
      return typeof value === "boolean" ? undefined : `must be true or false, is ${describe(value)}`;
    case "whole-or-text":
      return typeof value === "string" || Number.isInteger(value) ? undefined : `must be a whole number or text, is ${describe(value)}`;
    case "quantity": {
      const isQuantity = (typeof value === "string" || typeof value === "number") && parseQuantity(value) !== undefined;
      return isQuantity ? undefined : `${describe(value)} is no quantity; write a number with an optional suffix, such as 500m, 2 or 1.5Gi`;
    }
    case "anything":
      return undefined;
  }
}

function shapeOf(name: string): Shape {
  const known = shapes.get(name);
  if (known !== undefined) return known;
  const shape: Shape = new Map(
    shapeTexts[name]!.split(" ")
      .filter((text) => text !== "")
      .map((text): [string, Type] => {
        const at = text.indexOf(":");
        return [text.slice(0, at), parseType(text.slice(at + 1))];
      }),
  );
  shapes.set(name, shape);
  return shape;
}

function parseType(text: string): Type {
  if (text.startsWith("[")) return { kind: "list", of: parseType(text.slice(1, -1)) };
  if (text.startsWith("{")) return { kind: "map", of: parseType(text.slice(1, -1)) };
  const kinds = { s: "text", n: "whole", b: "truth", q: "quantity", i: "whole-or-text", "*": "anything" } as const;
  const kind = kinds[text as keyof typeof kinds];
  return kind === undefined ? { kind: "shape", name: text } : { kind };
}

export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** `the number 5`, `a list` … */
export function describe(value: unknown): string {
  if (value === null || value === undefined) return "nothing";
  if (Array.isArray(value)) return "a list";
  if (typeof value === "object") return "an object";
  if (typeof value === "string") return value === "" ? "empty text" : `"${value}"`;
  return String(value);
}

function hintFor(field: string, shape: Shape): string {
  const meant = [...shape.keys()].find((known) => known.toLowerCase() === field.toLowerCase()) ?? nearest(field, [...shape.keys()]);
  return meant === undefined ? "an API server would drop it" : `did you mean ${meant}?`;
}

function nearest(field: string, known: readonly string[]): string | undefined {
  return known.find((name) => Math.abs(name.length - field.length) <= 1 && distance(name, field) <= 2);
}

/** Levenshtein, for words of a few dozen letters. */
function distance(one: string, other: string): number {
  let above = Array.from({ length: other.length + 1 }, (_, index) => index);
  for (let row = 1; row <= one.length; row++) {
    const line = [row];
    for (let column = 1; column <= other.length; column++) {
      const swap = above[column - 1]! + (one[row - 1] === other[column - 1] ? 0 : 1);
      line.push(Math.min(swap, above[column]! + 1, line[column - 1]! + 1));
    }
    above = line;
  }
  return above[other.length]!;
}
