/** Names that end in five letters, as the API server ends a `generateName`: by chance, or derived from what the object is for. */
import type { Random } from "../clock/clock.ts";
import { textHash } from "../clock/text-hash.ts";

/** No vowels, and no figures that look like letters, so that no word comes out. */
const ALPHABET = "bcdfghjklmnpqrstvwxz2456789";
const SUFFIX_LENGTH = 5;
const NAME_LENGTH_MAX = 63;

/** The base is cut as the API server cuts it: 63 characters with the suffix. */
export function generatedName(base: string, suffix: string): string {
  return base.slice(0, NAME_LENGTH_MAX - suffix.length) + suffix;
}

/** Five letters. */
export function randomNameSuffix(random: Random): string {
  return suffixOf(() => random.below(ALPHABET.length));
}

/** Equal texts give equal suffixes. 27^5 suffixes need 24 of the hash's 32 bits. */
export function derivedNameSuffix(text: string): string {
  let rest = textHash(text);
  return suffixOf(() => {
    const letter = rest % ALPHABET.length;
    rest = Math.floor(rest / ALPHABET.length);
    return letter;
  });
}

function suffixOf(draw: () => number): string {
  return Array.from({ length: SUFFIX_LENGTH }, () => ALPHABET[draw()]).join("");
}
