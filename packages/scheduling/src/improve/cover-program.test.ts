/** The linear program against programs whose optimum is known, and its own proof of others. */
import { describe, expect, test } from "vitest";
import { CoverProgram, type Pattern } from "./cover-program.ts";
import { SeededRandom } from "./seeded-random.ts";

/** Offers all of them until none makes it cheaper. */
function solved(sizes: readonly number[], singles: readonly Pattern[], more: readonly Pattern[]): CoverProgram {
  const program = new CoverProgram(sizes, singles);
  for (let isCheaper = true; isCheaper; ) {
    isCheaper = false;
    for (const pattern of [...singles, ...more]) if (program.offer(pattern, 0)) isCheaper = true;
  }
  return program;
}

const single = (row: number, count: number, price: number): Pattern => ({ price, items: [row, count] });

describe("the cheapest patterns", () => {
  test("singles alone are bought for what they hold", () => {
    const program = solved([10, 6], [single(0, 4, 1), single(1, 3, 2)], []);
    expect(program.price).toBeCloseTo(2.5 + 4);
    expect([...program.worth]).toEqual([1 / 4, 2 / 3]);
  });

  test("a pattern of both is bought as often as it is of use, and the rest alone", () => {
    const both: Pattern = { price: 2, items: [0, 2, 1, 2] };
    const program = solved([10, 6], [single(0, 1, 1), single(1, 1, 1)], [both]);
    expect(program.price).toBeCloseTo(3 * 2 + 4);
    expect(program.bought.find(({ pattern }) => pattern === both)!.amount).toBeCloseTo(3);
  });

  test("where a pattern holds more than there is, that costs nothing", () => {
    const large: Pattern = { price: 1, items: [0, 10, 1, 1] };
    const program = solved([10, 6], [single(0, 10, 10), single(1, 1, 1)], [large]);
    expect(program.price).toBeCloseTo(6);
    expect(program.worth[0]).toBeCloseTo(0);
  });

  test("a pattern that saves less than is asked for is refused", () => {
    const program = new CoverProgram([4], [single(0, 1, 1)]);
    expect(program.offer(single(0, 100, 99), 0.1)).toBe(false);
    expect(program.offer(single(0, 100, 50), 0.1)).toBe(true);
  });
});

test("what pods are worth proves that random programs are at their optimum", () => {
  const random = new SeededRandom(7);
  for (let run = 0; run < 100; run++) {
    const rows = 1 + random.below(12);
    const sizes = Array.from({ length: rows }, () => 1 + random.below(50));
    const singles = sizes.map((_, row) => single(row, 1 + random.below(3), 1 + random.unit()));
    const more = Array.from({ length: 40 }, (): Pattern => {
      const items = sizes.flatMap((_, row) => (random.unit() < 0.4 ? [row, 1 + random.below(5)] : []));
      return { price: 0.5 + 4 * random.unit(), items };
    });
    const program = solved(sizes, singles, more);
    // Every pod has its place, and multipliers that credit no pattern with more than its price add up to what is paid.
    const held = sizes.map(() => 0);
    for (const { pattern, amount } of program.bought) {
      expect(amount).toBeGreaterThanOrEqual(0);
      for (let at = 0; at < pattern.items.length; at += 2) held[pattern.items[at]!]! += pattern.items[at + 1]! * amount;
    }
    for (const [row, size] of sizes.entries()) expect(held[row]).toBeGreaterThan(size - 1e-6);
    for (const { price, items } of [...singles, ...more]) {
      let credit = 0;
      for (let at = 0; at < items.length; at += 2) credit += program.worth[items[at]!]! * items[at + 1]!;
      expect(credit).toBeLessThan(price + 1e-6);
    }
    for (const worth of program.worth) expect(worth).toBeGreaterThan(-1e-6);
    expect(sizes.reduce((sum, size, row) => sum + size * program.worth[row]!, 0)).toBeCloseTo(program.price, 6);
  }
});
