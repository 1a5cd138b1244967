/** Selectors as the API server meets them: as text in queries, as JSON in objects. Grammar and meaning are kube's; what cannot be read is a 400. */
import type { LabelSelector } from "@joinery/api";
import {
  type FieldTerm,
  matchesLabelSelector,
  matchesTerms,
  parseFieldSelector as parseFieldTerms,
  parseLabelSelector as parseLabelTerms,
  SelectorError,
} from "@joinery/kube";
import { badRequest } from "../wire/status.ts";
import { isObject, type Json, type JsonObject, listAt, objectAt, objectsAt, textAt } from "./json.ts";

type Labels = Readonly<Record<string, string>>;
export type LabelTest = (labels: JsonObject | undefined) => boolean;

/** `a=b,c!=d,e in (f,g),h notin (i),j,!k`. Throws 400 on bad syntax. */
export function parseLabelSelector(text: string): LabelTest {
  const terms = orBadRequest(() => parseLabelTerms(text));
  return (labels) => matchesTerms(terms, labels as Labels | undefined);
}

/** `metadata.name=a,spec.nodeName!=b`. Throws 400 on bad syntax. */
export function parseFieldSelector(text: string): FieldTerm[] {
  return orBadRequest(() => parseFieldTerms(text));
}

/** A `LabelSelector` object as a test. A null selector matches nothing, an empty one everything. */
export function labelTestOf(selector: Json | undefined): LabelTest {
  if (!isObject(selector)) return () => false;
  return (labels) => matchesLabelSelector(selector as LabelSelector, labels as Labels | undefined);
}

/** A `LabelSelector` object as text, as `status.selector` of a Scale shows it. */
export function labelSelectorText(selector: Json | undefined): string {
  const equals = Object.entries(objectAt(selector, "matchLabels") ?? {}).map(([key, value]) => `${key}=${value}`);
  const expressions = objectsAt(selector, "matchExpressions").map((expression) => {
    const key = textAt(expression, "key") ?? "";
    const operator = textAt(expression, "operator");
    if (operator === "Exists") return key;
    if (operator === "DoesNotExist") return `!${key}`;
    return `${key} ${operator === "In" ? "in" : "notin"} (${[...listAt(expression, "values")].sort().join(",")})`;
  });
  return [...equals.sort(), ...expressions].join(",");
}

function orBadRequest<Result>(parse: () => Result): Result {
  try {
    return parse();
  } catch (error) {
    if (error instanceof SelectorError) throw badRequest(error.message);
    throw error;
  }
}
