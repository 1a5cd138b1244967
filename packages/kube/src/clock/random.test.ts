import { expect, test } from "vitest";
import { createRandom, createSystemRandom, randomUuid } from "./random.ts";

test("the same seed repeats; another seed and another name do not", () => {
  const draw = (random: { below(bound: number): number }) => Array.from({ length: 20 }, () => random.below(1_000_000));
  expect(draw(createRandom(4711))).toEqual(draw(createRandom("4711")));
  expect(draw(createRandom(4711))).not.toEqual(draw(createRandom(4712)));
  const parent = createRandom("seed");
  const before = draw(parent.split("a"));
  parent.below(10);
  expect(draw(parent.split("a"))).toEqual(before);
  expect(draw(parent.split("b"))).not.toEqual(before);
});

test("numbers are pinned, so that a seed of a bug report still means the same", () => {
  const random = createRandom("joinery");
  expect([random.below(1000), random.below(1000), random.below(1000), random.fraction().toFixed(6)]).toMatchInlineSnapshot(`
    [
      95,
      454,
      24,
      "0.717414",
    ]
  `);
});

test.each([createRandom(1), createSystemRandom()])("draws are even and within bounds", (random) => {
  const counts = Array.from({ length: 7 }, () => 0);
  for (let n = 0; n < 14_000; n++) counts[random.below(7)]!++;
  for (const count of counts) expect(Math.abs(count - 2000)).toBeLessThan(300);
  for (let n = 0; n < 1000; n++) {
    const fraction = random.fraction();
    expect(fraction >= 0 && fraction < 1).toBe(true);
    expect(random.below(2 ** 40)).toBeLessThan(2 ** 40);
  }
});

test("UUIDs have the form that Kubernetes gives them", () => {
  const random = createRandom(7);
  expect(randomUuid(random)).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
});
