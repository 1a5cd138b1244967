/**
 * Cron schedules of disruption budgets. The grammar is that of section 13, parsed here strictly; finding the next hit is the library's
 * work, which only ever sees plain lists of numbers. All times are UTC.
 */
import { Cron } from "croner";

/** What a schedule says, or why it says nothing. */
export type ScheduleParse = { readonly schedule: Schedule } | { readonly error: string };

export interface Schedule {
  /**
   * The first hit strictly after a time, both in epoch milliseconds; undefined when there is none within five calendar years.
   */
  next(afterMs: number): number | undefined;
}

interface FieldSpec {
  readonly name: string;
  readonly least: number;
  readonly most: number;
  readonly words: readonly string[];
}

interface Field {
  readonly values: readonly number[];
  /** Whether an unstepped `*` or `?` is in it, which decides how the two day fields go together. */
  readonly hasStar: boolean;
}

const FIELDS: readonly FieldSpec[] = [
  { name: "minute", least: 0, most: 59, words: [] },
  { name: "hour", least: 0, most: 23, words: [] },
  { name: "day of month", least: 1, most: 31, words: [] },
  { name: "month", least: 1, most: 12, words: "jan feb mar apr may jun jul aug sep oct nov dec".split(" ") },
  { name: "day of week", least: 0, most: 6, words: "sun mon tue wed thu fri sat".split(" ") },
];

const MACROS: Readonly<Record<string, string>> = {
  "@yearly": "0 0 1 1 *",
  "@annually": "0 0 1 1 *",
  "@monthly": "0 0 1 * *",
  "@weekly": "0 0 * * 0",
  "@daily": "0 0 * * *",
  "@midnight": "0 0 * * *",
  "@hourly": "0 * * * *",
};

/** How far Karpenter looks ahead. */
const YEARS_MAX = 5;
/** Schedules that are in use at once; a cluster has a handful. */
const PARSED_MAX = 200;
const parsed = new Map<string, ScheduleParse>();

/** Reads a schedule; each text is read once. */
export function parseSchedule(text: string): ScheduleParse {
  let result = parsed.get(text);
  if (result === undefined) {
    if (parsed.size >= PARSED_MAX) parsed.clear();
    result = parse(text);
    parsed.set(text, result);
  }
  return result;
}

class BadField extends Error {}

function parse(text: string): ScheduleParse {
  const expanded = Object.hasOwn(MACROS, text) ? MACROS[text]! : text;
  if (expanded.startsWith("@")) return { error: `there is no macro "${text}"` };
  if (/^(TZ|CRON_TZ)=/.test(expanded)) return { error: "a time zone is not supported, schedules are in UTC" };
  const parts = expanded.trim().split(/\s+/);
  if (parts.length !== FIELDS.length) return { error: `want 5 fields, found ${parts.length}` };
  try {
    return { schedule: scheduleOf(parts.map((part, at) => parseField(part, FIELDS[at]!))) };
  } catch (error) {
    if (error instanceof BadField) return { error: error.message };
    throw error;
  }
}

function scheduleOf(fields: readonly Field[]): Schedule {
  const expression = fields.map(({ values }) => values.join(",")).join(" ");
  const mustBothMatch = fields[2]!.hasStar || fields[4]!.hasStar;
  const cron = new Cron(expression, { utcOffset: 0, mode: "5-part", paused: true, domAndDow: mustBothMatch });
  const lastYear = (ms: number) => new Date(ms).getUTCFullYear() + YEARS_MAX;
  return {
    next(afterMs) {
      const hit = cron.nextRun(new Date(Math.floor(afterMs / 1000) * 1000));
      return hit === null || hit.getUTCFullYear() > lastYear(afterMs) ? undefined : hit.getTime();
    },
  };
}

function parseField(text: string, spec: FieldSpec): Field {
  const pieces = text.split(",").filter((piece) => piece !== "");
  const parts = pieces.map((piece) => parsePiece(piece, spec));
  if (parts.length === 0) throw new BadField(`${spec.name} "${text}" is empty`);
  const values = [...new Set(parts.flatMap((part) => part.values))].sort((one, other) => one - other);
  return { values, hasStar: parts.some((part) => part.hasStar) };
}

function parsePiece(piece: string, spec: FieldSpec): Field {
  const [range = "", stepText, ...more] = piece.split("/");
  if (more.length > 0) throw new BadField(`${spec.name} "${piece}" has more than one step`);
  const step = stepText === undefined ? 1 : parseNumber(stepText, piece, spec);
  if (step === 0) throw new BadField(`${spec.name} "${piece}" has step 0`);
  const isStar = range === "*" || range === "?";
  const [start, end] = isStar ? [spec.least, spec.most] : parseRange(range, stepText !== undefined, piece, spec);
  if (start > end) throw new BadField(`${spec.name} "${piece}" starts at ${start}, beyond its end ${end}`);
  if (start < spec.least || end > spec.most) throw new BadField(`${spec.name} "${piece}" is not within ${spec.least} to ${spec.most}`);
  const count = Math.floor((end - start) / step) + 1;
  return { values: Array.from({ length: count }, (_, at) => start + at * step), hasStar: isStar && step === 1 };
}

/** `a-b`, or `n`: alone it is itself, with a step it goes to the end. */
function parseRange(range: string, hasStep: boolean, piece: string, spec: FieldSpec): readonly [number, number] {
  const bounds = range.split("-");
  if (bounds.length > 2) throw new BadField(`${spec.name} "${piece}" is no range`);
  const [start, end] = bounds.map((bound) => parseBound(bound, piece, spec));
  return [start!, end ?? (hasStep ? spec.most : start!)];
}

function parseBound(text: string, piece: string, spec: FieldSpec): number {
  const word = spec.words.indexOf(text.toLowerCase());
  return word < 0 ? parseNumber(text, piece, spec) : word + spec.least;
}

function parseNumber(text: string, piece: string, { name }: FieldSpec): number {
  if (!/^\d{1,9}$/.test(text)) throw new BadField(`${name} "${piece}" has "${text}" where a number should be`);
  return Number(text);
}
