import fc from "fast-check";
import { expect, test } from "vitest";
import { ALL, ANY, BITS, BLOCK_WORDS, bitOf, ClaimSet } from "./claim-set.ts";

const claims = fc.array(fc.nat({ max: 2500 }), { maxLength: 60 });
/** Whole words now and then, or no summary would ever say "all". */
const calls = fc.array(fc.record({ claim: fc.nat({ max: 2500 }), isAdded: fc.boolean(), isWord: fc.boolean() }), { maxLength: 60 });

test("claim sets are sets, and their summaries tell the truth", () => {
  fc.assert(
    fc.property(calls, (list) => {
      const set = new ClaimSet();
      const model = new Set<number>();
      for (const { claim, isAdded, isWord } of list) {
        for (const one of isWord ? wordOf(claim) : [claim]) {
          if (isAdded) set.add(one);
          else set.delete(one);
          if (isAdded) model.add(one);
          else model.delete(one);
        }
      }
      expect(listOf(set)).toEqual([...model].sort((a, b) => a - b));
      expectSummaries(set);
    }),
  );
});

test("a difference is added word by word", () => {
  fc.assert(
    fc.property(claims, claims, claims, (into, others, but) => {
      const set = setOf(into);
      set.addAllBut(setOf(others), setOf(but));
      const added = others.filter((claim) => !but.includes(claim));
      expect(listOf(set)).toEqual([...new Set([...into, ...added])].sort((a, b) => a - b));
      expectSummaries(set);
    }),
  );
});

function setOf(list: readonly number[]): ClaimSet {
  const set = new ClaimSet();
  for (const claim of list) set.add(claim);
  return set;
}

function wordOf(claim: number): number[] {
  return Array.from({ length: 32 }, (_, bit) => (claim & ~31) + bit);
}

function listOf(set: ClaimSet): number[] {
  return Array.from({ length: 4096 }, (_, claim) => claim).filter((claim) => set.has(claim));
}

function expectSummaries({ blocks }: ClaimSet): void {
  for (let base = 0; base < blocks.length; base += BLOCK_WORDS) {
    const words = Array.from({ length: 32 }, (_, place) => blocks[base + BITS + place]!);
    const summary = (holds: (word: number) => boolean) =>
      words.reduce((bits, word, place) => (holds(word) ? bits | bitOf(place) : bits), 0);
    expect([blocks[base + ANY], blocks[base + ALL]]).toEqual([summary((word) => word !== 0), summary((word) => word === -1)]);
  }
}
