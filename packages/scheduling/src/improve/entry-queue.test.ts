import fc from "fast-check";
import { expect, test } from "vitest";
import { EntryQueue } from "./entry-queue.ts";

const RATIOS = fc.array(fc.constantFrom(0, 1, 2, 3, Number.POSITIVE_INFINITY), { minLength: 1, maxLength: 40 });

test("entries come by ratio, then by number, also after some have changed", () => {
  fc.assert(
    fc.property(RATIOS, fc.array(fc.nat(3), { maxLength: 20 }), (list, raises) => {
      const ratios = Float64Array.from(list);
      const queue = new EntryQueue(ratios);
      const model = new Set([...ratios.keys()].filter((entry) => ratios[entry] !== Number.POSITIVE_INFINITY));
      const least = () => [...model].sort((a, b) => ratios[a]! - ratios[b]! || a - b)[0] ?? -1;
      for (const raise of raises) {
        expect(queue.first).toBe(least());
        if (queue.first < 0) return;
        const entry = queue.take();
        ratios[entry] = raise === 3 ? Number.POSITIVE_INFINITY : ratios[entry]! + raise;
        queue.put(entry);
        if (raise === 3) model.delete(entry);
      }
      const rest: number[] = [];
      while (queue.first >= 0) rest.push(queue.take());
      expect(rest).toEqual([...model].sort((a, b) => ratios[a]! - ratios[b]! || a - b));
    }),
  );
});
