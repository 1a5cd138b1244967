/** JSON values: what an object is, when two values say the same, and their canonical order. */

/** The order of fields, and fields that are undefined, do not count. */
export function isEqualJson(one: unknown, other: unknown): boolean {
  if (one === other) return true;
  if (typeof one !== "object" || typeof other !== "object" || one === null || other === null) return false;
  if (Array.isArray(one) || Array.isArray(other)) {
    return (
      Array.isArray(one) && Array.isArray(other) && one.length === other.length && one.every((item, at) => isEqualJson(item, other[at]))
    );
  }
  const names = presentNames(one);
  if (names.length !== presentNames(other).length) return false;
  return names.every((name) => Object.hasOwn(other, name) && isEqualJson(propertyOf(one, name), propertyOf(other, name)));
}

export type JsonObject = Readonly<Record<string, unknown>>;

/** Neither null nor a list. */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** A copy in which the fields of every object stand in the order of their names, so that equal values give equal text. */
export function withSortedKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withSortedKeys);
  if (!isObject(value)) return value;
  const names = Object.keys(value).sort();
  return Object.fromEntries(names.map((name) => [name, withSortedKeys(value[name])]));
}

/** An own property; undefined for what only the prototype has. */
export function propertyOf(value: object, name: string): unknown {
  return Object.hasOwn(value, name) ? (value as JsonObject)[name] : undefined;
}

function presentNames(value: object): string[] {
  return Object.keys(value).filter((name) => (value as JsonObject)[name] !== undefined);
}
