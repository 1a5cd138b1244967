/** Lists in sentences. */

/** More than these are counted. */
const SHOWN_MAX = 5;

/** `a`, `a and b`, `a, b and 7 more`. */
export function listText(words: Iterable<string>, max: number = SHOWN_MAX): string {
  const all = [...words];
  const shown = all.length > max ? [...all.slice(0, max), `${all.length - max} more`] : all;
  return shown.length < 2 ? shown.join("") : `${shown.slice(0, -1).join(", ")} and ${shown.at(-1)}`;
}

/** `1 pod`, `2 pods`. */
export function countText(count: number, word: string): string {
  return `${count} ${word}${count === 1 ? "" : "s"}`;
}
