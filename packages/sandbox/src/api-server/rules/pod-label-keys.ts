/**
 * `matchLabelKeys` and `mismatchLabelKeys` of topology spreads and pod affinity: when a pod is created, the server writes the pod's own
 * values into the label selectors, so that schedulers need not know the keys. Templates keep them as they are.
 */
import { type ApiObject, ensureObject, isObject, type JsonObject, listAt, objectAt, objectsAt, textAt } from "../objects/json.ts";
import type { FieldFault } from "../wire/status.ts";

/** Something with a `labelSelector` and keys beside it, and where it is. */
interface Term {
  readonly term: JsonObject;
  readonly field: string;
}

/** Adds what the keys mean to the selectors of a new pod. Keys that the pod has no label for mean nothing. */
export function mergeLabelKeys(pod: ApiObject): void {
  const labels = objectAt(pod.metadata, "labels") ?? {};
  for (const { term } of termsOf(objectAt(pod, "spec") ?? {}, "spec")) {
    for (const [keys, operator] of [
      [listAt(term, "matchLabelKeys"), "In"],
      [listAt(term, "mismatchLabelKeys"), "NotIn"],
    ] as const) {
      for (const key of keys) {
        const value = labels[String(key)];
        if (value === undefined) continue;
        const selector = ensureObject(term, "labelSelector");
        selector.matchExpressions = [...listAt(selector, "matchExpressions"), { key, operator, values: [value] }];
      }
    }
  }
}

/** What is wrong with the keys of a pod that is not merged yet. Keys that the pod has no label for are not looked at. */
export function labelKeyFaults(pod: ApiObject): FieldFault[] {
  const labels = objectAt(pod.metadata, "labels") ?? {};
  return termsOf(objectAt(pod, "spec") ?? {}, "spec").flatMap((term) => keyFaultsOf(term, labels));
}

const keyLists = ["matchLabelKeys", "mismatchLabelKeys"] as const;

function keyFaultsOf({ term, field }: Term, labels: JsonObject): FieldFault[] {
  const selector = objectAt(term, "labelSelector");
  if (selector === undefined) {
    return keyLists
      .filter((list) => listAt(term, list).length > 0)
      .map((list) => ({ kind: "forbidden", field: `${field}.${list}`, detail: "must not be specified when labelSelector is not set" }));
  }
  const selected = new Set([
    ...Object.keys(objectAt(selector, "matchLabels") ?? {}),
    ...objectsAt(selector, "matchExpressions").map((expression) => textAt(expression, "key")),
  ]);
  const faults: FieldFault[] = [];
  for (const list of keyLists) {
    listAt(term, list).forEach((key, index) => {
      if (selected.has(String(key)) && labels[String(key)] !== undefined)
        faults.push({ kind: "invalid", field: `${field}[${index}]`, value: key, detail: `exists in both ${list} and labelSelector` });
    });
  }
  const mismatched = listAt(term, "mismatchLabelKeys");
  listAt(term, "matchLabelKeys").forEach((key, index) => {
    if (mismatched.includes(key))
      faults.push({
        kind: "invalid",
        field: `${field}.matchLabelKeys[${index}]`,
        value: key,
        detail: "exists in both matchLabelKeys and mismatchLabelKeys",
      });
  });
  return faults;
}

function termsOf(spec: JsonObject, field: string): Term[] {
  const terms = objectsAt(spec, "topologySpreadConstraints").map((term, index) => ({
    term,
    field: `${field}.topologySpreadConstraints[${index}]`,
  }));
  for (const kind of ["podAffinity", "podAntiAffinity"]) {
    const required = "requiredDuringSchedulingIgnoredDuringExecution";
    const preferred = "preferredDuringSchedulingIgnoredDuringExecution";
    const at = `${field}.affinity.${kind}`;
    objectsAt(spec, "affinity", kind, required).forEach((term, index) => {
      terms.push({ term, field: `${at}.${required}[${index}]` });
    });
    objectsAt(spec, "affinity", kind, preferred).forEach(({ podAffinityTerm }, index) => {
      if (isObject(podAffinityTerm)) terms.push({ term: podAffinityTerm, field: `${at}.${preferred}[${index}].podAffinityTerm` });
    });
  }
  return terms;
}
