/**
 * Kubernetes' `resource.Quantity` as an exact number. Like there, a quantity knows nothing finer than a billionth (finer parts are
 * rounded away from zero) and nothing greater than 2^63 - 1.
 */
import type { QuantityText } from "./kubernetes/meta.ts";

/** How a quantity was written, and therefore how it is written back. */
export type QuantityFormat = "DecimalSI" | "BinarySI" | "DecimalExponent";

export interface Quantity {
  /** The amount in billionths of the resource's unit. */
  readonly nanos: bigint;
  readonly format: QuantityFormat;
}

const NANOS = 1_000_000_000n;
/** The greatest amount that a quantity holds, in billionths. */
const NANOS_MAX = (2n ** 63n - 1n) * NANOS;
const SHAPE = /^([+-]?)(\d*)(?:\.(\d*))?(?:([numkMGTPE]|[KMGTPE]i)|[eE]([+-]?\d+))?$/;
const DECIMAL_EXPONENTS: Readonly<Record<string, number>> = { n: -9, u: -6, m: -3, k: 3, M: 6, G: 9, T: 12, P: 15, E: 18 };
const DECIMAL_SUFFIXES: Readonly<Record<number, string>> = { ...suffixes(DECIMAL_EXPONENTS), 0: "" };
const BINARY_SUFFIXES = ["", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"];
/** Beyond these powers of ten every amount is the greatest or the smallest one, so that `1e999999999` costs nothing. */
const EXPONENT_MAX = 40;
const DIGITS_MAX = 100;

/** Reads `1500m`, `2`, `1.5Gi`, `1e3` … exactly. Undefined when the text is no quantity. */
export function parseQuantity(text: QuantityText): Quantity | undefined {
  const match = SHAPE.exec(String(text));
  if (match === null) return undefined;
  const [, sign, whole = "", fraction = "", suffix = "", exponent] = match;
  if (whole === "" && fraction === "") return undefined;
  const size = magnitude(whole.replace(/^0+/, ""), fraction, suffix, exponent);
  const format = exponent !== undefined ? "DecimalExponent" : suffix.endsWith("i") ? "BinarySI" : "DecimalSI";
  return { nanos: sign === "-" ? -size : size, format };
}

/** As `parseQuantity`, for texts that admission has already accepted. Throws on anything else. */
export function quantityOf(text: QuantityText): Quantity {
  const quantity = parseQuantity(text);
  if (quantity === undefined)
    throw new RangeError(`Cannot read quantity: "${text}" is none, want a number with a suffix such as m, k or Mi`);
  return quantity;
}

/** The canonical text of an amount: no fraction, the greatest suffix that needs none. */
export function formatQuantity({ nanos, format }: Quantity): string {
  if (nanos === 0n) return "0";
  const isSmall = nanos > -1024n * NANOS && nanos < 1024n * NANOS;
  if (format === "BinarySI" && !isSmall) return formatBinary(divideUp(nanos, NANOS));
  return formatDecimal(nanos, format);
}

/** `1024Gi` → `1Ti`. Undefined when the text is no quantity. */
export function canonicalQuantity(text: QuantityText): string | undefined {
  const quantity = parseQuantity(text);
  return quantity && formatQuantity(quantity);
}

/** Integer division away from zero: whoever asks for a part of a unit gets a unit. */
export function divideUp(dividend: bigint, divisor: bigint): bigint {
  const quotient = dividend / divisor;
  if (quotient * divisor === dividend) return quotient;
  return dividend < 0n ? quotient - 1n : quotient + 1n;
}

function magnitude(whole: string, fraction: string, suffix: string, exponent: string | undefined): bigint {
  if (!/[1-9]/.test(whole + fraction)) return 0n;
  const digits = BigInt((whole + fraction).slice(0, DIGITS_MAX));
  const dropped = Math.max(whole.length + fraction.length - DIGITS_MAX, 0);
  const power = BINARY_SUFFIXES.indexOf(suffix);
  const scale = exponent === undefined ? (DECIMAL_EXPONENTS[suffix] ?? 0) : Number(exponent);
  const tens = scale - fraction.length + dropped + 9;
  if (tens > EXPONENT_MAX) return NANOS_MAX;
  const amount = (digits === 0n ? 1n : digits) * (suffix.endsWith("i") ? 1024n ** BigInt(power) : 1n);
  const size = tens >= 0 ? amount * 10n ** BigInt(tens) : divideUp(amount, 10n ** BigInt(Math.min(-tens, 2 * DIGITS_MAX)));
  return size > NANOS_MAX ? NANOS_MAX : size;
}

function formatBinary(amount: bigint): string {
  let mantissa = amount;
  let power = 0;
  while (mantissa % 1024n === 0n && power < BINARY_SUFFIXES.length - 1) {
    mantissa /= 1024n;
    power++;
  }
  return `${mantissa}${BINARY_SUFFIXES[power]}`;
}

function formatDecimal(nanos: bigint, format: QuantityFormat): string {
  let mantissa = nanos;
  let exponent = -9;
  while (mantissa % 1000n === 0n && exponent < 18) {
    mantissa /= 1000n;
    exponent += 3;
  }
  if (format === "DecimalExponent") return exponent === 0 ? String(mantissa) : `${mantissa}e${exponent}`;
  return `${mantissa}${DECIMAL_SUFFIXES[exponent]}`;
}

function suffixes(exponents: Readonly<Record<string, number>>): Record<number, string> {
  return Object.fromEntries(Object.entries(exponents).map(([suffix, exponent]) => [exponent, suffix]));
}
