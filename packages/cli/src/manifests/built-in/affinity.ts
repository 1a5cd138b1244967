/** Node affinity and pod (anti-)affinity of a pod, as API validation has them. */
import type { Affinity, NodeSelectorTerm, PodAffinity, PodAffinityTerm } from "@joinery/api";
import type { FieldPath } from "../field-path.ts";
import { checkKey } from "./metadata.ts";
import type { Report } from "./report.ts";
import { checkSelector, checkValueCount, listOf } from "./selector.ts";

const OPERATORS = ["In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt"];

export function checkAffinity(affinity: Affinity | undefined | null, path: FieldPath, report: Report): void {
  const node = affinity?.nodeAffinity;
  const required = node?.requiredDuringSchedulingIgnoredDuringExecution;
  if (required) checkNodeSelector(required, [...path, "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution"], report);
  for (const [index, { weight, preference }] of (node?.preferredDuringSchedulingIgnoredDuringExecution ?? []).entries()) {
    const at = [...path, "nodeAffinity", "preferredDuringSchedulingIgnoredDuringExecution", index];
    checkWeight(weight, [...at, "weight"], report);
    checkNodeTerm(preference, [...at, "preference"], report);
  }
  checkPodAffinity(affinity?.podAffinity, [...path, "podAffinity"], report);
  checkPodAffinity(affinity?.podAntiAffinity, [...path, "podAntiAffinity"], report);
}

export function checkNodeSelector(
  selector: { readonly nodeSelectorTerms?: readonly NodeSelectorTerm[] },
  path: FieldPath,
  report: Report,
): void {
  if (!selector.nodeSelectorTerms?.length) report.error([...path, "nodeSelectorTerms"], "is missing; give at least one term");
  for (const [index, term] of (selector.nodeSelectorTerms ?? []).entries())
    checkNodeTerm(term, [...path, "nodeSelectorTerms", index], report);
}

function checkNodeTerm(term: NodeSelectorTerm | undefined, path: FieldPath, report: Report): void {
  for (const [index, { key, operator, values }] of (term?.matchExpressions ?? []).entries()) {
    const at = [...path, "matchExpressions", index];
    checkKey(key ?? "", [...at, "key"], report);
    checkOperator(operator, values?.length ?? 0, at, report);
  }
  for (const [index, { key, operator, values }] of (term?.matchFields ?? []).entries()) {
    const at = [...path, "matchFields", index];
    if (key !== "metadata.name") report.error([...at, "key"], `"${key ?? ""}" is not supported; use metadata.name`);
    checkOperator(operator, values?.length ?? 0, at, report);
  }
}

function checkOperator(operator: string, count: number, path: FieldPath, report: Report): void {
  if (!OPERATORS.includes(operator)) {
    report.error([...path, "operator"], `"${operator ?? ""}" is no operator; use ${listOf(OPERATORS)}`);
    return;
  }
  if (operator === "Gt" || operator === "Lt") {
    if (count !== 1) report.error([...path, "values"], `must have exactly one value with operator ${operator}, has ${count}`);
  } else checkValueCount(operator, count, [...path, "values"], report);
}

function checkPodAffinity(affinity: PodAffinity | undefined | null, path: FieldPath, report: Report): void {
  for (const [index, term] of (affinity?.requiredDuringSchedulingIgnoredDuringExecution ?? []).entries()) {
    checkPodTerm(term, [...path, "requiredDuringSchedulingIgnoredDuringExecution", index], report);
  }
  for (const [index, { weight, podAffinityTerm }] of (affinity?.preferredDuringSchedulingIgnoredDuringExecution ?? []).entries()) {
    const at = [...path, "preferredDuringSchedulingIgnoredDuringExecution", index];
    checkWeight(weight, [...at, "weight"], report);
    checkPodTerm(podAffinityTerm, [...at, "podAffinityTerm"], report);
  }
}

function checkPodTerm(term: PodAffinityTerm | undefined, path: FieldPath, report: Report): void {
  if (!term?.topologyKey) report.error([...path, "topologyKey"], "is missing; name a node label such as kubernetes.io/hostname");
  else checkKey(term.topologyKey, [...path, "topologyKey"], report);
  checkSelector(term?.labelSelector, [...path, "labelSelector"], report);
  checkSelector(term?.namespaceSelector, [...path, "namespaceSelector"], report);
}

function checkWeight(weight: number, path: FieldPath, report: Report): void {
  if (!(weight >= 1 && weight <= 100)) report.error(path, `must be from 1 to 100, is ${weight ?? "missing"}`);
}
