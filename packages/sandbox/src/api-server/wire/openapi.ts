/** OpenAPI v3 of what is served: enough for kubectl's validation, `apply`, `edit` and `explain`. Version 2 is there, but empty. */
import type { ApiRequest, ApiResponse } from "@joinery/kube";
import type { Json, JsonObject } from "../objects/json.ts";
import type { Registry } from "../registry/registry.ts";
import type { Resource } from "../registry/resource.ts";
import type { Field, Shape } from "../schema/shape.ts";

/** Undefined when there is no such document. */
export function answerOpenApi(registry: Registry, version: string, { path, accept }: ApiRequest): ApiResponse | undefined {
  if (path === "/openapi/v2") return emptyVersion2(version, accept?.includes("protobuf") === true);
  if (path === "/openapi/v3" || path === "/openapi/v3/") return { status: 200, body: { paths: rootPaths(registry) } };
  const parts = path.replace("/openapi/v3/", "").split("/");
  const [root, second, third] = parts;
  const resources = registry
    .all()
    .filter((resource) =>
      root === "api" ? resource.group === "" && resource.version === second : resource.group === second && resource.version === third,
    );
  if (!path.startsWith("/openapi/v3/") || resources.length === 0) return undefined;
  return { status: 200, body: documentOf(resources, version) };
}

/** kubectl asks for version 2 before it sends a List. Without definitions it leaves the checking to the server. */
function emptyVersion2(version: string, isProtobuf: boolean): ApiResponse {
  const info = { title: "Kubernetes", version: `v${version}` };
  if (!isProtobuf) return { status: 200, body: { swagger: "2.0", info, paths: {}, definitions: {} } };
  const field = (number: number, text: string) => String.fromCharCode((number << 3) | 2, text.length) + text;
  const body = field(1, "2.0") + field(2, field(1, info.title) + field(2, info.version));
  return { status: 200, headers: { "Content-Type": "application/com.github.proto-openapi.spec.v2.v1.0+protobuf" }, body };
}

function rootPaths(registry: Registry): JsonObject {
  const paths: JsonObject = {};
  for (const { group, version } of registry.all()) {
    const key = group === "" ? `api/${version}` : `apis/${group}/${version}`;
    paths[key] = { serverRelativeURL: `/openapi/v3/${key}?hash=${registry.revision}` };
  }
  return paths;
}

function documentOf(resources: readonly Resource[], version: string): JsonObject {
  const schemas: JsonObject = {};
  const paths: JsonObject = {};
  for (const resource of resources) {
    const gvk = { group: resource.group, version: resource.version, kind: resource.kind };
    const name = resource.isCustom ? customName(resource) : nameOf(resource.shape, schemas);
    const known = schemas[name];
    schemas[name] = {
      ...(resource.isCustom ? (resource.openApiSchema ?? { type: "object" }) : (known as JsonObject)),
      "x-kubernetes-group-version-kind": [gvk],
    };
    Object.assign(paths, pathsOf(resource, name, gvk));
  }
  return { openapi: "3.0.0", info: { title: "Kubernetes", version: `v${version}` }, paths, components: { schemas } };
}

function customName({ group, version, kind }: Resource): string {
  return `${group.split(".").reverse().join(".")}.${version}.${kind}`;
}

