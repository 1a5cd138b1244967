import fc from "fast-check";
import { expect, test } from "vitest";
import { type FieldPath, formatFieldPath, parseFieldPath } from "./field-path.ts";
import { findRepeatedKey, locateInJson, pathToKey, skipValue } from "./json-text.ts";

/** Every path into a value, with the value under it. */
function* pathsInto(value: unknown, path: FieldPath = []): Iterable<[FieldPath, unknown]> {
  yield [path, value];
  if (Array.isArray(value)) for (const [index, item] of value.entries()) yield* pathsInto(item, [...path, index]);
  else if (typeof value === "object" && value !== null)
    for (const [key, item] of Object.entries(value)) yield* pathsInto(item, [...path, key]);
}

test("every path is found: the text there is the value, or its key and the value", () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 4 }), fc.constantFrom(0, 1, 3), (value, indent) => {
      const text = JSON.stringify(value, undefined, indent);
      for (const [path, part] of pathsInto(JSON.parse(text))) {
        const offset = locateInJson(text, 0, path);
        const last = path.at(-1);
        if (typeof last === "string") expect(JSON.parse(text.slice(offset, skipValue(text, offset)))).toBe(last);
        else expect(JSON.parse(text.slice(offset, skipValue(text, offset)))).toEqual(part);
      }
      expect(findRepeatedKey(text)).toBeUndefined();
      expect(skipValue(text, 0)).toBe(text.length);
    }),
  );
});

test("a path that leads nowhere gives the field around it", () => {
  const text = '{"a": {"b": [1, 2]}}';
  expect(text.slice(locateInJson(text, 0, ["a", "b", 7, "c"]))).toBe('"b": [1, 2]}}');
});

test("a key given twice is found, also deep inside; the same key elsewhere is none", () => {
  expect(findRepeatedKey('{"a": [{"x": 1}, {"x": 1, "y": {"x": 2}, "x": 3}]}')).toEqual({ offset: 41, key: "x" });
});

test("the path to a key is told from its offset", () => {
  const text = ' {"a": [{"x": 1}, {"x": 1, "y": {"x": 2}, "z": 3}]}';
  expect(pathToKey(text, 0, text.indexOf('"z"'))).toEqual(["a", 1, "z"]);
  expect(pathToKey(text, 0, text.indexOf('{"x": 2') + 1)).toEqual(["a", 1, "y", "x"]);
  expect(pathToKey(text, 0, text.length)).toBeUndefined();
});

test("paths as people write them, and back", () => {
  fc.assert(
    fc.property(fc.array(fc.oneof(fc.nat(99), fc.stringMatching(/^[a-z][a-zA-Z]{0,9}$/), fc.constant("example.com/team"))), (path) => {
      expect(parseFieldPath(formatFieldPath(path))).toEqual(path);
    }),
  );
});
