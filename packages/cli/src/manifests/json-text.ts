/**
 * Positions inside a JSON text. `JSON.parse` makes the values (ten times as fast as a parser that keeps positions); this scanner
 * walks the text a second time, only as far as a question needs, and looks for keys that are given twice.
 */
import type { FieldPath } from "./field-path.ts";

const QUOTE = 34;
const BACKSLASH = 92;

/** Offset of the key (or list item) that `path` names, from `start`, the offset of a value; the deepest that exists. */
export function locateInJson(text: string, start: number, path: FieldPath): number {
  let found = skipBlank(text, start);
  let value = found;
  for (const part of path) {
    const member = typeof part === "number" ? findItem(text, value, part) : findKey(text, value, part);
    if (member === undefined) break;
    found = member.at;
    value = member.value;
  }
  return found;
}

/** Offsets of the items of the list at `start`. One pass over the list. */
export function itemOffsets(text: string, start: number): number[] {
  const offsets: number[] = [];
  for (const item of items(text, skipBlank(text, start))) offsets.push(item);
  return offsets;
}

/** Offset of the value under `key` in the object at `start`. */
export function valueOffset(text: string, start: number, key: string): number | undefined {
  return findKey(text, skipBlank(text, start), key)?.value;
}

/** Offset just behind the value that begins at `start`; the text is valid JSON up to there, or the result is past its end. */
export function skipValue(text: string, start: number): number {
  let at = skipBlank(text, start);
  const first = text[at];
  if (first === '"') return skipString(text, at);
  if (first !== "{" && first !== "[") {
    while (at < text.length && !/[\s,\]}]/.test(text[at]!)) at++;
    return at;
  }
  let depth = 0;
  for (; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) at = skipString(text, at) - 1;
    else if (code === 123 || code === 91) depth++;
    else if ((code === 125 || code === 93) && --depth === 0) return at + 1;
  }
  return at;
}

export interface RepeatedKey {
  readonly offset: number;
  readonly key: string;
}

/** The first key that stands twice in one object. The text is valid JSON. */
export function findRepeatedKey(text: string): RepeatedKey | undefined {
  const scopes: (Set<string> | undefined)[] = [];
  let mayBeKey = false;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === 123) {
      scopes.push(new Set());
      mayBeKey = true;
    } else if (code === 91) {
      scopes.push(undefined);
      mayBeKey = false;
    } else if (code === 125 || code === 93) {
      scopes.pop();
      mayBeKey = false;
    } else if (code === 44) {
      mayBeKey = scopes.at(-1) !== undefined;
    } else if (code === QUOTE) {
      const end = skipString(text, at);
      const scope = mayBeKey ? scopes.at(-1) : undefined;
      if (scope !== undefined) {
        const key = text.slice(at + 1, end - 1);
        if (scope.has(key)) return { offset: at, key };
        scope.add(key);
        mayBeKey = false;
      }
      at = end - 1;
    }
  }
  return undefined;
}

/** Keys and list positions from the value at `start` down to the key at `offset`; undefined where that is none of it. */
export function pathToKey(text: string, start: number, offset: number): FieldPath | undefined {
  const from = skipBlank(text, start);
  for (const { key, at, value } of members(text, from)) {
    if (at === offset) return [key];
    if (offset < skipValue(text, value)) return under(key, pathToKey(text, value, offset));
  }
  let index = 0;
  for (const at of items(text, from)) {
    if (offset < skipValue(text, at)) return under(index, pathToKey(text, at, offset));
    index++;
  }
  return undefined;
}

function under(part: string | number, path: FieldPath | undefined): FieldPath | undefined {
  return path && [part, ...path];
}

interface Member {
  readonly key: string;
  readonly at: number;
  readonly value: number;
}

function findKey(text: string, start: number, key: string): Member | undefined {
  for (const member of members(text, start)) if (member.key === key) return member;
  return undefined;
}

function* members(text: string, start: number): Generator<Member> {
  if (text[start] !== "{") return;
  let at = skipBlank(text, start + 1);
  while (at < text.length && text[at] === '"') {
    const keyEnd = skipString(text, at);
    const value = skipBlank(text, skipBlank(text, keyEnd) + 1);
    yield { key: JSON.parse(text.slice(at, keyEnd)) as string, at, value };
    at = skipBlank(text, skipValue(text, value));
    if (text[at] !== ",") return;
    at = skipBlank(text, at + 1);
  }
}

function findItem(text: string, start: number, index: number): Pick<Member, "at" | "value"> | undefined {
  let count = 0;
  for (const at of items(text, start)) if (count++ === index) return { at, value: at };
  return undefined;
}

function* items(text: string, start: number): Generator<number> {
  if (text[start] !== "[") return;
  let at = skipBlank(text, start + 1);
  while (at < text.length && text[at] !== "]") {
    yield at;
    at = skipBlank(text, skipValue(text, at));
    if (text[at] !== ",") return;
    at = skipBlank(text, at + 1);
  }
}

function skipString(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === BACKSLASH) at++;
    else if (code === QUOTE) return at + 1;
  }
  return text.length;
}

function skipBlank(text: string, start: number): number {
  let at = start;
  while (at < text.length && text.charCodeAt(at) <= 32) at++;
  return at;
}
