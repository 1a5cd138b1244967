/** JSON texts: one value, or several one after another as kubectl accepts them. */
import type { FieldPath } from "./field-path.ts";
import { findRepeatedKey, itemOffsets, locateInJson, pathToKey, skipValue, valueOffset } from "./json-text.ts";
import type { Document, Position } from "./manifest.ts";
import { type RepeatedKeyFault, repeatedKeyFault } from "./repeated-key.ts";
import type { TextLines } from "./text-lines.ts";

export type JsonReading =
  | {
      readonly kind: "values";
      readonly documents: readonly Document[];
      readonly repeatedKey?: RepeatedKeyFault;
    }
  | { readonly kind: "not-json"; readonly message: string; readonly at: Position };

export function readJson(text: string, lines: TextLines): JsonReading {
  const documents: Document[] = [];
  const starts: number[] = [];
  let start = text.charCodeAt(0) === 0xfeff ? 1 : 0;
  while (text.slice(start).trim() !== "") {
    const end = documents.length === 0 && isOneValue(text, start) ? text.length : skipValue(text, start);
    try {
      documents.push(jsonDocument(text, start, JSON.parse(text.slice(start, end)), lines));
    } catch (error) {
      return { kind: "not-json", ...describeSyntaxError(error, start, lines) };
    }
    starts.push(start);
    start = end;
  }
  const repeatedKey = repeatedKeyIn(text, starts, documents, lines);
  return { kind: "values", documents, ...(repeatedKey && { repeatedKey }) };
}

function repeatedKeyIn(
  text: string,
  starts: readonly number[],
  documents: readonly Document[],
  lines: TextLines,
): RepeatedKeyFault | undefined {
  const repeated = findRepeatedKey(text);
  if (repeated === undefined) return undefined;
  const index = starts.findLastIndex((start) => start <= repeated.offset);
  const start = starts[index]!;
  const path = pathToKey(text, start, repeated.offset) ?? [repeated.key];
  const first = lines.position(locateInJson(text, start, path));
  return repeatedKeyFault(documents[index]!.value, path, lines.position(repeated.offset), first);
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
