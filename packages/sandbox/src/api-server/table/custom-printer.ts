/** Tables of custom resources: the columns of `additionalPrinterColumns`, each a JSON path into the object. */
import { type ApiObject, isObject, type Json, type JsonObject, numberAt, textAt } from "../objects/json.ts";
import type { Cell, Column, TablePrinter } from "../registry/resource.ts";
import { age } from "./age.ts";

const nameColumn: Column = { name: "Name", type: "string", format: "name", priority: 0 };

export function customPrinter(definitions: readonly JsonObject[]): TablePrinter {
  const list = definitions.length > 0 ? definitions : [{ name: "Age", type: "date", jsonPath: ".metadata.creationTimestamp" }];
  const paths = list.map((definition) => parsePath(textAt(definition, "jsonPath") ?? ""));
  const columns = list.map(
    (definition): Column => ({
      name: textAt(definition, "name") ?? "",
      type: (textAt(definition, "type") ?? "string") as Column["type"],
      ...(textAt(definition, "format") === undefined ? {} : { format: textAt(definition, "format") as string }),
      ...(textAt(definition, "description") === undefined ? {} : { description: textAt(definition, "description") as string }),
      priority: numberAt(definition, "priority") ?? 0,
    }),
  );
  return {
    columns: [nameColumn, ...columns],
    cells: (object, nowMs) => [
      String(object.metadata.name ?? ""),
      ...columns.map((column, index) => cellOf(object, paths[index]!, column, nowMs)),
    ],
  };
}

function cellOf(object: ApiObject, path: readonly PathStep[], column: Column, nowMs: number): Cell {
  const found = resolve([object], path);
  const value = found[0];
  if (value === undefined || value === null) return column.type === "date" ? "<unknown>" : null;
  switch (column.type) {
    case "date":
      return age(value, nowMs);
    case "string":
      return found.length > 1 ? found.map(text).join(",") : text(value);
    case "integer":
      return typeof value === "number" ? Math.trunc(value) : Number.isInteger(Number(value)) ? Number(value) : null;
    case "number":
      return typeof value === "number" ? value : null;
    case "boolean":
      return typeof value === "boolean" ? value : null;
  }
}

function text(value: Json): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

type PathStep =
  | { readonly kind: "member"; readonly name: string }
  | { readonly kind: "index"; readonly index: number }
  | { readonly kind: "all" }
  | { readonly kind: "filter"; readonly path: readonly string[]; readonly wanted: string };

/** The part of JSONPath that definitions use: members, `\.` in names, indexes, `[*]`, `[?(@.type=="Ready")]`. */
function parsePath(source: string): PathStep[] {
  const steps: PathStep[] = [];
  const pattern = /\.((?:\\.|[^.[\]\\])+)|\[\?\(@((?:\.[\w-]+)+)\s*==\s*["']([^"']*)["']\)\]|\[(\d+)\]|\[\*\]|\[['"]([^'"]+)['"]\]/g;
  for (const match of source.matchAll(pattern)) {
    const [whole, member, filterPath, wanted, index, quoted] = match;
    if (member !== undefined) steps.push({ kind: "member", name: member.replace(/\\(.)/g, "$1") });
    else if (filterPath !== undefined) steps.push({ kind: "filter", path: filterPath.split(".").slice(1), wanted: wanted ?? "" });
    else if (index !== undefined) steps.push({ kind: "index", index: Number(index) });
    else if (quoted !== undefined) steps.push({ kind: "member", name: quoted });
    else if (whole === "[*]") steps.push({ kind: "all" });
  }
  return steps;
}

function resolve(values: readonly Json[], steps: readonly PathStep[]): Json[] {
  let found: Json[] = [...values];
  for (const step of steps) found = found.flatMap((value) => follow(value, step));
  return found;
}

function follow(value: Json, step: PathStep): Json[] {
  if (step.kind === "member") return isObject(value) && Object.hasOwn(value, step.name) ? [value[step.name] as Json] : [];
  if (!Array.isArray(value)) return step.kind === "all" && isObject(value) ? Object.values(value) : [];
  if (step.kind === "index") return value[step.index] === undefined ? [] : [value[step.index] as Json];
  if (step.kind === "all") return value;
  return value.filter((item) => step.path.reduce<unknown>((at, key) => (isObject(at) ? at[key] : undefined), item) === step.wanted);
}
