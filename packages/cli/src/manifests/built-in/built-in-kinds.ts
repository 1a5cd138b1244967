/** The built-in kinds that `plan` reads: under which version they are served, and what is checked of each. */
import type {
  CsiNode,
  Job,
  KubeObject,
  Node,
  PersistentVolume,
  PersistentVolumeClaim,
  Pod,
  PodDisruptionBudget,
  StorageClass,
  Workload,
} from "@joinery/api";
import { nearWord } from "@joinery/scheduling";
import { dnsLabel, dnsSubdomain, type NameRule } from "./names.ts";
import {
  checkCsiNode,
  checkLimitRange,
  checkNode,
  checkPersistentVolume,
  checkPersistentVolumeClaim,
  checkPodDisruptionBudget,
  checkStorageClass,
} from "./others.ts";
import { checkPodSpec } from "./pod-spec.ts";
import type { Report } from "./report.ts";
import { checkCronJob, checkJob, checkPodTemplate, checkReplicationController, checkWorkload } from "./workloads.ts";

export interface BuiltInKind {
  readonly apiVersion: string;
  readonly kind: string;
  readonly isNamespaced: boolean;
  readonly name: NameRule;
  /** Runs on objects whose fields have the right types. */
  check(object: KubeObject, report: Report): void;
}

const nothing = () => undefined;

const builtInKinds: readonly BuiltInKind[] = [
  builtIn<Pod>("v1", "Pod", (object, report) => checkPodSpec(object.spec, ["spec"], report)),
  builtIn("v1", "PodTemplate", checkPodTemplate),
  builtIn<Workload>("v1", "ReplicationController", checkReplicationController),
  builtIn("v1", "Service", nothing, { name: dnsLabel }),
  builtIn("v1", "LimitRange", checkLimitRange),
  builtIn<PersistentVolumeClaim>("v1", "PersistentVolumeClaim", checkPersistentVolumeClaim),
  builtIn<PersistentVolume>("v1", "PersistentVolume", checkPersistentVolume, { isNamespaced: false }),
  builtIn<Node>("v1", "Node", checkNode, { isNamespaced: false }),
  builtIn("v1", "Namespace", nothing, { isNamespaced: false, name: dnsLabel }),
  builtIn<Workload>("apps/v1", "Deployment", checkWorkload),
  builtIn<Workload>("apps/v1", "ReplicaSet", checkWorkload),
  builtIn<Workload>("apps/v1", "StatefulSet", checkWorkload),
  builtIn<Workload>("apps/v1", "DaemonSet", checkWorkload),
  builtIn<Job>("batch/v1", "Job", checkJob),
  builtIn("batch/v1", "CronJob", checkCronJob),
  builtIn<PodDisruptionBudget>("policy/v1", "PodDisruptionBudget", checkPodDisruptionBudget),
  builtIn<StorageClass>("storage.k8s.io/v1", "StorageClass", checkStorageClass, { isNamespaced: false }),
  builtIn<CsiNode>("storage.k8s.io/v1", "CSINode", checkCsiNode, { isNamespaced: false }),
  builtIn("scheduling.k8s.io/v1", "PriorityClass", nothing, { isNamespaced: false }),
];

/** `extensions/v1beta1` served these before they moved to `apps`. */
const MOVED_FROM_EXTENSIONS = ["Deployment", "ReplicaSet", "DaemonSet"];

export function findBuiltIn(apiVersion: string, kind: string): BuiltInKind | undefined {
  return builtInKinds.find((one) => one.kind === kind && one.apiVersion === apiVersion);
}

/** The served version where `apiVersion` is one that Kubernetes has removed, or never had, for a kind that is read here. */
export function findServedVersion(apiVersion: string, kind: string): string | undefined {
  const group = groupOf(apiVersion);
  const isMoved = group === "extensions" && MOVED_FROM_EXTENSIONS.includes(kind);
  return builtInKinds.find((one) => one.kind === kind && (isMoved || groupOf(one.apiVersion) === group))?.apiVersion;
}

/** The kind that was probably meant by one which Kubernetes does not have in its own groups. */
export function findMeantKind(apiVersion: string, kind: string): string | undefined {
  const known = builtInKinds.filter((one) => groupOf(one.apiVersion) === groupOf(apiVersion)).map((one) => one.kind);
  return nearWord(kind, known);
}

function groupOf(apiVersion: string): string {
  return apiVersion.includes("/") ? apiVersion.slice(0, apiVersion.indexOf("/")) : "";
}

function builtIn<T extends KubeObject>(
  apiVersion: string,
  kind: string,
  check: (object: T, report: Report) => void,
  { isNamespaced = true, name = dnsSubdomain }: { readonly isNamespaced?: boolean; readonly name?: NameRule } = {},
): BuiltInKind {
  // The shape of the object has been checked against the kind's fields before `check` sees it.
  return { apiVersion, kind, isNamespaced, name, check: (object, report) => check(object as T, report) };
}
