/** Rules that hold for the metadata of every kind: names, labels, annotations, finalizers, owners. */
import type { Resource } from "../registry/resource.ts";
import type { FieldFault } from "../wire/status.ts";
import { type ApiObject, isObject, listAt, objectAt, objectsAt, textAt } from "./json.ts";

const subdomainPattern = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;
const labelPattern = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/;
const qualifiedNamePattern = /^([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]$/;
const labelValuePattern = /^(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?$/;
const annotationsMaxBytes = 256 * 1024;

export const subdomainRule =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
export const labelRule =
  "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";
const labelValueRule =
  "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";
const namePartRule =
  "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";

/** Kinds whose names are single labels, and kinds whose names are only path segments. */
const labelNamed = new Set(["Namespace", "Service"]);
const freelyNamed = new Set(["Role", "ClusterRole", "RoleBinding", "ClusterRoleBinding"]);

export function validateMetadata(object: ApiObject, resource: Resource): FieldFault[] {
  const { metadata } = object;
  const faults: FieldFault[] = [];
  const name = textAt(metadata, "name") ?? "";
  if (name === "") faults.push({ kind: "required", field: "metadata.name", detail: "name or generateName is required" });
  else faults.push(...nameFaults(name, resource.kind));
  for (const [index, finalizer] of listAt(metadata, "finalizers").entries()) {
    if (typeof finalizer !== "string") continue;
    const field = `metadata.finalizers[${index}]`;
    // Kinds of the extensions server and custom resources need no qualified names.
    faults.push(
      ...(resource.isCustom || resource.group === "apiextensions.k8s.io" ? keyFaults(finalizer, field) : finalizerFaults(finalizer, field)),
    );
  }
  return [...faults, ...validateLabels(metadata.labels, "metadata.labels"), ...annotationFaults(metadata), ...ownerFaults(metadata)];
}

const standardFinalizers = new Set(["kubernetes", "orphan", "foregroundDeletion"]);

function finalizerFaults(finalizer: string, field: string): FieldFault[] {
  const faults = keyFaults(finalizer, field);
  if (faults.length > 0 || finalizer.includes("/") || standardFinalizers.has(finalizer)) return faults;
  return [{ kind: "invalid", field, value: finalizer, detail: "name is neither a standard finalizer name nor is it fully qualified" }];
}

function nameFaults(name: string, kind: string): FieldFault[] {
  if (freelyNamed.has(kind)) {
    return /[/%]/.test(name) || name === "." || name === ".."
      ? [{ kind: "invalid", field: "metadata.name", value: name, detail: "may not contain '/'" }]
      : [];
  }
  if (labelNamed.has(kind))
    return name.length <= 63 && labelPattern.test(name)
      ? []
      : [{ kind: "invalid", field: "metadata.name", value: name, detail: name.length > 63 ? "must be no more than 63 bytes" : labelRule }];
  if (name.length > 253) return [{ kind: "invalid", field: "metadata.name", value: name, detail: "must be no more than 253 bytes" }];
  return subdomainPattern.test(name) ? [] : [{ kind: "invalid", field: "metadata.name", value: name, detail: subdomainRule }];
}

export function isDnsSubdomain(text: string): boolean {
  return text.length <= 253 && subdomainPattern.test(text);
}

export function isDnsLabel(text: string): boolean {
  return text.length <= 63 && labelPattern.test(text);
}

/** Keys and values of a label map. */
export function validateLabels(labels: unknown, field: string): FieldFault[] {
  if (!isObject(labels)) return [];
  const faults: FieldFault[] = [];
  for (const [key, value] of Object.entries(labels)) {
    faults.push(...keyFaults(key, field));
    if (typeof value !== "string") continue;
    if (value.length > 63) faults.push({ kind: "invalid", field, value, detail: "must be no more than 63 bytes" });
    if (!labelValuePattern.test(value)) faults.push({ kind: "invalid", field, value, detail: labelValueRule });
  }
  return faults;
}

/** A qualified name: an optional DNS prefix, a slash, a name. */
export function keyFaults(key: string, field: string): FieldFault[] {
  const parts = key.split("/");
  const name = parts.pop() ?? "";
  const prefix = parts.join("/");
  if (parts.length > 1) {
    return [
      {
        kind: "invalid",
        field,
        value: key,
        detail: "a valid label key must consist of a name, and optionally a DNS subdomain prefix and '/'",
      },
    ];
  }
  const faults: FieldFault[] = [];
  if (parts.length === 1 && prefix === "") faults.push({ kind: "invalid", field, value: key, detail: "prefix part must be non-empty" });
  else if (parts.length === 1 && !isDnsSubdomain(prefix))
    faults.push({ kind: "invalid", field, value: key, detail: `prefix part ${subdomainRule}` });
  if (name === "") faults.push({ kind: "invalid", field, value: key, detail: "name part must be non-empty" });
  if (name.length > 63) faults.push({ kind: "invalid", field, value: key, detail: "name part must be no more than 63 bytes" });
  if (!qualifiedNamePattern.test(name)) faults.push({ kind: "invalid", field, value: key, detail: namePartRule });
  return faults;
}

function annotationFaults(metadata: ApiObject["metadata"]): FieldFault[] {
  const annotations = objectAt(metadata, "annotations") ?? {};
  const faults = Object.keys(annotations).flatMap((key) => keyFaults(key.toLowerCase(), "metadata.annotations"));
  const bytes = Object.entries(annotations).reduce((sum, [key, value]) => sum + key.length + String(value).length, 0);
  return bytes > annotationsMaxBytes
    ? [...faults, { kind: "too-long", field: "metadata.annotations", maximum: annotationsMaxBytes }]
    : faults;
}

function ownerFaults(metadata: ApiObject["metadata"]): FieldFault[] {
  const owners = objectsAt(metadata, "ownerReferences");
  const faults: FieldFault[] = owners.flatMap((owner, index) =>
    (["apiVersion", "kind", "name", "uid"] as const)
      .filter((key) => (textAt(owner, key) ?? "") === "")
      .map((key) => ({
        kind: "invalid" as const,
        field: `metadata.ownerReferences[${index}].${key}`,
        value: "",
        detail: `${key === "apiVersion" ? "version" : key} must not be empty`,
      })),
  );
  if (owners.filter((owner) => owner.controller === true).length > 1) {
    faults.push({
      kind: "invalid",
      field: "metadata.ownerReferences",
      value: "",
      detail: "Only one reference can have Controller set to true",
    });
  }
  return faults;
}
