/** `metadata` of any object. The shape has been checked: fields have the right types or are absent. */
import type { ObjectMeta } from "@joinery/api";
import type { FieldPath } from "../field-path.ts";
import { dnsLabel, labelValue, type NameRule, qualifiedName } from "./names.ts";
import type { Report } from "./report.ts";

const ANNOTATION_BYTES_MAX = 256 * 1024;

export interface MetadataRule {
  readonly isNamespaced: boolean;
  readonly name: NameRule;
}

export function checkMetadata(metadata: ObjectMeta | undefined, rule: MetadataRule, report: Report): void {
  const { name, generateName, namespace, ownerReferences } = metadata ?? {};
  if (!name && !generateName) report.error(["metadata", "name"], "is missing; give the object a name");
  if (name) checkText(name, rule.name, ["metadata", "name"], report);
  if (namespace && !rule.isNamespaced)
    report.error(["metadata", "namespace"], "must be absent: objects of this kind are not in a namespace");
  if (namespace && rule.isNamespaced) checkText(namespace, dnsLabel, ["metadata", "namespace"], report);
  checkLabels(metadata?.labels, ["metadata", "labels"], report);
  checkAnnotations(metadata?.annotations, ["metadata", "annotations"], report);
  for (const [index, owner] of (ownerReferences ?? []).entries()) {
    for (const field of ["apiVersion", "kind", "name", "uid"] as const) {
      if (!owner[field])
        report.error(["metadata", "ownerReferences", index, field], "is missing; an owner needs apiVersion, kind, name and uid");
    }
  }
}

export function checkLabels(labels: Readonly<Record<string, string>> | undefined | null, path: FieldPath, report: Report): void {
  for (const key in labels) {
    checkKey(key, [...path, key], report);
    checkText(labels[key] ?? "", labelValue, [...path, key], report);
  }
}

export function checkAnnotations(annotations: Readonly<Record<string, string>> | undefined | null, path: FieldPath, report: Report): void {
  let size = 0;
  for (const key in annotations) {
    checkKey(key.toLowerCase(), [...path, key], report);
    size += key.length + (annotations[key]?.length ?? 0);
  }
  if (size > ANNOTATION_BYTES_MAX) report.error(path, `must have at most ${ANNOTATION_BYTES_MAX} bytes, has ${size}`);
}

export function checkKey(key: string, path: FieldPath, report: Report): void {
  const fault = qualifiedName(key);
  if (fault !== undefined) report.error(path, `"${key}" is no valid key; ${fault}`);
}

export function checkText(text: string, rule: NameRule, path: FieldPath, report: Report): void {
  const fault = rule(text);
  if (fault !== undefined) report.error(path, `"${text}" is not valid here; ${fault}`);
}
