/** FNV-1a, 32 bit: short names from content. Public-domain algorithm of Fowler, Noll and Vo. */

export function fnv1a32(text: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at++) {
    hash ^= text.charCodeAt(at);
    hash = Math.imul(hash, 0x01000193) >>> 0;
  }
  return hash;
}

/** Consonants and digits only, so that no word comes out by chance: the alphabet of Kubernetes' generated names. */
const SAFE_ALPHABET = "bcdfghjklmnpqrstvwxz2456789";

/** Objects of the API server never change, so each is hashed once. */
const known = new WeakMap<object, string>();

/** A label-safe word of up to ten letters for any JSON value; equal values with any key order give equal words. */
export function contentHash(value: object): string {
  let hash = known.get(value);
  if (hash === undefined) {
    hash = wordOf(value);
    known.set(value, hash);
  }
  return hash;
}

function wordOf(value: object): string {
  const digits = String(fnv1a32(canonicalJson(value)));
  return [...digits].map((digit) => SAFE_ALPHABET[(digit.charCodeAt(0) * 7) % SAFE_ALPHABET.length]).join("");
}

export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) {
    return `[${value.map(canonicalJson).join(",")}]`;
  }
  if (typeof value === "object" && value !== null) {
    const entries = Object.entries(value)
      .filter(([, item]) => item !== undefined)
      .sort(([a], [b]) => (a < b ? -1 : 1));
    return `{${entries.map(([key, item]) => `${JSON.stringify(key)}:${canonicalJson(item)}`).join(",")}}`;
  }
  return JSON.stringify(value) ?? "null";
}
