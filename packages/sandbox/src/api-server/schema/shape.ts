/** The structure of the built-in kinds: which fields there are, how lists merge. Read lazily from the generated notation. */
import { kinds, types } from "./kubernetes-types.generated.ts";

export type ListType = "atomic" | "set" | "map";

export type Shape =
  | { readonly kind: "string" | "bytes" | "integer" | "number" | "boolean" | "quantity" | "int-or-string" | "time" | "micro-time" | "any" }
  | {
      readonly kind: "object";
      readonly name?: string;
      readonly fields: ReadonlyMap<string, Field>;
      readonly isAtomic: boolean;
      readonly isOpen?: boolean;
    }
  | { readonly kind: "map"; readonly value: Shape; readonly isAtomic: boolean }
  | {
      readonly kind: "list";
      readonly item: Shape;
      readonly listType: ListType;
      readonly keys: readonly string[];
      readonly merge?: ListMerge;
    };

/** How a strategic merge patch treats a list. `key` is absent for lists of scalars. */
interface ListMerge {
  readonly key?: string;
}

export interface Field {
  readonly shape: Shape;
  readonly allowed?: readonly string[];
  readonly isRequired: boolean;
  readonly retainsKeys: boolean;
}

export const anyShape: Shape = { kind: "any" };

const made = new Map<string, Shape>();

/** The shape of a built-in kind, e.g. of `apps/v1` and `Deployment`; undefined for a kind that is not built in. */
export function shapeOfKind(apiVersion: string, kind: string): Shape | undefined {
  const name = kinds[`${apiVersion}/${kind}`];
  return name === undefined ? undefined : shapeOfType(name);
}

/** The shape of a named type, e.g. `core.v1.PodSpec`. */
export function shapeOfType(name: string): Shape {
  const known = made.get(name);
  if (known !== undefined) return known;
  const notation = types[name];
  if (notation === undefined || notation === "") return anyShape;
  const fields = new Map<string, Field>();
  const shape: Shape = { kind: "object", name, fields, isAtomic: notation.startsWith("* ") };
  made.set(name, shape);
  for (const text of notation.split(" ")) {
    if (text !== "*") readField(text, fields);
  }
  return shape;
}

/** Fields of the type MicroTime; all other times are kept in seconds. */
const MICRO_TIMES: ReadonlySet<string> = new Set(["acquireTime", "renewTime", "eventTime", "lastObservedTime"]);
const microTime: Shape = { kind: "micro-time" };

const scalars: Readonly<Record<string, Shape>> = {
  s: { kind: "string" },
  y: { kind: "bytes" },
  i: { kind: "integer" },
  n: { kind: "number" },
  b: { kind: "boolean" },
  q: { kind: "quantity" },
  o: { kind: "int-or-string" },
  t: { kind: "time" },
  x: anyShape,
};

function readField(text: string, into: Map<string, Field>): void {
  const [head = "", ...attributes] = text.split(";");
  const colon = head.indexOf(":");
  const value = (key: string) => attributes.find((attribute) => attribute.startsWith(`${key}=`))?.slice(2);
  const strategy = value("p")?.split(",") ?? [];
  const mergeKey = value("m");
  const list = {
    listType: (value("l") ?? "atomic") as ListType,
    keys: value("k")?.split("+") ?? [],
    ...(strategy.includes("merge") ? { merge: mergeKey === undefined ? {} : { key: mergeKey } } : {}),
  };
  const allowed = value("e")?.split("|");
  const name = head.slice(0, colon);
  const code = head.slice(colon + 1);
  into.set(name, {
    shape: code === "t" && MICRO_TIMES.has(name) ? microTime : lazily(code, attributes.includes("a"), list),
    ...(allowed === undefined ? {} : { allowed }),
    isRequired: attributes.includes("r"),
    retainsKeys: strategy.includes("retainKeys"),
  });
}

interface ListTraits {
  readonly listType: ListType;
  readonly keys: readonly string[];
  readonly merge?: ListMerge;
}

function lazily(code: string, isAtomic: boolean, list: ListTraits): Shape {
  if (code.startsWith("[]")) return { kind: "list", item: lazily(code.slice(2), false, plainList), ...list };
  if (code.startsWith("{}")) return { kind: "map", value: lazily(code.slice(2), false, plainList), isAtomic };
  if (code.startsWith("@")) return reference(code.slice(1), isAtomic);
  return scalars[code] ?? anyShape;
}

const plainList: ListTraits = { listType: "atomic", keys: [] };

/** A type is read when it is first asked for, since types such as JSONSchemaProps contain themselves. */
function reference(name: string, isAtomic: boolean): Shape {
  if (types[name] === undefined || types[name] === "") return anyShape;
  const target = () => shapeOfType(name) as Shape & { readonly kind: "object" };
  return {
    kind: "object",
    name,
    get fields() {
      return target().fields;
    },
    get isAtomic() {
      return isAtomic || target().isAtomic;
    },
  };
}
