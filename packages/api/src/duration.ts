/** Durations: Karpenter's own texts (rules A-3…A-7) and those of the Go language. All amounts are exact nanoseconds. */

/** The greatest duration that has a value at run time, in nanoseconds. */
export const DURATION_MAX_NANOS = 2n ** 63n - 1n;

const UNIT_NANOS: Readonly<Record<string, bigint>> = {
  ns: 1n,
  us: 1_000n,
  µs: 1_000n,
  μs: 1_000n,
  ms: 1_000_000n,
  s: 1_000_000_000n,
  m: 60_000_000_000n,
  h: 3_600_000_000_000n,
};
const TERM = /(\d+(?:\.\d*)?|\.\d+)(ns|us|µs|μs|ms|s|m|h)/y;

/** `Never` is a duration that does not end. */
export type NillableDuration = bigint | "Never";

/**
 * Reads DUR (`1h30m5s`, whole terms of s, m, h in any order) as nanoseconds. Undefined when the text is none or has no value at run
 * time.
 */
export function parseDuration(text: string): bigint | undefined {
  return /^(\d+(s|m|h))+$/.test(text) ? parseGoDuration(text) : undefined;
}

/** Reads NDUR: DUR, or exactly `Never`. */
export function parseNillableDuration(text: string): NillableDuration | undefined {
  return text === "Never" ? "Never" : parseDuration(text);
}

/** Reads what Go's `time.ParseDuration` reads: `-1.5h`, `300ms`, `0`. Nanoseconds; parts of one are cut off. */
export function parseGoDuration(text: string): bigint | undefined {
  const isNegative = text.startsWith("-");
  const body = /^[+-]/.test(text) ? text.slice(1) : text;
  if (body === "0") return 0n;
  if (body === "") return undefined;
  let nanos = 0n;
  TERM.lastIndex = 0;
  while (TERM.lastIndex < body.length) {
    const match = TERM.exec(body);
    if (match === null) return undefined;
    nanos += termNanos(match[1]!, UNIT_NANOS[match[2]!]!);
    if (nanos > DURATION_MAX_NANOS + (isNegative ? 1n : 0n)) return undefined;
  }
  return isNegative ? -nanos : nanos;
}

function termNanos(number: string, unit: bigint): bigint {
  const [whole = "", fraction = ""] = number.split(".");
  const digits = fraction.slice(0, 18);
  return BigInt(whole || "0") * unit + (BigInt(digits || "0") * unit) / 10n ** BigInt(digits.length);
}

/** Writes as Go does: `48h0m0s`, `1.5s`, `0s`. */
export function formatGoDuration(nanos: bigint): string {
  if (nanos === 0n) return "0s";
  const sign = nanos < 0n ? "-" : "";
  const size = nanos < 0n ? -nanos : nanos;
  if (size < UNIT_NANOS.s!) return sign + formatSmall(size);
  const hours = size / UNIT_NANOS.h!;
  const minutes = (size / UNIT_NANOS.m!) % 60n;
  const seconds = `${decimal(size % UNIT_NANOS.m!, 9)}s`;
  if (hours > 0n) return `${sign}${hours}h${minutes}m${seconds}`;
  return sign + (minutes > 0n ? `${minutes}m${seconds}` : seconds);
}

/** Whole milliseconds, for clocks; parts are cut off. */
export function nanosToMs(nanos: bigint): number {
  return Number(nanos / 1_000_000n);
}

function formatSmall(nanos: bigint): string {
  if (nanos < 1_000n) return `${nanos}ns`;
  return nanos < 1_000_000n ? `${decimal(nanos, 3)}µs` : `${decimal(nanos, 6)}ms`;
}

function decimal(amount: bigint, digits: number): string {
  const scale = 10n ** BigInt(digits);
  const fraction = String(amount % scale)
    .padStart(digits, "0")
    .replace(/0+$/, "");
  return fraction === "" ? String(amount / scale) : `${amount / scale}.${fraction}`;
}
