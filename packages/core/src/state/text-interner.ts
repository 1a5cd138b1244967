/** One text for equal texts and one object for equal amounts, so that 15,000 pods do not hold 15,000 copies of the same. */
import type { Resources } from "@joinery/api";

/** Distinct texts after which the table starts anew; what is held elsewhere stays, it only is no longer shared with newcomers. */
const TEXTS_MAX = 10_000;

export function createTextInterner(): { intern(text: string): string } {
  let texts = new Map<string, string>();
  return {
    intern(text) {
      const known = texts.get(text);
      if (known !== undefined) return known;
      if (texts.size >= TEXTS_MAX) texts = new Map();
      texts.set(text, text);
      return text;
    },
  };
}

export function createAmountsInterner(): { intern(amounts: Resources): Resources } {
  let known = new Map<string, Resources>();
  return {
    intern(amounts) {
      const key = JSON.stringify(Object.entries(amounts).sort(([one], [other]) => (one < other ? -1 : 1)));
      const held = known.get(key);
      if (held !== undefined) return held;
      if (known.size >= TEXTS_MAX) known = new Map();
      known.set(key, amounts);
      return amounts;
    },
  };
}
