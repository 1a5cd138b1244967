/** Field selectors: `metadata.name=a,spec.nodeName!=b`, with the API server's escapes (`\,`, `\=`, `\\`). */
import { SelectorError } from "./label-selector.ts";

export interface FieldTerm {
  readonly field: string;
  readonly isEqual: boolean;
  readonly value: string;
}

/** Throws `SelectorError`. Terms that say nothing (empty, or without field and value) are skipped, as the API server does. */
export function parseFieldSelector(text: string): FieldTerm[] {
  return splitUnescaped(text)
    .filter((term) => term !== "")
    .map((term) => parseTerm(term, text))
    .filter(({ field }) => field !== "");
}

/** What `parseFieldSelector` reads back as the same terms. */
export function formatFieldSelector(terms: readonly FieldTerm[]): string {
  return terms.map(({ field, isEqual, value }) => `${field}${isEqual ? "=" : "!="}${escapeValue(value)}`).join(",");
}

/** Whether all terms hold. `read` gives a field as text, and "" where it is unset. */
export function matchesFields(terms: readonly FieldTerm[], read: (field: string) => string): boolean {
  return terms.every(({ field, isEqual, value }) => (read(field) === value) === isEqual);
}

/** The field at a dotted path as selectors see it: "" where it is unset. */
export function readField(object: unknown, path: string): string {
  let value = object;
  for (const name of path.split(".")) {
    value =
      typeof value === "object" && value !== null && Object.hasOwn(value, name) ? (value as Record<string, unknown>)[name] : undefined;
  }
  return value === undefined || value === null || typeof value === "object" ? "" : String(value);
}

function parseTerm(term: string, text: string): FieldTerm {
  const found = /^([^=!]*)(!=|==|=)(.*)$/s.exec(term);
  if (found === null || (found[1] === "" && found[3] !== "")) {
    throw new SelectorError(
      `Cannot parse field selector ${JSON.stringify(text)}: found ${JSON.stringify(term)}, wanted field=value or field!=value`,
    );
  }
  return { field: found[1]!, isEqual: found[2] !== "!=", value: unescapeValue(found[3]!, text) };
}

function splitUnescaped(text: string): string[] {
  const terms: string[] = [];
  let start = 0;
  for (let at = 0; at < text.length; at++) {
    if (text[at] === "\\") {
      at++;
    } else if (text[at] === ",") {
      terms.push(text.slice(start, at));
      start = at + 1;
    }
  }
  terms.push(text.slice(start));
  return terms;
}

function escapeValue(value: string): string {
  return value.replace(/[\\,=]/g, (special) => `\\${special}`);
}

function unescapeValue(value: string, text: string): string {
  if (!/^(?:[^\\,=]|\\[\\,=])*$/s.test(value)) {
    throw new SelectorError(
      `Cannot parse field selector ${JSON.stringify(text)}: in a value, "\\", "," and "=" (and only they) are escaped with "\\"`,
    );
  }
  return value.replace(/\\(.)/gs, "$1");
}
