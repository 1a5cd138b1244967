/** A short way to write columns. */

import type { ApiObject } from "../objects/json.ts";
import type { Cell, Column, TablePrinter } from "../registry/resource.ts";

/** `"Ready"` is text; a leading `+` shows the column only with `-o wide`; `:integer`, `:boolean`, `:date` name another type. */
export function printer(columns: readonly string[], cells: (object: ApiObject, nowMs: number) => Cell[]): TablePrinter {
  return {
    columns: [{ name: "Name", type: "string", format: "name", priority: 0 }, ...columns.map(toColumn)],
    cells: (object, nowMs) => [String(object.metadata.name ?? ""), ...cells(object, nowMs)],
  };
}

export function toColumn(text: string): Column {
  const isWide = text.startsWith("+");
  const [name = "", type = "string"] = (isWide ? text.slice(1) : text).split(":");
  return { name, type: type as Column["type"], priority: isWide ? 1 : 0 };
}

export const none = "<none>";
export const unset = "<unset>";
export const unknown = "<unknown>";

export function orNone(text: string | undefined): string {
  return text === undefined || text === "" ? none : text;
}
