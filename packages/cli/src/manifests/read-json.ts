/** JSON texts: one value, or several one after another as kubectl accepts them. */
import type { FieldPath } from "./field-path.ts";
import { findRepeatedKey, itemOffsets, locateInJson, skipValue, valueOffset } from "./json-text.ts";
import type { Document, Position } from "./manifest.ts";
import type { TextLines } from "./text-lines.ts";

export type JsonReading =
  | {
      readonly kind: "values";
      readonly documents: readonly Document[];
      readonly repeatedKey?: { readonly key: string; readonly at: Position };
    }
  | { readonly kind: "not-json"; readonly message: string; readonly at: Position };

export function readJson(text: string, lines: TextLines): JsonReading {
  const documents: Document[] = [];
  let start = text.charCodeAt(0) === 0xfeff ? 1 : 0;
  while (text.slice(start).trim() !== "") {
    const end = documents.length === 0 && isOneValue(text, start) ? text.length : skipValue(text, start);
    try {
      documents.push(jsonDocument(text, start, JSON.parse(text.slice(start, end)), lines));
    } catch (error) {
      return { kind: "not-json", ...describeSyntaxError(error, start, lines) };
    }
    start = end;
  }
  const repeated = findRepeatedKey(text);
  if (repeated === undefined) return { kind: "values", documents };
  return { kind: "values", documents, repeatedKey: { key: repeated.key, at: lines.position(repeated.offset) } };
}

function isOneValue(text: string, start: number): boolean {
  return text.slice(skipValue(text, start)).trim() === "";
}

function jsonDocument(text: string, start: number, value: unknown, lines: TextLines): Document {
  let offsets: number[] | undefined;
  const itemOffset = (index: number): number | undefined => {
    offsets ??= itemOffsets(text, valueOffset(text, start, "items") ?? start);
    return offsets[index];
  };
  return {
    value,
    locate: (path: FieldPath) => {
      // Long lists are located through a table, so that a question about item 15,000 costs no second walk.
      const [first, second, ...rest] = path;
      const offset = first === "items" && typeof second === "number" ? itemOffset(second) : undefined;
      return lines.position(offset === undefined ? locateInJson(text, start, path) : locateInJson(text, offset, rest));
    },
  };
}

function describeSyntaxError(error: unknown, start: number, lines: TextLines): { message: string; at: Position } {
  const text = error instanceof Error ? error.message : String(error);
  const offset = Number(text.match(/at position (\d+)/)?.[1] ?? 0);
  const message = text.replace(/ in JSON at position.*$|, (?:\.\.\.)?".*$/s, "").replace(/ \(line \d+ column \d+\)$/, "");
  return { message: `is no JSON: ${message}`, at: lines.position(start + offset) };
}
