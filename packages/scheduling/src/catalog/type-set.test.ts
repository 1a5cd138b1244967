import fc from "fast-check";
import { expect, test } from "vitest";
import { AmountColumn } from "./amount-column.ts";
import { addAll, addTo, emptySet, fullSet, hasCommon, intersection, isEmpty, isIn } from "./type-set.ts";

const SIZE = 70;
const members = fc.uniqueArray(fc.nat({ max: SIZE - 1 }));
const setOf = (indexes: readonly number[]) => {
  const set = emptySet(SIZE);
  for (const index of indexes) addTo(set, index);
  return set;
};
const listOf = (set: Int32Array) => Array.from({ length: SIZE }, (_, index) => index).filter((index) => isIn(set, index));

test("sets behave like sets", () => {
  fc.assert(
    fc.property(members, members, (a, b) => {
      const common = a.filter((index) => b.includes(index)).sort((x, y) => x - y);
      expect(listOf(intersection(setOf(a), setOf(b)))).toEqual(common);
      expect(hasCommon(setOf(a), setOf(b))).toBe(common.length > 0);
      expect(isEmpty(setOf(a))).toBe(a.length === 0);
      const union = setOf(a);
      addAll(union, setOf(b));
      expect(listOf(union)).toEqual([...new Set([...a, ...b])].sort((x, y) => x - y));
    }),
  );
  expect(listOf(fullSet(SIZE))).toHaveLength(SIZE);
});

test("columns answer like a scan", () => {
  const amounts = fc.array(fc.integer({ min: -5, max: 20 }), { minLength: SIZE, maxLength: SIZE });
  fc.assert(
    fc.property(amounts, members, members, fc.integer({ min: -6, max: 22 }), (amountOf, present, asked, bound) => {
      const column = new AmountColumn(SIZE, setOf(present), (variant) => amountOf[variant]!);
      const sorted = [...present].sort((x, y) => x - y);
      expect(listOf(column.setOf(column.rowAtLeast(bound)))).toEqual(sorted.filter((variant) => amountOf[variant]! >= bound));
      expect(listOf(column.setOf(column.rowAbove(bound)))).toEqual(sorted.filter((variant) => amountOf[variant]! > bound));
      const both = present.filter((variant) => asked.includes(variant)).map((variant) => amountOf[variant]!);
      expect(column.greatestIn(setOf(asked))).toBe(Math.max(Number.NEGATIVE_INFINITY, ...both));
    }),
  );
});
