/** The rules of pods and pod templates that people and controllers run into, in the words of the real server. */
import { type ApiObject, equalJson, isObject, type Json, type JsonObject, objectAt, objectsAt, textAt } from "../objects/json.ts";
import { isDnsLabel, keyFaults, labelRule, validateLabels } from "../objects/validate-metadata.ts";
import type { FieldFault } from "../wire/status.ts";
import { labelKeyFaults } from "./pod-label-keys.ts";
import { podResourceFaults } from "./pod-resources.ts";
import { nodeAffinityFaults } from "./validate-node-affinity.ts";

const restartPolicies = ["Always", "OnFailure", "Never"];
const pullPolicies = ["Always", "IfNotPresent", "Never"];
const dnsPolicies = ["ClusterFirstWithHostNet", "ClusterFirst", "Default", "None"];
const tolerationOperators = ["Equal", "Exists"];
const effects = ["NoSchedule", "PreferNoSchedule", "NoExecute"];
const spreadActions = ["DoNotSchedule", "ScheduleAnyway"];

export function validatePod(pod: ApiObject, old: ApiObject | undefined): FieldFault[] {
  const spec = objectAt(pod, "spec") ?? {};
  return old === undefined
    ? [...validatePodSpec(spec, "spec"), ...labelKeyFaults(pod)]
    : [...validatePodSpec(spec, "spec"), ...changeFaults(pod, old)];
}

export function validatePodSpec(spec: JsonObject, field: string): FieldFault[] {
  const faults: FieldFault[] = [];
  const containers = objectsAt(spec, "containers");
  if (containers.length === 0) faults.push({ kind: "required", field: `${field}.containers` });
  faults.push(
    ...containerFaults(objectsAt(spec, "initContainers"), `${field}.initContainers`, spec),
    ...containerFaults(containers, `${field}.containers`, spec),
  );
  faults.push(...resourceFaults(spec, `${field}.resources`), ...podResourceFaults(spec, field));
  faults.push(...duplicateNames([...objectsAt(spec, "initContainers"), ...containers], `${field}.containers`));
  faults.push(...oneOf(spec, "restartPolicy", restartPolicies, field), ...oneOf(spec, "dnsPolicy", dnsPolicies, field));
  const grace = spec.terminationGracePeriodSeconds;
  if (typeof grace === "number" && grace < 0) {
    faults.push({
      kind: "invalid",
      field: `${field}.terminationGracePeriodSeconds`,
      value: grace,
      detail: "must be greater than or equal to 0",
    });
  }
  faults.push(...validateLabels(spec.nodeSelector, `${field}.nodeSelector`));
  for (const [index, toleration] of objectsAt(spec, "tolerations").entries()) {
    faults.push(...tolerationFaults(toleration, `${field}.tolerations[${index}]`));
  }
  for (const [index, spread] of objectsAt(spec, "topologySpreadConstraints").entries()) {
    faults.push(...spreadFaults(spread, `${field}.topologySpreadConstraints[${index}]`));
  }
  return [...faults, ...affinityFaults(spec, `${field}.affinity`)];
}

function oneOf(object: JsonObject, key: string, supported: readonly string[], field: string): FieldFault[] {
  const value = object[key];
  return typeof value === "string" && !supported.includes(value)
    ? [{ kind: "unsupported", field: `${field}.${key}`, value, supported }]
    : [];
}

function duplicateNames(containers: readonly JsonObject[], field: string): FieldFault[] {
  const names = new Set<Json>();
  return containers.flatMap((container, index): FieldFault[] => {
    const name = container.name ?? "";
    if (names.has(name)) return [{ kind: "duplicate", field: `${field}[${index}].name`, value: name }];
    names.add(name);
    return [];
  });
}

