/** Checks a CustomResourceDefinition itself, as far as an API server would refuse it: names, versions, structural schemas, rules that compile. */
import { checkRuleSource } from "../cel/rule-check.ts";
import { compileSchema } from "./compile.ts";
import { withDefaults } from "./defaults.ts";
import type { Issue, IssueCode, Path } from "./issue.ts";
import { shown } from "./issue.ts";
import { isObject } from "./json.ts";
import type { CustomResourceDefinition, CustomResourceVersion, OpenApiSchema } from "./open-api.ts";
import { compilePattern } from "./regular-expression.ts";

const DNS_LABEL = /^[a-z]([-a-z0-9]{0,61}[a-z0-9])?$/;
const SUBDOMAIN = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)+$/;
const TYPES = ["array", "boolean", "integer", "number", "object", "string"];
/** Keywords of JSON Schema that structural schemas do not have. */
const FORBIDDEN = ["$ref", "definitions", "dependencies", "patternProperties", "additionalItems", "id", "const"];

/** All faults of the definition, as an API server words them; empty when it would be served. */
export function checkDefinition(crd: CustomResourceDefinition): Issue[] {
  if (!isObject(crd.spec)) return [required(["spec"])];
  const issues: Issue[] = [];
  checkNames(crd, issues);
  checkVersions(crd.spec.versions, issues);
  return issues;
}

function checkNames({ metadata, spec }: CustomResourceDefinition, issues: Issue[]): void {
  const { group, scope } = spec;
  const names: Partial<CustomResourceDefinition["spec"]["names"]> = spec.names ?? {};
  if (typeof group !== "string" || !SUBDOMAIN.test(group))
    issues.push(invalid(["spec", "group"], group, "should be a domain with at least one dot"));
  if (scope !== "Cluster" && scope !== "Namespaced") issues.push(unsupported(["spec", "scope"], scope, ["Cluster", "Namespaced"]));
  if (typeof names.kind !== "string" || names.kind === "") issues.push(required(["spec", "names", "kind"]));
  if (typeof names.plural !== "string" || names.plural === "") issues.push(required(["spec", "names", "plural"]));
  const { plural, singular, shortNames = [] } = names;
  const texts: [Path, string | undefined][] = [
    [["spec", "names", "plural"], plural],
    [["spec", "names", "singular"], singular],
    ...shortNames.map((name, at): [Path, string] => [["spec", "names", "shortNames", at], name]),
  ];
  for (const [path, text] of texts)
    if (text !== undefined && text !== "" && !DNS_LABEL.test(text))
      issues.push(invalid(path, text, "a DNS-1035 label must consist of lower case alphanumeric characters or '-'"));
  const wanted = `${plural ?? ""}.${group}`;
  if (metadata?.name !== wanted) issues.push(invalid(["metadata", "name"], metadata?.name, 'must be spec.names.plural+"."+spec.group'));
}

function checkVersions(versions: readonly CustomResourceVersion[] | undefined, issues: Issue[]): void {
  if (!Array.isArray(versions) || versions.length === 0) {
    issues.push(required(["spec", "versions"]));
    return;
  }
  if (versions.filter(({ storage }) => storage).length !== 1) {
    issues.push(invalid(["spec", "versions"], versions, "must have exactly one version marked as storage version"));
  }
  versions.forEach((version: CustomResourceVersion, at) => {
    const path = ["spec", "versions", at];
    if (typeof version.name !== "string" || !DNS_LABEL.test(version.name))
      issues.push(invalid([...path, "name"], version.name, "should be a DNS label such as v1"));
    const schema = version.schema?.openAPIV3Schema;
    const schemaPath = [...path, "schema", "openAPIV3Schema"];
    if (schema === undefined) issues.push({ ...required(schemaPath), message: "Required value: schemas are required" });
    else if (schema.type !== "object") issues.push(invalid([...schemaPath, "type"], schema.type, "must be object at the root"));
    else checkSchema(schema, schemaPath, [], issues);
  });
}

