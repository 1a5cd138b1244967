/** CEL's `'%s of %d'.format([…])`, which message expressions like to use. */
import { Duration, UnsignedInt } from "@marcbachmann/cel-js/evaluator";

const VERB = /%(?:\.(\d+))?([sdfebxXo%])/g;

/** Throws when the values do not fit the text. */
export function formatText(text: string, values: readonly unknown[]): string {
  let next = 0;
  return text.replaceAll(VERB, (_, precision: string | undefined, verb: string) => {
    if (verb === "%") return "%";
    if (next >= values.length) throw new RangeError(`index ${next} out of range`);
    return written(verb, values[next++], precision === undefined ? 6 : Number(precision));
  });
}

function written(verb: string, value: unknown, precision: number): string {
  switch (verb) {
    case "s":
      return plain(value);
    case "d":
      return String(typeof value === "number" ? value : integerOf(value));
    case "f":
      return Number(value).toFixed(precision);
    case "e":
      return Number(value)
        .toExponential(precision)
        .replace(/e([+-])(\d)$/, "e$10$2");
    case "b":
      return typeof value === "boolean" ? String(Number(value)) : integerOf(value).toString(2);
    case "o":
      return integerOf(value).toString(8);
    default:
      return hexadecimal(verb, value);
  }
}

function hexadecimal(verb: string, value: unknown): string {
  const digits =
    typeof value === "string"
      ? bytesInHex(new TextEncoder().encode(value))
      : value instanceof Uint8Array
        ? bytesInHex(value)
        : integerOf(value).toString(16);
  return verb === "X" ? digits.toUpperCase() : digits;
}

const bytesInHex = (bytes: Uint8Array) => [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");

function integerOf(value: unknown): bigint {
  if (typeof value === "bigint") return value;
  if (value instanceof UnsignedInt) return value.value;
  throw new TypeError("format needs an integer here");
}

/** Lists and maps in CEL's own writing, keys in order. */
function plain(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(plain).join(", ")}]`;
  if (value instanceof Date) return value.toISOString().replace(/\.000Z$/, "Z");
  if (value instanceof Duration || value instanceof UnsignedInt || typeof value !== "object" || value === null) return String(value);
  const entries = Object.entries(value).map(([key, child]) => `${key}: ${plain(child)}`);
  return `{${entries.sort().join(", ")}}`;
}