function pathsOf(resource: Resource, name: string, gvk: JsonObject): JsonObject {
  const base = resource.group === "" ? `/api/${resource.version}` : `/apis/${resource.group}/${resource.version}`;
  const scoped = `${base}${resource.isNamespaced ? "/namespaces/{namespace}" : ""}/${resource.resource}`;
  const parameters = ["dryRun", "fieldManager", "fieldValidation"].map((parameter) => ({
    name: parameter,
    in: "query",
    schema: { type: "string" },
  }));
  const content = (types: readonly string[]) =>
    Object.fromEntries(types.map((type) => [type, { schema: { $ref: `#/components/schemas/${name}` } }]));
  const operation = (action: string, types: readonly string[]) =>
    ({
      "x-kubernetes-action": action,
      "x-kubernetes-group-version-kind": gvk,
      parameters,
      requestBody: { content: content(types) },
      responses: { "200": { description: "OK", content: content(["application/json"]) } },
    }) as JsonObject;
  const patchTypes = ["application/json-patch+json", "application/merge-patch+json", "application/apply-patch+yaml"];
  if (!resource.isCustom) patchTypes.push("application/strategic-merge-patch+json");
  return {
    [scoped]: { post: operation("post", ["application/json"]) },
    [`${scoped}/{name}`]: {
      put: operation("put", ["application/json"]),
      patch: operation("patch", patchTypes),
      get: { "x-kubernetes-action": "get", "x-kubernetes-group-version-kind": gvk, responses: {} },
    },
  };
}

/** The full name of a type; its schema and those it needs are added to `schemas`. */
function nameOf(shape: Shape, schemas: JsonObject): string {
  if (shape.kind !== "object" || shape.name === undefined) return "any";
  const name = fullName(shape.name);
  if (schemas[name] !== undefined) return name;
  const properties: JsonObject = {};
  const required: string[] = [];
  const schema: JsonObject = { type: "object", properties };
  schemas[name] = schema;
  for (const [key, field] of shape.fields) {
    properties[key] = fieldSchema(field, schemas);
    if (field.isRequired) required.push(key);
  }
  if (required.length > 0) schema.required = required;
  if (shape.isAtomic) schema["x-kubernetes-map-type"] = "atomic";
  return name;
}

function fullName(short: string): string {
  const group = short.split(".")[0];
  const prefix =
    group === "meta"
      ? "io.k8s.apimachinery.pkg.apis"
      : group === "apiextensions"
        ? "io.k8s.apiextensions-apiserver.pkg.apis"
        : group === "apiregistration"
          ? "io.k8s.kube-aggregator.pkg.apis"
          : "io.k8s.api";
  return `${prefix}.${short}`;
}

function fieldSchema(field: Field, schemas: JsonObject): Json {
  const schema = schemaOf(field.shape, schemas) as JsonObject;
  if (field.allowed !== undefined) schema.enum = [...field.allowed];
  const strategies: string[] = [];
  if (field.shape.kind === "list" && field.shape.merge !== undefined) strategies.push("merge");
  if (field.retainsKeys) strategies.push("retainKeys");
  if (strategies.length > 0) schema["x-kubernetes-patch-strategy"] = strategies.join(",");
  if (field.shape.kind === "list" && field.shape.merge?.key !== undefined) schema["x-kubernetes-patch-merge-key"] = field.shape.merge.key;
  return schema;
}

function schemaOf(shape: Shape, schemas: JsonObject): Json {
  switch (shape.kind) {
    case "object":
      return {
        allOf: [{ $ref: `#/components/schemas/${nameOf(shape, schemas)}` }],
        ...(shape.isAtomic ? { "x-kubernetes-map-type": "atomic" } : {}),
      };
    case "map":
      return {
        type: "object",
        additionalProperties: schemaOf(shape.value, schemas),
        ...(shape.isAtomic ? { "x-kubernetes-map-type": "atomic" } : {}),
      };
    case "list":
      return {
        type: "array",
        items: schemaOf(shape.item, schemas),
        "x-kubernetes-list-type": shape.listType,
        ...(shape.keys.length > 0 ? { "x-kubernetes-list-map-keys": [...shape.keys] } : {}),
      };
    case "integer":
      return { type: "integer", format: "int64" };
    case "number":
    case "boolean":
      return { type: shape.kind };
    case "bytes":
      return { type: "string", format: "byte" };
    case "time":
    case "micro-time":
      return { type: "string", format: "date-time" };
    case "int-or-string":
      return { type: "string", format: "int-or-string" };
    case "any":
      return {};
    default:
      return { type: "string" };
  }
}
