import { isEqualJson } from "@joinery/api";
import fc from "fast-check";
import { expect, test } from "vitest";
import { applyMergePatch, mergePatchBetween } from "./merge-patch.ts";

// The examples of RFC 7386, appendix A.
test.each([
  [{ a: "b" }, { a: "c" }, { a: "c" }],
  [{ a: "b" }, { b: "c" }, { a: "b", b: "c" }],
  [{ a: "b" }, { a: null }, {}],
  [{ a: "b", b: "c" }, { a: null }, { b: "c" }],
  [{ a: ["b"] }, { a: "c" }, { a: "c" }],
  [{ a: "c" }, { a: ["b"] }, { a: ["b"] }],
  [{ a: { b: "c" } }, { a: { b: "d", c: null } }, { a: { b: "d" } }],
  [{ a: [{ b: "c" }] }, { a: [1] }, { a: [1] }],
  [
    ["a", "b"],
    ["c", "d"],
    ["c", "d"],
  ],
  [{ a: "b" }, ["c"], ["c"]],
  [{ a: "foo" }, null, null],
  [{ a: "foo" }, "bar", "bar"],
  [{ e: null }, { a: 1 }, { e: null, a: 1 }],
  [[1, 2], { a: "b", c: null }, { a: "b" }],
  [{}, { a: { bb: { ccc: null } } }, { a: { bb: {} } }],
])("applying to %j the patch %j gives %j", (target, patch, result) => {
  expect(applyMergePatch(target, patch)).toEqual(result);
});

/** Objects as API servers hold them: no null anywhere in a map. */
const json = fc.letrec((tie) => ({
  value: fc.oneof({ maxDepth: 3 }, fc.constantFrom("x", 1, true, ""), fc.array(tie("value"), { maxLength: 2 }), tie("object")),
  object: fc.dictionary(fc.constantFrom("a", "b", "c", "__proto__", "constructor"), tie("value"), { maxKeys: 4 }),
})).object as fc.Arbitrary<Record<string, unknown>>;

test("the patch between two states leads from one to the other, and nothing is written into", () => {
  fc.assert(
    fc.property(json, json, (before, after) => {
      const [a, b] = [structuredClone(before), structuredClone(after)];
      const patch = mergePatchBetween(before, after);
      const result = patch === undefined ? before : applyMergePatch(before, patch);
      expect(isEqualJson(result, after)).toBe(true);
      expect(patch === undefined).toBe(isEqualJson(a, b));
      expect([before, after]).toEqual([a, b]);
    }),
  );
});
