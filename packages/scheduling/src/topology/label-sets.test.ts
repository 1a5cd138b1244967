import fc from "fast-check";
import { expect, test } from "vitest";
import { LabelSets } from "./label-sets.ts";

const labels = fc.dictionary(fc.constantFrom("a", "b", "c"), fc.constantFrom("1", "2"));
const sets = fc.array(fc.record({ namespace: fc.constantFrom("x", "y"), labels }), { minLength: 2, maxLength: 12 });

test("equal label sets of one namespace have one number, in whatever order they are written", () => {
  fc.assert(
    fc.property(sets, (list) => {
      const table = new LabelSets();
      const numbers = list.map((set) => table.numberOf(set.namespace, set.labels));
      const backwards = list.map((set) => table.numberOf(set.namespace, Object.fromEntries(Object.entries(set.labels).reverse())));
      expect(backwards).toEqual(numbers);
      const texts = list.map((set) => JSON.stringify([set.namespace, Object.entries(set.labels).sort()]));
      for (const [one, text] of texts.entries()) {
        for (const [other, another] of texts.entries()) expect(numbers[one] === numbers[other]).toBe(text === another);
      }
    }),
  );
});