function containerFaults(containers: readonly JsonObject[], field: string, spec: JsonObject): FieldFault[] {
  const volumes = new Set(objectsAt(spec, "volumes").map((volume) => volume.name));
  return containers.flatMap((container, index) => {
    const at = `${field}[${index}]`;
    const name = textAt(container, "name") ?? "";
    const faults: FieldFault[] = [];
    if (name === "") faults.push({ kind: "required", field: `${at}.name` });
    else if (!isDnsLabel(name)) faults.push({ kind: "invalid", field: `${at}.name`, value: name, detail: labelRule });
    if ((textAt(container, "image") ?? "") === "") faults.push({ kind: "required", field: `${at}.image` });
    faults.push(...oneOf(container, "imagePullPolicy", pullPolicies, at), ...resourceFaults(container, `${at}.resources`));
    objectsAt(container, "ports").forEach((port, portIndex) => {
      const number = port.containerPort;
      if (typeof number !== "number" || number < 1 || number > 65535) {
        faults.push({
          kind: "invalid",
          field: `${at}.ports[${portIndex}].containerPort`,
          value: number ?? 0,
          detail: "must be between 1 and 65535, inclusive",
        });
      }
    });
    objectsAt(container, "volumeMounts").forEach((mount, mountIndex) => {
      if (!volumes.has(mount.name ?? ""))
        faults.push({ kind: "not-found", field: `${at}.volumeMounts[${mountIndex}].name`, value: mount.name ?? "" });
    });
    return faults;
  });
}

function resourceFaults(container: JsonObject, field: string): FieldFault[] {
  const requests = objectAt(container, "resources", "requests") ?? {};
  const limits = objectAt(container, "resources", "limits") ?? {};
  const faults: FieldFault[] = [];
  for (const [list, amounts] of [
    ["limits", limits],
    ["requests", requests],
  ] as const) {
    for (const [name, quantity] of Object.entries(amounts)) {
      if (String(quantity).startsWith("-"))
        faults.push({ kind: "invalid", field: `${field}.${list}.${name}`, value: quantity, detail: "must be greater than or equal to 0" });
    }
  }
  for (const [name, quantity] of Object.entries(requests)) {
    const limit = limits[name];
    if (limit === undefined) continue;
    const isExtended = name.includes("/") && !name.startsWith("kubernetes.io/");
    if (isExtended ? number(quantity) !== number(limit) : number(quantity) > number(limit)) {
      faults.push({
        kind: "invalid",
        field: `${field}.requests`,
        value: quantity,
        detail: isExtended ? `must be equal to ${name} limit of ${limit}` : `must be less than or equal to ${name} limit of ${limit}`,
      });
    }
  }
  return faults;
}

const scales: Readonly<Record<string, number>> = {
  n: 1e-9,
  u: 1e-6,
  m: 1e-3,
  "": 1,
  k: 1e3,
  M: 1e6,
  G: 1e9,
  T: 1e12,
  P: 1e15,
  E: 1e18,
  Ki: 2 ** 10,
  Mi: 2 ** 20,
  Gi: 2 ** 30,
  Ti: 2 ** 40,
  Pi: 2 ** 50,
  Ei: 2 ** 60,
};

/** Good enough to compare two canonical quantities. */
function number(quantity: Json): number {
  const match = /^([+-]?[\d.]+)([A-Za-z]*)(-?\d*)$/.exec(String(quantity));
  if (match === null) return Number.NaN;
  const [, digits = "0", suffix = "", exponent = ""] = match;
  return exponent !== "" && suffix === "e" ? Number(`${digits}e${exponent}`) : Number(digits) * (scales[suffix] ?? 1);
}

function tolerationFaults(toleration: JsonObject, field: string): FieldFault[] {
  const key = textAt(toleration, "key") ?? "";
  const operator = textAt(toleration, "operator") ?? "Equal";
  const faults: FieldFault[] = key === "" ? [] : keyFaults(key, `${field}.key`);
  if (key === "" && operator !== "Exists") {
    faults.push({
      kind: "invalid",
      field: `${field}.operator`,
      value: operator,
      detail: 'operator must be Exists when `key` is empty, which means "match all values and all keys"',
    });
  }
  if (operator === "Exists" && (textAt(toleration, "value") ?? "") !== "") {
    faults.push({
      kind: "invalid",
      field: `${field}.operator`,
      value: toleration.value,
      detail: "value must be empty when `operator` is 'Exists'",
    });
  }
  if (toleration.tolerationSeconds !== undefined && toleration.effect !== "NoExecute") {
    faults.push({
      kind: "invalid",
      field: `${field}.effect`,
      value: toleration.effect ?? "",
      detail: "effect must be 'NoExecute' when `tolerationSeconds` is set",
    });
  }
  return [...faults, ...oneOf(toleration, "operator", tolerationOperators, field), ...oneOf(toleration, "effect", effects, field)];
}

