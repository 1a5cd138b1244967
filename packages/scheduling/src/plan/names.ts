/** The order of names in plans: numbers within names compare as numbers, the rest by code unit. */

/** `node-2` before `node-10`. Total: texts that differ never compare as equal. */
export function compareNames(one: string, other: string): number {
  const a = one.match(/\d+|\D+/g) ?? [];
  const b = other.match(/\d+|\D+/g) ?? [];
  for (let part = 0; part < Math.min(a.length, b.length); part++) {
    const order = comparePart(a[part]!, b[part]!);
    if (order !== 0) return order;
  }
  return a.length - b.length || compareTexts(one, other);
}

/** By code unit, so that no locale changes a plan. */
export function compareTexts(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0;
}

function comparePart(one: string, other: string): number {
  if (/^\d/.test(one) && /^\d/.test(other)) {
    const [a, b] = [one.replace(/^0+(?=\d)/, ""), other.replace(/^0+(?=\d)/, "")];
    return a.length - b.length || compareTexts(a, b);
  }
  return compareTexts(one, other);
}
