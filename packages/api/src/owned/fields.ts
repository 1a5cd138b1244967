/**
 * The building blocks of the schemas: TypeBox types that come out as a CRD's structural schema. TypeBox's own `Record` and `Union`
 * do not (they make `patternProperties` and `const`). Scalar formats are those of section 2 of the API's rules.
 */
import Type, { type Static, type TSchema, type TUnsafe } from "typebox";

/** One CEL rule of a CRD, as `x-kubernetes-validations` holds it. */
export interface Rule {
  readonly rule: string;
  readonly message: string;
  readonly reason?: "FieldValueInvalid" | "FieldValueForbidden" | "FieldValueRequired" | "FieldValueDuplicate";
  /** Of the offending field, relative to the rule's own place: `.spec.key`. */
  readonly fieldPath?: string;
}

/** Attaches CEL rules to a schema. */
export const rules = (...list: readonly Rule[]) => ({ "x-kubernetes-validations": list });

/** Objects that come from a cache are shared, so their types forbid writing, at every depth. */
export type Frozen<T> = T extends readonly (infer Item)[]
  ? readonly Frozen<Item>[]
  : T extends object
    ? { readonly [Key in keyof T]: Frozen<T[Key]> }
    : T;

export const text = (description: string, options: object = {}) => Type.String({ description, ...options });
export const flag = (description: string, options: object = {}) => Type.Boolean({ description, ...options });
export const int32 = (description: string, options: object = {}) => Type.Integer({ description, format: "int32", ...options });
export const int64 = (description: string, options: object = {}) => Type.Integer({ description, format: "int64", ...options });
export const time = (description: string) => Type.String({ description, format: "date-time" });
export const choice = <const Values extends string[]>(values: readonly [...Values], description: string, options: object = {}) =>
  Type.Enum(values, { type: "string", description, ...options });

/** A map from free keys to values of one schema. */
export function map<Value extends TSchema>(
  value: Value,
  description: string,
  options: object = {},
): TUnsafe<Record<string, Static<Value>>> {
  return Type.Unsafe<Record<string, Static<Value>>>({ type: "object", description, additionalProperties: value, ...options });
}

/** A list that is replaced as a whole by server-side apply. */
export const atomicList = <Item extends TSchema>(item: Item, description: string, options: object = {}) =>
  Type.Array(item, { description, "x-kubernetes-list-type": "atomic", ...options });

/** QUALKEY: optional lower-case DNS prefix and `/`, then a name. */
export const QUALIFIED_KEY =
  "^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*(\\/))?([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]$";
export const LABEL_VALUE = "^(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?$";
const QUANTITY = "^(\\+|-)?(([0-9]+(\\.[0-9]*)?)|(\\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\\+|-)?(([0-9]+(\\.[0-9]*)?)|(\\.[0-9]+))))?$";
const DURATION = "^([0-9]+(s|m|h))+$";
const NILLABLE_DURATION = "^(([0-9]+(s|m|h))+|Never)$";

/** Resource name → quantity text or whole number. */
export const resources = (description: string, options: object = {}) =>
  map(
    Type.Unsafe<string | number>({
      anyOf: [{ type: "integer" }, { type: "string" }],
      pattern: QUANTITY,
      "x-kubernetes-int-or-string": true,
    }),
    description,
    options,
  );

/** DUR: `1h30m`. */
export const duration = (description: string, options: object = {}) => text(description, { pattern: DURATION, ...options });
/** NDUR: `1h30m`, or `Never`. */
export const nillableDuration = (description: string, options: object = {}) =>
  text(description, { pattern: NILLABLE_DURATION, ...options });
