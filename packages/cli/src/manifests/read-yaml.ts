/** YAML 1.1 as kubectl reads it: several documents, octal `010`, `on` and `yes` as true; but no dates and no base-60 numbers. */
import {
  isAlias,
  isCollection,
  isMap,
  isNode,
  isScalar,
  isSeq,
  parseAllDocuments,
  type Tags,
  visit,
  type Document as YamlDocument,
} from "yaml";
import type { FieldPath } from "./field-path.ts";
import type { Document, Position } from "./manifest.ts";
import { type RepeatedKeyFault, repeatedKeyFault } from "./repeated-key.ts";
import { isTemplate, RENDER_FIRST } from "./template-text.ts";
import type { TextLines } from "./text-lines.ts";

export interface YamlReading {
  readonly documents: readonly Document[];
  readonly faults: readonly (RepeatedKeyFault | { readonly message: string; readonly at: Position })[];
}

export function readYaml(text: string, lines: TextLines): YamlReading {
  const parsed = parseAllDocuments(text, { version: "1.1", customTags: withoutTimes, prettyErrors: false, logLevel: "silent" });
  const documents: Document[] = [];
  const faults: YamlReading["faults"][number][] = [];
  const mayBeTemplate = isTemplate(text);
  for (const document of parsed) {
    const [error] = document.errors;
    if (error !== undefined) {
      const at = lines.position(error.pos[0]);
      // What the parser says of a template is of little help, and it may say it of every document.
      if (mayBeTemplate) return { documents: [], faults: [{ message: `is no YAML; ${RENDER_FIRST}`, at }] };
      const repeated = error.code === "DUPLICATE_KEY" ? repeatedKey(document, error.pos[0], lines) : undefined;
      faults.push(repeated ?? { message: `is no YAML: ${sentenceOf(error)}`, at });
      continue;
    }
    const hole = mayBeTemplate ? offsetOfHole(document) : undefined;
    if (hole !== undefined)
      return { documents: [], faults: [{ message: `is no manifest yet; ${RENDER_FIRST}`, at: lines.position(hole) }] };
    if (document.contents === null) continue;
    documents.push({ value: plainValue(document), locate: (path) => lines.position(offsetOf(document, path)) });
  }
  return { documents, faults };
}

/** go-yaml, and so kubectl, leaves `2024-01-01` and `12:30` as text. */
function withoutTimes(tags: Tags): Tags {
  return tags.filter((tag) => typeof tag === "string" || (tag.tag !== "tag:yaml.org,2002:timestamp" && tag.format !== "TIME"));
}

function plainValue(document: YamlDocument): unknown {
  return document.toJS({ mapAsMap: false });
}

function sentenceOf(error: { readonly code: string; readonly message: string }): string {
  if (error.code === "DUPLICATE_KEY") return "a key is given twice in one object; give it once";
  if (error.code === "TAB_AS_INDENT") return "tabs cannot indent; use blanks";
  return error.message.replace(/\s+/g, " ").trim();
}

/** `{{ .Values.replicas }}` without quotes is YAML: a map whose key is a map. No manifest has such keys. */
function offsetOfHole(document: YamlDocument): number | undefined {
  let found: number | undefined;
  visit(document, {
    Pair: (_, { key }) => {
      if (!isCollection(key)) return undefined;
      found = startOf(key);
      return visit.BREAK;
    },
  });
  return found;
}

/** undefined where the key is none that a path can name. */
function repeatedKey(document: YamlDocument, offset: number, lines: TextLines): RepeatedKeyFault | undefined {
  const search = (node: unknown, path: FieldPath): RepeatedKeyFault | undefined => {
    if (isSeq(node)) return firstOf(node.items, (item, index) => search(item, [...path, index]));
    if (!isMap(node)) return undefined;
    return firstOf(node.items, ({ key, value }) => {
      const name = isScalar(key) ? String(key.value) : undefined;
      if (name === undefined) return undefined;
      if (startOf(key) !== offset) return search(value, [...path, name]);
      const first = node.items.find((pair) => isScalar(pair.key) && String(pair.key.value) === name);
      return repeatedKeyFault(document.toJS(), [...path, name], lines.position(offset), lines.position(startOf(first?.key) ?? offset));
    });
  };
  return search(document.contents, []);
}

function firstOf<T, R>(items: readonly T[], find: (item: T, index: number) => R | undefined): R | undefined {
  for (const [index, item] of items.entries()) {
    const found = find(item, index);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Offset of the key or item under `path`; of the nearest one around it that exists. */
function offsetOf(document: YamlDocument, path: FieldPath): number {
  let node: unknown = document.contents;
  let offset = startOf(node) ?? document.range?.[0] ?? 0;
  for (const part of path) {
    if (isAlias(node)) node = node.resolve(document);
    const step = stepInto(node, part);
    if (step === undefined) break;
    offset = step.offset ?? offset;
    node = step.value;
  }
  return offset;
}

function stepInto(node: unknown, part: string | number): { readonly offset: number | undefined; readonly value: unknown } | undefined {
  if (isSeq(node)) {
    const item = typeof part === "number" ? node.items[part] : undefined;
    return item === undefined ? undefined : { offset: startOf(item), value: item };
  }
  if (!isMap(node)) return undefined;
  const pair = node.items.find(({ key }) => (isScalar(key) ? String(key.value) === String(part) : key === part));
  return pair === undefined ? undefined : { offset: startOf(pair.key), value: pair.value };
}

function startOf(node: unknown): number | undefined {
  return isNode(node) ? node.range?.[0] : undefined;
}
