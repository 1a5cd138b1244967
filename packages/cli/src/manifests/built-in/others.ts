/** Nodes, storage, budgets and the rest: what API validation demands of the fields that Joinery reads. */
import type { CsiNode, KubeObject, Node, PersistentVolume, PersistentVolumeClaim, PodDisruptionBudget, StorageClass } from "@joinery/api";
import type { FieldPath } from "../field-path.ts";
import { checkNodeSelector } from "./affinity.ts";
import { checkKey, checkText } from "./metadata.ts";
import { labelValue } from "./names.ts";
import { checkOneOf } from "./pod-spec.ts";
import type { Report } from "./report.ts";
import { checkSelector } from "./selector.ts";

interface LimitRange extends KubeObject {
  readonly spec?: { readonly limits?: readonly { readonly type?: string }[] };
}

const ACCESS_MODES = ["ReadWriteOnce", "ReadOnlyMany", "ReadWriteMany", "ReadWriteOncePod"];

export function checkNode(object: Node, report: Report): void {
  const seen = new Set<string>();
  for (const [index, { key, value, effect }] of (object.spec?.taints ?? []).entries()) {
    const at = ["spec", "taints", index];
    checkKey(key ?? "", [...at, "key"], report);
    if (value) checkText(value, labelValue, [...at, "value"], report);
    if (!effect) report.error([...at, "effect"], "is missing; use NoSchedule, PreferNoSchedule or NoExecute");
    checkOneOf(effect, ["NoSchedule", "PreferNoSchedule", "NoExecute"], [...at, "effect"], report);
    const pair = `${key}:${effect}`;
    if (seen.has(pair)) report.error(at, `repeats the taint ${pair}; give each key and effect once`);
    seen.add(pair);
  }
}

export function checkCsiNode(object: CsiNode, report: Report): void {
  if (!object.spec) {
    report.error(["spec"], "is missing");
    return;
  }
  for (const [index, { name, nodeID }] of (object.spec.drivers ?? []).entries()) {
    if (!name) report.error(["spec", "drivers", index, "name"], "is missing; name the CSI driver");
    if (!nodeID) report.error(["spec", "drivers", index, "nodeID"], "is missing; give the driver's id of the node");
  }
}

export function checkPodDisruptionBudget(object: PodDisruptionBudget, report: Report): void {
  const { minAvailable, maxUnavailable, selector, unhealthyPodEvictionPolicy } = object.spec ?? {};
  if (isGiven(minAvailable) && isGiven(maxUnavailable)) report.error(["spec"], "has minAvailable and maxUnavailable; give one of them");
  checkIntOrPercent(minAvailable, ["spec", "minAvailable"], report);
  checkIntOrPercent(maxUnavailable, ["spec", "maxUnavailable"], report);
  checkSelector(selector, ["spec", "selector"], report);
  checkOneOf(unhealthyPodEvictionPolicy, ["IfHealthyBudget", "AlwaysAllow"], ["spec", "unhealthyPodEvictionPolicy"], report);
}

export function checkPersistentVolumeClaim(object: PersistentVolumeClaim, report: Report): void {
  const { accessModes, resources } = object.spec ?? {};
  checkAccessModes(accessModes, report);
  if (!isGiven(resources?.requests?.storage))
    report.error(["spec", "resources", "requests", "storage"], "is missing; say how much storage");
}

export function checkPersistentVolume(object: PersistentVolume, report: Report): void {
  const { accessModes, capacity, nodeAffinity } = (object.spec ?? {}) as PersistentVolume["spec"] & {
    readonly accessModes?: readonly string[];
  };
  checkAccessModes(accessModes, report);
  if (!isGiven(capacity?.storage)) report.error(["spec", "capacity", "storage"], "is missing; say how much storage");
  if (nodeAffinity?.required) checkNodeSelector(nodeAffinity.required, ["spec", "nodeAffinity", "required"], report);
}

export function checkStorageClass(object: StorageClass, report: Report): void {
  if (!object.provisioner) report.error(["provisioner"], "is missing; name the provisioner, such as ebs.csi.aws.com");
  checkOneOf(object.volumeBindingMode, ["Immediate", "WaitForFirstConsumer"], ["volumeBindingMode"], report);
}

export function checkLimitRange(object: LimitRange, report: Report): void {
  for (const [index, { type }] of (object.spec?.limits ?? []).entries()) {
    if (!type) report.error(["spec", "limits", index, "type"], "is missing; use Container, Pod or PersistentVolumeClaim");
  }
}

function checkAccessModes(modes: readonly string[] | undefined | null, report: Report): void {
  if (!modes?.length) report.error(["spec", "accessModes"], "is missing; give at least one, such as ReadWriteOnce");
  for (const [index, mode] of (modes ?? []).entries()) checkOneOf(mode, ACCESS_MODES, ["spec", "accessModes", index], report);
}

function checkIntOrPercent(value: string | number | undefined | null, path: FieldPath, report: Report): void {
  if (typeof value === "number" && value < 0) report.error(path, `must not be negative, is ${value}`);
  if (typeof value === "string" && !/^(100|\d{1,2})%$/.test(value))
    report.error(path, `"${value}" is no count; use a whole number or a percentage such as 50%`);
}

function isGiven(value: unknown): boolean {
  return value !== undefined && value !== null;
}
