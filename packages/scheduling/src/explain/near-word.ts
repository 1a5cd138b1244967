/** The known word that a misspelt one was probably meant to be. */
import { LABEL_SUCCESSORS, ZONE_LABEL } from "@joinery/api";

/** Words of this length may differ in one letter from the one that was meant, longer ones in two. */
const SHORT_MAX = 5;
/** In shorter words any letter changes the meaning. */
const LENGTH_MIN = 3;

/** undefined when no word is near, or several are equally near, as zones are to each other. */
export function nearWord(word: string, known: Iterable<string>): string | undefined {
  if (word.length < LENGTH_MIN) return undefined;
  const limit = word.length <= SHORT_MAX ? 1 : 2;
  let least = limit + 1;
  let nearest: string[] = [];
  for (const candidate of new Set(known)) {
    if (Math.abs(candidate.length - word.length) > limit) continue;
    const distance = editDistance(word.toLowerCase(), candidate.toLowerCase());
    if (distance > limit || distance > least) continue;
    nearest = distance < least ? [candidate] : [...nearest, candidate];
    least = distance;
  }
  return nearest.length === 1 ? nearest[0] : undefined;
}

/** The known label that was probably meant: a part of a key may be missing or wrong before the slash, too. */
export function nearKey(key: string, known: ReadonlySet<string>): string | undefined {
  const successor = Object.hasOwn(LABEL_SUCCESSORS, key) ? LABEL_SUCCESSORS[key]! : undefined;
  if (successor !== undefined && known.has(successor)) return successor;
  const near = nearWord(key, known);
  if (near !== undefined) return near;
  const sameTail = [...known].filter((one) => one.slice(one.indexOf("/") + 1) === key.slice(key.indexOf("/") + 1));
  return sameTail.length === 1 ? sameTail[0] : undefined;
}

/** Names that other tools have for values of labels (`uname -m`). */
const ALIASES: Readonly<Record<string, string>> = { x86_64: "amd64", "x86-64": "amd64", x64: "amd64", aarch64: "arm64" };

/** The known value of a label that was probably meant by one that nothing has. */
export function nearValue(key: string, value: string, known: Iterable<string>): string | undefined {
  const values = [...new Set(known)];
  const alias = ALIASES[value.toLowerCase()];
  if (alias !== undefined && values.includes(alias)) return alias;
  const near = nearWord(value, values);
  if (near !== undefined || key !== ZONE_LABEL) return near;
  // Zones are equally near to each other, and one of them is as good as the next.
  return values.filter((candidate) => editDistance(value.toLowerCase(), candidate.toLowerCase()) === 1).sort()[0];
}

/** The words that come nearest, however far they are, the nearest first; for "there is no such thing". */
export function nearestWords(word: string, known: Iterable<string>, most: number): readonly string[] {
  const ranked = Array.from(new Set(known), (candidate) => ({
    candidate,
    distance: candidate.includes(word) ? 0 : editDistance(word.toLowerCase(), candidate.toLowerCase()),
  }));
  ranked.sort((a, b) => a.distance - b.distance || (a.candidate < b.candidate ? -1 : 1));
  return ranked.slice(0, most).map(({ candidate }) => candidate);
}

/** Insertions, deletions, replacements and swaps of neighbours (optimal string alignment). */
function editDistance(one: string, other: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: other.length + 1 }, (_, index) => index);
  for (let row = 1; row <= one.length; row++) {
    const next = [row];
    for (let column = 1; column <= other.length; column++) {
      const isSame = one[row - 1] === other[column - 1];
      let least = Math.min(last[column]! + 1, next[column - 1]! + 1, last[column - 1]! + (isSame ? 0 : 1));
      const isSwap = row > 1 && column > 1 && one[row - 1] === other[column - 2] && one[row - 2] === other[column - 1];
      if (isSwap) least = Math.min(least, beforeLast[column - 2]! + 1);
      next.push(least);
    }
    [beforeLast, last] = [last, next];
  }
  return last[other.length]!;
}
