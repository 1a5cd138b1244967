/** The rules of node affinity, in the words of the real server. */
import { type JsonObject, listAt, objectAt, objectsAt, textAt } from "../objects/json.ts";
import { isDnsSubdomain, keyFaults, subdomainRule } from "../objects/validate-metadata.ts";
import type { FieldFault } from "../wire/status.ts";

/** @param field of the pod's affinity */
export function nodeAffinityFaults(spec: JsonObject, field: string): FieldFault[] {
  const required = objectAt(spec, "affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution");
  const at = `${field}.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms`;
  const faults: FieldFault[] = [];
  if (required !== undefined && listAt(required, "nodeSelectorTerms").length === 0)
    faults.push({ kind: "required", field: at, detail: "must have at least one node selector term" });
  objectsAt(required, "nodeSelectorTerms").forEach((term, index) => {
    faults.push(...termFaults(term, `${at}[${index}]`));
  });
  const preferred = "preferredDuringSchedulingIgnoredDuringExecution";
  objectsAt(spec, "affinity", "nodeAffinity", preferred).forEach((wish, index) => {
    const where = `${field}.nodeAffinity.${preferred}[${index}]`;
    const weight = typeof wish.weight === "number" ? wish.weight : 0;
    if (weight < 1 || weight > 100)
      faults.push({ kind: "invalid", field: `${where}.weight`, value: weight, detail: "must be in the range 1-100" });
    faults.push(...termFaults(objectAt(wish, "preference") ?? {}, `${where}.preference`));
  });
  return faults;
}

function termFaults(term: JsonObject, field: string): FieldFault[] {
  return [
    ...objectsAt(term, "matchExpressions").flatMap((expression, index) =>
      expressionFaults(expression, `${field}.matchExpressions[${index}]`),
    ),
    ...objectsAt(term, "matchFields").flatMap((expression, index) => fieldFaults(expression, `${field}.matchFields[${index}]`)),
  ];
}

function expressionFaults(expression: JsonObject, field: string): FieldFault[] {
  const operator = textAt(expression, "operator") ?? "";
  const values = listAt(expression, "values");
  const faults: FieldFault[] = keyFaults(textAt(expression, "key") ?? "", `${field}.key`);
  if (operator === "In" || operator === "NotIn") {
    if (values.length === 0)
      faults.push({ kind: "required", field: `${field}.values`, detail: "must be specified when `operator` is 'In' or 'NotIn'" });
  } else if (operator === "Exists" || operator === "DoesNotExist") {
    if (values.length > 0)
      faults.push({
        kind: "forbidden",
        field: `${field}.values`,
        detail: "may not be specified when `operator` is 'Exists' or 'DoesNotExist'",
      });
  } else if (operator === "Gt" || operator === "Lt") {
    if (values.length !== 1)
      faults.push({ kind: "required", field: `${field}.values`, detail: "must be specified single value when `operator` is 'Lt' or 'Gt'" });
  } else {
    faults.push({ kind: "invalid", field: `${field}.operator`, value: operator, detail: "not a valid selector operator" });
  }
  return faults;
}

/** Only the name of a node can be asked for, and only one. */
function fieldFaults(expression: JsonObject, field: string): FieldFault[] {
  const operator = textAt(expression, "operator") ?? "";
  const key = textAt(expression, "key") ?? "";
  const values = listAt(expression, "values");
  const faults: FieldFault[] = [];
  if (operator !== "In" && operator !== "NotIn")
    faults.push({ kind: "invalid", field: `${field}.operator`, value: operator, detail: "not a valid selector operator" });
  else if (values.length !== 1)
    faults.push({
      kind: "required",
      field: `${field}.values`,
      detail: "must be only one value when `operator` is 'In' or 'NotIn' for node field selector",
    });
  if (key !== "metadata.name") {
    faults.push({ kind: "invalid", field: `${field}.key`, value: key, detail: "not a valid field selector key" });
    return faults;
  }
  values.forEach((value, index) => {
    if (!isDnsSubdomain(String(value))) faults.push({ kind: "invalid", field: `${field}.values[${index}]`, value, detail: subdomainRule });
  });
  return faults;
}
