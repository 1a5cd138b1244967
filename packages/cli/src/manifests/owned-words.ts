/** What admission says of our own kinds, for people: without the path, which stands in front already, and with what would be right. */
import { crdOf, type Issue, type Kind, type OpenApiSchema } from "@joinery/api";
import { nearWord } from "@joinery/scheduling";
import { type FieldPath, formatFieldPath } from "./field-path.ts";
import { restrictedLabelAdvice } from "./restricted-labels.ts";

/** Patterns of our schemas → what they ask for. */
export const PATTERN_WORDS: ReadonlyMap<string, string> = new Map([
  ["^([0-9]+(s|m|h))+$", "hours, minutes and seconds, such as 30m or 1h30m"],
  ["^(([0-9]+(s|m|h))+|Never)$", "hours, minutes and seconds, such as 30m or 720h, or Never"],
  ["^((([0-9]+(h|m))|([0-9]+h[0-9]+m))(0s)?)$", "hours and minutes, such as 8h or 1h30m"],
  ["^((100|[0-9]{1,2})%|[0-9]+)$", "a count or a percentage, such as 5 or 10%"],
  [
    "^(@(annually|yearly|monthly|weekly|daily|midnight|hourly))|((.+)\\s(.+)\\s(.+)\\s(.+)\\s(.+))$",
    "a cron line of five fields, such as 0 9 * * mon-fri, or @daily",
  ],
  [
    "^(\\+|-)?(([0-9]+(\\.[0-9]*)?)|(\\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\\+|-)?(([0-9]+(\\.[0-9]*)?)|(\\.[0-9]+))))?$",
    "a quantity, such as 500m, 100 or 64Gi",
  ],
  ["^(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?$", "a label value: letters, digits, - _ . between letters or digits"],
  [
    "^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*(\\/))?([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]$",
    "a name with an optional lower-case prefix, such as team or example.com/team",
  ],
  ["^\\d+(\\.\\d+)?$", "US dollars per hour, such as 0.42"],
  [
    "^(([+-]{1}(\\d*\\.?\\d+))|(\\+{1}\\d*\\.?\\d+%)|(^(-\\d{1,2}(\\.\\d+)?%)$)|(-100%))$",
    "a signed amount or percentage, such as +0.1 or -10%",
  ],
]);

/** @param value what is at the issue's path */
export function issueWords(kind: Kind | undefined, issue: Issue, value: unknown): string {
  const { path, code, message, wanted } = issue;
  if (code === "UnknownField" && kind !== undefined) return `unknown field; ${hintFor(kind, path)}`;
  const labels = restrictedLabelAdvice(message, value);
  if (labels !== undefined) return `${message}; ${labels}`;
  const pattern = wanted?.match(/^should match '(.*)'$/s)?.[1];
  const words = pattern === undefined ? undefined : PATTERN_WORDS.get(pattern);
  const short = withoutPath(message, path);
  if (words !== undefined) return `${short.replace(`: ${wanted}`, "")}; want ${words}`;
  return wanted === undefined || message.includes(wanted) ? short : `${short}; want ${wanted}`;
}

/** `Invalid value: 101: spec.weight in body should be …` → `Invalid value: 101: should be …` */
function withoutPath(message: string, path: FieldPath): string {
  return message.replace(`: ${formatFieldPath(path)} in body `, ": ");
}

/** Shorter names, such as `name` and `key`, mean something else elsewhere. */
const SPEAKING_MIN = 5;
/** Fields that are named in a hint, where the place has no more. */
const LISTED_MAX = 10;

function hintFor(kind: Kind, path: FieldPath): string {
  const field = String(path.at(-1));
  const root = crdOf(kind).spec.versions[0]?.schema?.openAPIV3Schema ?? {};
  const known = fieldsAt(root, path.slice(0, -1));
  const meant = known.find((name) => name.toLowerCase() === field.toLowerCase()) ?? nearWord(field, known);
  if (meant !== undefined) return `did you mean ${meant}?`;
  const elsewhere = field.length < SPEAKING_MIN ? [] : placesOf(root, field);
  if (elsewhere.length === 1) return `did you mean ${elsewhere[0]}?`;
  return known.length > 0 && known.length <= LISTED_MAX ? `known here are ${known.join(", ")}` : "take it out";
}

function fieldsAt(root: OpenApiSchema, path: FieldPath): readonly string[] {
  let schema: OpenApiSchema | undefined = root;
  for (const part of path) schema = typeof part === "number" ? schema?.items : childOf(schema, part);
  return Object.keys(schema?.properties ?? {});
}

function childOf(schema: OpenApiSchema | undefined, name: string): OpenApiSchema | undefined {
  const { properties, additionalProperties } = schema ?? {};
  return properties?.[name] ?? (typeof additionalProperties === "object" ? additionalProperties : undefined);
}

/** Where else in what people write a field of that name is known. */
function placesOf(root: OpenApiSchema, field: string): readonly string[] {
  const found: string[] = [];
  const walk = (schema: OpenApiSchema, path: string) => {
    for (const [name, child] of Object.entries(schema.properties ?? {})) {
      const at = path === "" ? name : `${path}.${name}`;
      if (at === "status" || at === "metadata") continue;
      if (name === field) found.push(at);
      walk(child, at);
    }
    if (schema.items !== undefined) walk(schema.items, `${path}[]`);
  };
  walk(root, "");
  return found;
}
