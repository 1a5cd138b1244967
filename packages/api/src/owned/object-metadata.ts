/** The metadata that an API server asks of every object: a name, and labels and annotations that can be stored. */

import { type Issue, type Path, shown } from "../schema/issue.ts";
import { isObject, type JsonObject } from "../schema/json.ts";
import { isLabelValue, whyNoQualifiedName } from "../validation/names.ts";

const SUBDOMAIN = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;
const SUBDOMAIN_RULE =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character";
const LABEL_VALUE_RULE =
  "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character";
const ANNOTATIONS_BYTES_MAX = 256 * 1024;

export function checkMetadata(object: JsonObject): Issue[] {
  const { metadata } = object;
  if (!isObject(metadata))
    return [{ path: ["metadata", "name"], code: "FieldValueRequired", message: "Required value: name or generateName is required" }];
  return [...checkOwnName(metadata), ...checkLabels(metadata.labels), ...checkAnnotations(metadata.annotations)];
}

function checkOwnName({ name, generateName }: JsonObject): Issue[] {
  const path: Path = ["metadata", "name"];
  if (name === undefined || name === "") {
    const isGenerated = typeof generateName === "string" && generateName !== "";
    return isGenerated ? [] : [{ path, code: "FieldValueRequired", message: "Required value: name or generateName is required" }];
  }
  if (typeof name !== "string") return [wrongType(path, name, "string")];
  if (name.length <= 253 && SUBDOMAIN.test(name)) return [];
  return [{ path, code: "FieldValueInvalid", message: `Invalid value: ${shown(name)}: ${SUBDOMAIN_RULE}`, wanted: SUBDOMAIN_RULE }];
}

function checkLabels(labels: unknown): Issue[] {
  const path: Path = ["metadata", "labels"];
  if (labels === undefined || labels === null) return [];
  if (!isObject(labels)) return [wrongType(path, labels, "object")];
  return Object.entries(labels).flatMap(([key, value]) => [...checkKey(key, key, path), ...checkLabelValue(value, [...path, key])]);
}

function checkLabelValue(value: unknown, path: Path): Issue[] {
  if (typeof value !== "string") return value === null ? [] : [wrongType(path, value, "string")];
  if (isLabelValue(value)) return [];
  return [{ path, code: "FieldValueInvalid", message: `Invalid value: ${shown(value)}: ${LABEL_VALUE_RULE}`, wanted: LABEL_VALUE_RULE }];
}

/** Keys of annotations may have capitals in their domain. */
function checkAnnotations(annotations: unknown): Issue[] {
  const path: Path = ["metadata", "annotations"];
  if (annotations === undefined || annotations === null) return [];
  if (!isObject(annotations)) return [wrongType(path, annotations, "object")];
  const entries = Object.entries(annotations);
  const issues = entries.flatMap(([key, value]) => [
    ...checkKey(key, key.toLowerCase(), path),
    ...(typeof value === "string" || value === null ? [] : [wrongType([...path, key], value, "string")]),
  ]);
  const size = entries.reduce((sum, [key, value]) => sum + key.length + String(value).length, 0);
  if (size <= ANNOTATIONS_BYTES_MAX) return issues;
  return [...issues, { path, code: "FieldValueTooLong", message: `Too long: may not be more than ${ANNOTATIONS_BYTES_MAX} bytes` }];
}

function checkKey(key: string, name: string, path: Path): Issue[] {
  const why = whyNoQualifiedName(name);
  return why === undefined
    ? []
    : [{ path: [...path, key], code: "FieldValueInvalid", message: `Invalid value: ${shown(key)}: ${why}`, wanted: why }];
}

function wrongType(path: Path, value: unknown, wanted: string): Issue {
  return { path, code: "FieldValueTypeInvalid", message: `Invalid value: ${shown(value)}: must be of type ${wanted}`, wanted };
}
