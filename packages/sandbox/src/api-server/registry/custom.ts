/** From a CustomResourceDefinition to the resources that it adds. The one place that knows the schema engine of `@joinery/api`. */
import { type CompiledSchema, type CustomResourceVersion, compileVersion, formatPath } from "@joinery/api";
import { readField } from "@joinery/kube";
import { type ApiObject, copyJson, type JsonObject, objectAt, objectsAt, textAt } from "../objects/json.ts";
import { shapeOfSchema } from "../schema/custom-shape.ts";
import { customPrinter } from "../table/custom-printer.ts";
import { issueFault } from "../wire/issue-fault.ts";
import type { FieldFault } from "../wire/status.ts";
import { type CustomRules, type Resource, resourceId, type ScalePaths } from "./resource.ts";

export function customResources(definition: ApiObject): Resource[] {
  return objectsAt(definition, "spec", "versions")
    .filter((version) => version.served === true)
    .map((version) => toResource(definition, version));
}

/** The collection that a definition's objects are in. */
export function collectionOf(definition: ApiObject): string {
  return resourceId(textAt(definition, "spec", "group") ?? "", textAt(definition, "spec", "names", "plural") ?? "");
}

function toResource(definition: ApiObject, version: JsonObject): Resource {
  const spec = objectAt(definition, "spec") ?? {};
  const names = objectAt(spec, "names") ?? {};
  const kind = textAt(names, "kind") ?? "";
  const subresources = objectAt(version, "subresources") ?? {};
  const schema = objectAt(version, "schema", "openAPIV3Schema") ?? {};
  const scale = objectAt(subresources, "scale");
  return {
    id: collectionOf(definition),
    group: textAt(spec, "group") ?? "",
    version: textAt(version, "name") ?? "",
    kind,
    listKind: textAt(names, "listKind") ?? `${kind}List`,
    resource: textAt(names, "plural") ?? "",
    singular: textAt(names, "singular") ?? kind.toLowerCase(),
    isNamespaced: textAt(spec, "scope") === "Namespaced",
    shortNames: texts(names.shortNames),
    categories: texts(names.categories),
    subresources: new Set(Object.keys(subresources)),
    hasGeneration: true,
    isCustom: true,
    strategy: selectable(version),
    shape: shapeOfSchema(schema),
    ...(scale === undefined ? {} : { scale: scalePaths(scale) }),
    printer: customPrinter(objectsAt(version, "additionalPrinterColumns")),
    custom: rulesOf(compileVersion(version as unknown as CustomResourceVersion)),
    openApiSchema: schema,
  };
}

function selectable(version: JsonObject): Resource["strategy"] {
  const paths = objectsAt(version, "selectableFields").map((field) => (textAt(field, "jsonPath") ?? "").replace(/^\./, ""));
  if (paths.length === 0) return {};
  return { selectableFields: (object) => Object.fromEntries(paths.map((path) => [path, readField(object, path)])) };
}

function scalePaths(scale: JsonObject): ScalePaths {
  const path = (key: string) => (textAt(scale, key) ?? "").split(".").filter((part) => part !== "");
  return {
    specReplicas: path("specReplicasPath"),
    statusReplicas: path("statusReplicasPath"),
    ...(scale.labelSelectorPath === undefined ? {} : { selector: path("labelSelectorPath") }),
  };
}

/** What a server adds when an object is so wrong that its rules could not be asked. */
const RULES_NOT_CHECKED: FieldFault = {
  kind: "worded",
  field: "<nil>",
  reason: "FieldValueInvalid",
  message:
    "Invalid value: null: some validation rules were not checked because the object was invalid; correct the existing errors to complete validation",
};

function rulesOf(schema: CompiledSchema): CustomRules {
  return {
    prune: (body, unknown) => {
      const pruned = schema.prune(body);
      for (const path of pruned.unknown) unknown.push(typeof path === "string" ? path : formatPath(path));
      return copyJson(pruned.object) as JsonObject;
    },
    withDefaults: (object) => copyJson(schema.withDefaults(object)),
    validate: (object, old) => {
      const issues = old === undefined ? schema.validate(object) : schema.validate(object, old);
      return [...issues.map(issueFault), ...(schema.blocksRules(issues) ? [RULES_NOT_CHECKED] : [])];
    },
  };
}

function texts(list: unknown): string[] {
  return Array.isArray(list) ? list.filter((item): item is string => typeof item === "string") : [];
}