function spreadFaults(spread: JsonObject, field: string): FieldFault[] {
  const faults: FieldFault[] = [];
  if (typeof spread.maxSkew !== "number" || spread.maxSkew <= 0) {
    faults.push({ kind: "invalid", field: `${field}.maxSkew`, value: spread.maxSkew ?? 0, detail: "must be greater than zero" });
  }
  if ((textAt(spread, "topologyKey") ?? "") === "")
    faults.push({ kind: "required", field: `${field}.topologyKey`, detail: "can not be empty" });
  if (spread.whenUnsatisfiable === undefined)
    faults.push({ kind: "unsupported", field: `${field}.whenUnsatisfiable`, value: "", supported: spreadActions });
  return [...faults, ...oneOf(spread, "whenUnsatisfiable", spreadActions, field)];
}

function affinityFaults(spec: JsonObject, field: string): FieldFault[] {
  const faults = nodeAffinityFaults(spec, field);
  for (const kind of ["podAffinity", "podAntiAffinity"]) {
    objectsAt(spec, "affinity", kind, "requiredDuringSchedulingIgnoredDuringExecution").forEach((term, index) => {
      if ((textAt(term, "topologyKey") ?? "") === "") {
        faults.push({
          kind: "required",
          field: `${field}.${kind}.requiredDuringSchedulingIgnoredDuringExecution[${index}].topologyKey`,
          detail: "can not be empty",
        });
      }
    });
  }
  return faults;
}

const immutableRule =
  "pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)";

/** What may change in the spec of a pod that exists: images, tolerations that are added, gates that are removed, and a few more. */
function changeFaults(pod: ApiObject, old: ApiObject): FieldFault[] {
  const before = objectAt(old, "spec") ?? {};
  const after = objectAt(pod, "spec") ?? {};
  if (equalJson(before, after)) return [];
  const faults: FieldFault[] = [];
  const tolerations = objectsAt(after, "tolerations");
  if (
    !objectsAt(before, "tolerations").every((known) =>
      tolerations.some((other) => equalJson({ ...known, tolerationSeconds: null }, { ...other, tolerationSeconds: null })),
    )
  ) {
    faults.push({
      kind: "forbidden",
      field: "spec.tolerations",
      detail: "existing toleration can not be modified except its tolerationSeconds",
    });
  }
  const gates = objectsAt(before, "schedulingGates").map((gate) => gate.name);
  for (const gate of objectsAt(after, "schedulingGates")) {
    if (!gates.includes(gate.name ?? ""))
      faults.push({
        kind: "forbidden",
        field: "spec.schedulingGates",
        detail: `only deletion is allowed, but found new scheduling gate '${gate.name}'`,
      });
  }
  const isGated = gates.length > 0;
  if (faults.length === 0 && !equalJson(frozen(before, isGated), frozen(after, isGated)))
    faults.push({ kind: "forbidden", field: "spec", detail: immutableRule });
  return faults;
}

/** A spec without what may change. While a pod is gated its node selector and affinity may still be narrowed. */
function frozen(spec: JsonObject, isGated: boolean): JsonObject {
  const {
    tolerations: _t,
    activeDeadlineSeconds: _a,
    schedulingGates: _g,
    terminationGracePeriodSeconds: _p,
    nodeName: _n,
    ephemeralContainers: _e,
    ...rest
  } = spec;
  if (isGated) {
    delete rest.nodeSelector;
    delete rest.affinity;
  }
  for (const key of ["containers", "initContainers"]) {
    const containers = rest[key];
    if (Array.isArray(containers))
      rest[key] = containers.map((container) => (isObject(container) ? { ...container, image: "", resources: {} } : container));
  }
  return rest;
}
