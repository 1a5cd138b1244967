/** Times as the API server's decoder takes them: RFC 3339, with exactly six digits of a second where the type is MicroTime. */

const LAYOUT = "2006-01-02T15:04:05Z07:00";
const MICRO_LAYOUT = "2006-01-02T15:04:05.000000Z07:00";

interface Element {
  readonly name: string;
  readonly takes: RegExp;
  readonly range?: readonly [what: string, min: number, max: number];
}

/** Each element of the layout, what of a text it takes, and between which numbers. */
const ELEMENTS: readonly Element[] = [
  { name: "2006", takes: /^\d{4}/ },
  { name: "-", takes: /^-/ },
  { name: "01", takes: /^\d{2}/, range: ["month", 1, 12] },
  { name: "-", takes: /^-/ },
  { name: "02", takes: /^\d{2}/ },
  { name: "T", takes: /^T/ },
  { name: "15", takes: /^\d{2}/, range: ["hour", 0, 23] },
  { name: ":", takes: /^:/ },
  { name: "04", takes: /^\d{2}/, range: ["minute", 0, 59] },
  { name: ":", takes: /^:/ },
  { name: "05", takes: /^\d{2}/, range: ["second", 0, 59] },
];
const FRACTION: Element = { name: "", takes: /^(\.\d+)?/ };
const MICROSECONDS: Element = { name: ".000000", takes: /^\.\d{6}/ };
const ZONE: Element = { name: "Z07:00", takes: /^(Z|[+-]\d{2}:\d{2})$/ };

/** Why the decoder refuses the text, in its words; undefined when it is a time. */
export function timeFault(text: string, isMicro: boolean): string | undefined {
  let rest = text;
  for (const { name, takes, range } of [...ELEMENTS, isMicro ? MICROSECONDS : FRACTION, ZONE]) {
    const [taken] = takes.exec(rest) ?? [];
    if (taken === undefined)
      return `parsing time ${JSON.stringify(text)} as "${isMicro ? MICRO_LAYOUT : LAYOUT}": cannot parse ${JSON.stringify(rest)} as "${name}"`;
    if (range !== undefined && (Number(taken) < range[1] || Number(taken) > range[2])) return outOfRange(text, range[0]);
    rest = rest.slice(taken.length);
  }
  return hasItsDay(text) ? undefined : outOfRange(text, "day");
}

function outOfRange(text: string, what: string): string {
  return `parsing time ${JSON.stringify(text)}: ${what} out of range`;
}

/** February has no 30th. */
function hasItsDay(text: string): boolean {
  const day = text.slice(0, 10);
  const atMidnight = new Date(`${day}T00:00:00Z`);
  return !Number.isNaN(atMidnight.getTime()) && atMidnight.toISOString().slice(0, 10) === day;
}

/** The same time in the form in which it is kept: UTC, in seconds or microseconds. `text` is one that `timeFault` finds nothing in. */
export function canonicalTime(text: string, isMicro: boolean): string {
  const [, seconds = "", fraction = "", zone = ""] = /^(.{19})(\.\d+)?(.+)$/.exec(text) ?? [];
  const utc = zone === "Z" ? seconds : new Date(`${seconds}${zone}`).toISOString().slice(0, 19);
  return `${utc}${isMicro ? fraction : ""}Z`;
}
