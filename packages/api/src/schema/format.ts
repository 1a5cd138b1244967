/** The `format`s of strings that an API server checks; others are notes for people. */
import { parseGoDuration } from "../duration.ts";
import { compilePattern } from "./regular-expression.ts";

const DATE = /^\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])$/;
const DATE_TIME = /^(\d{4}-\d{2}-\d{2})[Tt]([01]\d|2[0-3]):[0-5]\d:([0-5]\d|60)(\.\d+)?([Zz]|[+-]([01]\d|2[0-3]):[0-5]\d)$/;
/** Days and weeks, which Go's own durations do not have. */
const LONG_UNITS: Readonly<Record<string, bigint>> = { d: 24n * 3600n * 1_000_000_000n, w: 7n * 24n * 3600n * 1_000_000_000n };
const IPV4 = /^((25[0-5]|2[0-4]\d|1?\d?\d)\.){3}(25[0-5]|2[0-4]\d|1?\d?\d)$/;

function isDate(text: string): boolean {
  if (!DATE.test(text)) return false;
  const day = new Date(`${text}T00:00:00Z`);
  return !Number.isNaN(day.getTime()) && day.toISOString().startsWith(text);
}

/** Nanoseconds of a text of format `duration`: Go's durations, and whole days and weeks. */
export function parseFormattedDuration(text: string): bigint | undefined {
  const [, count, unit] = /^(\d{1,9})\s*([dw])$/.exec(text) ?? [];
  return count === undefined ? parseGoDuration(text) : BigInt(count) * LONG_UNITS[unit!]!;
}

function isIpv6(text: string): boolean {
  return text.includes(":") && URL.canParse(`http://[${text}]/`);
}

function isPattern(text: string): boolean {
  try {
    compilePattern(text);
    return true;
  } catch {
    return false;
  }
}

const CHECKS: Readonly<Record<string, (text: string) => boolean>> = {
  date: isDate,
  "date-time": (text) => isDate(DATE_TIME.exec(text)?.[1] ?? ""),
  duration: (text) => parseFormattedDuration(text) !== undefined,
  byte: (text) => /^([A-Za-z0-9+/]{4})*([A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/.test(text),
  uuid: (text) => /^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i.test(text),
  email: (text) => /^[^@\s]+@[^@\s]+$/.test(text),
  hostname: (text) => text.length <= 253 && /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/i.test(text),
  ipv4: (text) => IPV4.test(text),
  ipv6: isIpv6,
  cidr: (text) => {
    const [address = "", bits = ""] = text.split("/", 2);
    return /^\d{1,3}$/.test(bits) && (IPV4.test(address) ? Number(bits) <= 32 : isIpv6(address) && Number(bits) <= 128);
  },
  mac: (text) => /^([0-9a-f]{2}[:-]){5}[0-9a-f]{2}$/i.test(text),
  uri: (text) => URL.canParse(text),
  regexp: isPattern,
};

/** False when the text is none of the format; true for formats that nobody checks. */
export function isOfFormat(text: string, format: string): boolean {
  return CHECKS[format]?.(text) ?? true;
}

/** The numbers that a format of `type: integer` admits. */
export function integerRange(format: string | undefined): readonly [bigint, bigint] {
  return format === "int32" ? [-(2n ** 31n), 2n ** 31n - 1n] : [-(2n ** 63n), 2n ** 63n - 1n];
}
