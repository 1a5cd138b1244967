#!/usr/bin/env node
/**
 * Writes kubernetes-types.generated.ts: field names, types, list keys and enums of the built-in kinds, taken from the OpenAPI document of a
 * running API server.   kubectl get --raw /openapi/v2 > openapi.json && node generate.mjs openapi.json
 */
import { readFileSync, writeFileSync } from "node:fs";

const kinds = new Set(
  `Pod Node Namespace Event PersistentVolume PersistentVolumeClaim Service Endpoints ConfigMap Secret ServiceAccount ReplicationController
   LimitRange ResourceQuota PodTemplate Deployment ReplicaSet StatefulSet DaemonSet ControllerRevision Job CronJob Lease PodDisruptionBudget
   StorageClass CSINode CSIDriver CSIStorageCapacity VolumeAttachment VolumeAttributesClass CustomResourceDefinition PriorityClass RuntimeClass EndpointSlice Ingress
   IngressClass NetworkPolicy HorizontalPodAutoscaler Role RoleBinding ClusterRole ClusterRoleBinding Eviction Binding Scale DeleteOptions APIService
   ValidatingWebhookConfiguration MutatingWebhookConfiguration ResourceClaim ResourceClaimTemplate ResourceSlice DeviceClass
   ValidatingAdmissionPolicy ValidatingAdmissionPolicyBinding SelfSubjectAccessReview SelfSubjectReview SubjectAccessReview TokenReview TokenRequest`.split(
    /\s+/,
  ),
);
const skipped = new Set(["autoscaling/v1/HorizontalPodAutoscaler"]);
const { definitions, info } = JSON.parse(readFileSync(process.argv[2], "utf8"));
const short = (name) =>
  name.replace(
    /^io\.k8s\.(api|apimachinery\.pkg\.apis|apimachinery\.pkg|apiextensions-apiserver\.pkg\.apis|kube-aggregator\.pkg\.apis)\./,
    "",
  );
const refOf = (schema) => schema.$ref?.replace("#/definitions/", "");

const wanted = new Map();
const roots = [];
for (const [name, definition] of Object.entries(definitions)) {
  for (const gvk of definition["x-kubernetes-group-version-kind"] ?? []) {
    const id = `${gvk.group === "" ? gvk.version : `${gvk.group}/${gvk.version}`}/${gvk.kind}`;
    if (!kinds.has(gvk.kind) || skipped.has(id) || (gvk.kind === "DeleteOptions" && gvk.group !== "") || /alpha|beta/.test(gvk.version))
      continue;
    roots.push([id, short(name)]);
    visit(name);
  }
}

function visit(name) {
  if (wanted.has(name)) return;
  const definition = definitions[name];
  wanted.set(name, definition);
  for (const property of Object.values(definition.properties ?? {})) {
    for (const schema of [
      property,
      property.items ?? {},
      property.additionalProperties ?? {},
      property.items?.additionalProperties ?? {},
      property.additionalProperties?.items ?? {},
    ]) {
      if (refOf(schema)) visit(refOf(schema));
    }
  }
}

function code(schema) {
  const name = refOf(schema);
  if (name !== undefined) {
    if (name.endsWith(".Quantity")) return "q";
    if (name.endsWith(".IntOrString")) return "o";
    if (name.endsWith(".Time") || name.endsWith(".MicroTime")) return "t";
    const target = definitions[name];
    return target.properties === undefined ? (target.type === "string" ? "s" : "x") : `@${short(name)}`;
  }
  if (schema.type === "array") return `[]${code(schema.items)}`;
  if (schema.type === "object") return schema.additionalProperties ? `{}${code(schema.additionalProperties)}` : "x";
  if (schema.type === "integer") return "i";
  if (schema.type === "number") return "n";
  if (schema.type === "boolean") return "b";
  if (schema.type === "string") return schema.format === "byte" ? "y" : "s";
  return "x";
}

function field(name, schema, isRequired) {
  let text = `${name}:${code(schema)}`;
  const values = (schema.enum ?? []).filter((value) => value !== "");
  if (values.length > 0) text += `;e=${values.join("|")}`;
  if (schema["x-kubernetes-patch-merge-key"]) text += `;m=${schema["x-kubernetes-patch-merge-key"]}`;
  if (schema["x-kubernetes-patch-strategy"]) text += `;p=${schema["x-kubernetes-patch-strategy"]}`;
  if (schema["x-kubernetes-list-type"]) text += `;l=${schema["x-kubernetes-list-type"]}`;
  if (schema["x-kubernetes-list-map-keys"]) text += `;k=${schema["x-kubernetes-list-map-keys"].join("+")}`;
  if (schema["x-kubernetes-map-type"] === "atomic") text += ";a";
  if (isRequired) text += ";r";
  return text;
}

const lines = [...wanted].map(([name, definition]) => {
  const fields = Object.entries(definition.properties ?? {}).map(([key, schema]) => field(key, schema, definition.required?.includes(key)));
  const text = definition["x-kubernetes-map-type"] === "atomic" ? ["*", ...fields] : fields;
  return `  ${JSON.stringify(short(name))}: ${JSON.stringify(text.join(" "))},`;
});
writeFileSync(
  new URL("kubernetes-types.generated.ts", import.meta.url),
  `/** Made by generate.mjs from the OpenAPI document of ${info.title} ${info.version}. The notation is read by shape.ts. */
export const kinds: Readonly<Record<string, string>> = {
${roots.map(([id, name]) => `  ${JSON.stringify(id)}: ${JSON.stringify(name)},`).join("\n")}
};
export const types: Readonly<Record<string, string>> = {
${lines.join("\n")}
};
`,
);
