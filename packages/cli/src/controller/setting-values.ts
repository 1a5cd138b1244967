/** The texts of flags and environment variables → values, as Go's flag package reads them. Rules O-3, O-5. */
import { nanosToMs, parseGoDuration } from "@joinery/api";

export type SettingKind = "text" | "int" | "float" | "bool" | "duration";

export interface SettingValues {
  readonly text: string;
  readonly int: number;
  readonly float: number;
  readonly bool: boolean;
  /** Milliseconds. */
  readonly duration: number;
}

type Parsers = { readonly [K in SettingKind]: (text: string) => SettingValues[K] | undefined };

const fromFlag: Parsers = {
  text: (text) => text,
  int: (text) => (/^[+-]?\d+$/.test(text) && Number.isSafeInteger(Number(text)) ? Number(text) : undefined),
  float: (text) => (text.trim() !== "" && Number.isFinite(Number(text)) ? Number(text) : undefined),
  bool: (text) => ({ true: true, false: false })[text],
  duration: (text) => {
    const nanos = parseGoDuration(text);
    return nanos === undefined ? undefined : nanosToMs(nanos);
  },
};

const fromEnvironment: Parsers = {
  ...fromFlag,
  bool: (text) => (/^(1|t|T|TRUE|true|True)$/.test(text) ? true : /^(0|f|F|FALSE|false|False)$/.test(text) ? false : undefined),
};

const WANTED: { readonly [K in SettingKind]: string } = {
  text: "text",
  int: "a whole number",
  float: "a number",
  bool: "true or false",
  duration: "a duration such as 10s or 1m30s",
};

/** undefined: the text does not parse, and is ignored as if it were not there (O-3). */
export function parseEnvironment<K extends SettingKind>(kind: K, text: string): SettingValues[K] | undefined {
  return fromEnvironment[kind](text);
}

/** Throws with a sentence: a malformed flag stops the start (O-3). */
export function parseFlag<K extends SettingKind>(kind: K, text: string): SettingValues[K] {
  const value = fromFlag[kind](text);
  if (value === undefined) throw new RangeError(`"${text}" is not valid; want ${WANTED[kind]}`);
  return value;
}
