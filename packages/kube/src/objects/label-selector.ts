/** Label selectors: as objects (`matchLabels`, `matchExpressions`) and as text in queries, with the API server's grammar and meaning. */
import { type LabelSelector, operatorHolds } from "@joinery/api";

export type Labels = Readonly<Record<string, string>>;

export type SelectorOperator = "In" | "NotIn" | "Exists" | "DoesNotExist" | "Gt" | "Lt";

/** One term; all terms of a selector must hold. */
export interface SelectorTerm {
  readonly key: string;
  readonly operator: SelectorOperator;
  readonly values: readonly string[];
}

/** A selector in text that the API server would refuse. */
export class SelectorError extends Error {
  override readonly name = "SelectorError";
}

/**
 * Whether `labels` are selected. As in Kubernetes an absent selector selects nothing and an empty one everything; `NotIn` holds where the
 * label is missing.
 */
export function matchesLabelSelector(selector: LabelSelector | undefined, labels: Labels | undefined): boolean {
  if (selector === undefined || selector === null) {
    return false;
  }
  for (const key in selector.matchLabels) {
    if (labelIn(labels, key) !== selector.matchLabels[key]) {
      return false;
    }
  }
  for (const { key, operator, values = [] } of selector.matchExpressions ?? []) {
    if (!operatorHolds(operator, labelIn(labels, key), values)) {
      return false;
    }
  }
  return true;
}

/** Whether all terms of a parsed text selector hold. */
export function matchesTerms(terms: readonly SelectorTerm[], labels: Labels | undefined): boolean {
  return terms.every(({ key, operator, values }) => operatorHolds(operator, labelIn(labels, key), values));
}

/** `matchLabels` become terms with one value. */
export function termsOf(selector: LabelSelector): SelectorTerm[] {
  const equal = Object.entries(selector.matchLabels ?? {}).map(([key, value]) => ({ key, operator: "In" as const, values: [value] }));
  const other = (selector.matchExpressions ?? []).map(({ key, operator, values = [] }) => ({ key, operator, values }));
  return [...equal, ...other];
}

/** The text for a query. Terms are sorted by key, so equal selectors give equal text. */
export function formatLabelSelector(selector: LabelSelector | readonly SelectorTerm[]): string {
  const terms = isTerms(selector) ? [...selector] : termsOf(selector);
  return terms
    .sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0))
    .map(formatTerm)
    .join(",");
}

function isTerms(selector: LabelSelector | readonly SelectorTerm[]): selector is readonly SelectorTerm[] {
  return Array.isArray(selector);
}

/** Parses `a=b, c!=d, e in (f,g), h notin (i), j, !k, l>1, m<2`. Throws `SelectorError`. */
export function parseLabelSelector(text: string): SelectorTerm[] {
  const tokens = tokenize(text);
  const terms: SelectorTerm[] = [];
  let at = 0;
  const fail = (wanted: string): never => {
    const found = tokens[at];
    throw new SelectorError(
      `Cannot parse label selector ${JSON.stringify(text)}: found ${found === undefined ? "its end" : JSON.stringify(found)}, wanted ${wanted}`,
    );
  };
  const take = (): string | undefined => tokens[at++];
  const word = (wanted: string): string => (isWord(tokens[at]) ? take()! : fail(wanted));

  const valueAfterOperator = (): string => (isWord(tokens[at]) ? take()! : "");
  const valueList = (): string[] => {
    if (tokens[at] !== "(") fail('"("');
    at++;
    const values: string[] = [];
    for (;;) {
      values.push(valueAfterOperator());
      const next = tokens[at];
      if (next === ",") {
        at++;
      } else if (next === ")") {
        at++;
        return values;
      } else {
        fail('"," or ")"');
      }
    }
  };
  const term = (): SelectorTerm => {
    if (tokens[at] === "!") {
      at++;
      return { key: labelKey(word("a label key"), text), operator: "DoesNotExist", values: [] };
    }
    const key = labelKey(word("a label key"), text);
    switch (tokens[at]) {
      case undefined:
      case ",":
        return { key, operator: "Exists", values: [] };
      case "=":
      case "==":
        at++;
        return { key, operator: "In", values: [labelValue(valueAfterOperator(), text)] };
      case "!=":
        at++;
        return { key, operator: "NotIn", values: [labelValue(valueAfterOperator(), text)] };
      case "in":
        at++;
        return { key, operator: "In", values: valueList().map((value) => labelValue(value, text)) };
      case "notin":
        at++;
        return { key, operator: "NotIn", values: valueList().map((value) => labelValue(value, text)) };
      case ">":
      case "<": {
        const operator = take() === ">" ? "Gt" : "Lt";
        const bound = word("a whole number");
        if (!/^-?\d+$/.test(bound)) {
          at--;
          fail("a whole number");
        }
        return { key, operator, values: [bound] };
      }
      default:
        return fail("an operator or a comma");
    }
  };

  while (at < tokens.length) {
    terms.push(term());
    if (at < tokens.length) {
      if (tokens[at] !== ",") fail('","');
      at++;
      if (at === tokens.length) fail("a label key");
    }
  }
  return terms;
}

/** Only what the object itself has: `constructor` is a label like any other. */
function labelIn(labels: Labels | undefined, key: string): string | undefined {
  return labels !== undefined && Object.hasOwn(labels, key) ? labels[key] : undefined;
}

function formatTerm({ key, operator, values }: SelectorTerm): string {
  const list = [...values].sort().join(",");
  switch (operator) {
    case "In":
      return values.length === 1 ? `${key}=${values[0]}` : `${key} in (${list})`;
    case "NotIn":
      return values.length === 1 ? `${key}!=${values[0]}` : `${key} notin (${list})`;
    case "Exists":
      return key;
    case "DoesNotExist":
      return `!${key}`;
    case "Gt":
      return `${key}>${values[0]}`;
    case "Lt":
      return `${key}<${values[0]}`;
  }
}

const TOKEN = /\s*(==|!=|=|!|>|<|\(|\)|,|[^\s=!<>(),]+)\s*/y;

function tokenize(text: string): string[] {
  const tokens: string[] = [];
  TOKEN.lastIndex = 0;
  while (TOKEN.lastIndex < text.trimEnd().length) {
    const found = TOKEN.exec(text);
    if (found === null) {
      break;
    }
    tokens.push(found[1]!);
  }
  return tokens;
}

function isWord(token: string | undefined): token is string {
  return token !== undefined && !/^[=!<>(),]/.test(token);
}

const NAME = /^[A-Za-z0-9]([A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?$/;
const PREFIX = /^[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*$/;

function labelKey(key: string, text: string): string {
  const slash = key.indexOf("/");
  const prefix = key.slice(0, Math.max(0, slash));
  const isValid = NAME.test(key.slice(slash + 1)) && (slash < 0 || (prefix.length <= 253 && PREFIX.test(prefix)));
  if (!isValid) {
    throw new SelectorError(
      `Cannot parse label selector ${JSON.stringify(text)}: ${JSON.stringify(key)} is no label key, wanted [prefix/]name`,
    );
  }
  return key;
}

function labelValue(value: string, text: string): string {
  if (value !== "" && !NAME.test(value)) {
    throw new SelectorError(
      `Cannot parse label selector ${JSON.stringify(text)}: ${JSON.stringify(value)} is no label value, wanted up to 63 letters, digits, "-", "_" or "."`,
    );
  }
  return value;
}