function checkSchema(schema: OpenApiSchema, path: Path, parents: readonly OpenApiSchema[], issues: Issue[]): void {
  for (const keyword of FORBIDDEN) {
    if (Object.hasOwn(schema, keyword))
      issues.push({ path: [...path, keyword], code: "FieldValueForbidden", message: "Forbidden: not supported" });
  }
  checkSchemaType(schema, path, issues);
  if (schema.pattern !== undefined) checkPattern(schema.pattern, [...path, "pattern"], issues);
  checkListType(schema, path, issues);
  checkDefault(schema, [...path, "default"], issues);
  if (schema.properties !== undefined && schema.additionalProperties !== undefined && schema.additionalProperties !== false) {
    issues.push({
      path: [...path, "additionalProperties"],
      code: "FieldValueForbidden",
      message: "Forbidden: additionalProperties and properties are mutual exclusive",
    });
  }
  const canCompare = parents.every(isCorrelatable);
  (schema["x-kubernetes-validations"] ?? []).forEach((rule, at) => {
    issues.push(
      ...checkRuleSource(schema, rule, canCompare).map((issue) => ({
        ...issue,
        path: [...path, "x-kubernetes-validations", at, ...issue.path],
      })),
    );
  });
  const inner = [...parents, schema];
  for (const [name, property] of Object.entries(schema.properties ?? {}))
    checkSchema(property, [...path, "properties", name], inner, issues);
  if (typeof schema.additionalProperties === "object")
    checkSchema(schema.additionalProperties, [...path, "additionalProperties"], inner, issues);
  if (schema.items !== undefined) checkSchema(schema.items, [...path, "items"], inner, issues);
  else if (schema.type === "array") issues.push({ ...required([...path, "items"]), message: "Required value: must be specified" });
}

/** Items of lists without keys have no stored self to be compared with. */
function isCorrelatable(schema: OpenApiSchema): boolean {
  return schema.type !== "array" || schema["x-kubernetes-list-type"] === "map";
}

function checkSchemaType(schema: OpenApiSchema, path: Path, issues: Issue[]): void {
  const isFree = schema["x-kubernetes-int-or-string"] === true || schema["x-kubernetes-preserve-unknown-fields"] === true;
  if (schema.type === undefined || schema.type === "") {
    if (!isFree)
      issues.push({
        path: [...path, "type"],
        code: "FieldValueRequired",
        message: "Required value: must not be empty for specified object fields",
      });
  } else if (!TYPES.includes(schema.type)) {
    issues.push(unsupported([...path, "type"], schema.type, TYPES));
  }
}

function checkPattern(pattern: string, path: Path, issues: Issue[]): void {
  try {
    compilePattern(pattern);
  } catch (error) {
    issues.push(invalid(path, pattern, `must be a valid regular expression, but isn't: ${error instanceof Error ? error.message : error}`));
  }
}

/** A default must be what the schema admits, rules included. */
function checkDefault(schema: OpenApiSchema, path: Path, issues: Issue[]): void {
  const { default: value } = schema;
  if (value === undefined || value === null) return;
  const found = compileSchema(schema).validate(withDefaults(schema, value));
  issues.push(...found.map((issue) => ({ ...issue, path: [...path, ...issue.path] })));
}

function checkListType(schema: OpenApiSchema, path: Path, issues: Issue[]): void {
  const listType = schema["x-kubernetes-list-type"];
  const keys = schema["x-kubernetes-list-map-keys"];
  if (listType !== undefined && schema.type !== "array")
    issues.push(invalid([...path, "type"], schema.type, "must be array if x-kubernetes-list-type is specified"));
  if (listType === "map" && (keys === undefined || keys.length === 0)) {
    issues.push({
      ...required([...path, "x-kubernetes-list-map-keys"]),
      message: "Required value: must not be empty if x-kubernetes-list-type is map",
    });
  }
  const { items } = schema;
  if (listType === "set" && items?.type === "object" && items["x-kubernetes-map-type"] !== "atomic") {
    issues.push(
      invalid([...path, "items", "x-kubernetes-map-type"], null, "must be atomic as item of a list with x-kubernetes-list-type=set"),
    );
  }
  for (const [at, key] of (keys ?? []).entries()) {
    if (schema.items?.properties?.[key] === undefined)
      issues.push(invalid([...path, "x-kubernetes-list-map-keys", at], key, "must be a property of the items"));
  }
}

function required(path: Path): Issue {
  return { path, code: "FieldValueRequired", message: "Required value" };
}

function invalid(path: Path, value: unknown, text: string, code: IssueCode = "FieldValueInvalid"): Issue {
  return { path, code, message: `Invalid value: ${shown(value)}: ${text}`, wanted: text };
}

function unsupported(path: Path, value: unknown, admitted: readonly string[]): Issue {
  const list = admitted.map((one) => JSON.stringify(one)).join(", ");
  return { path, code: "FieldValueNotSupported", message: `Unsupported value: ${shown(value)}: supported values: ${list}`, wanted: list };
}
