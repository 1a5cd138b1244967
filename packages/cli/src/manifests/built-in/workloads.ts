/** Workloads: their selector must select their own template, and the template must be a pod that the kind can run. */
import type { Job, KubeObject, LabelSelector, PodTemplateSpec, Workload } from "@joinery/api";
import { matchesLabelSelector } from "@joinery/kube";
import type { FieldPath } from "../field-path.ts";
import { checkAnnotations, checkLabels } from "./metadata.ts";
import { checkPodSpec } from "./pod-spec.ts";
import type { Report } from "./report.ts";
import { checkSelector, isEmptySelector } from "./selector.ts";

/** Deployment, ReplicaSet, StatefulSet, DaemonSet. */
export function checkWorkload(object: Workload, report: Report): void {
  const { spec } = object;
  if (!spec) {
    report.error(["spec"], "is missing");
    return;
  }
  checkCount(spec.replicas, ["spec", "replicas"], report);
  checkSelector(spec.selector, ["spec", "selector"], report);
  if (isEmptySelector(spec.selector)) report.error(["spec", "selector"], "is missing; select the labels of spec.template");
  checkTemplate(spec.template, ["spec", "template"], report, claimNames(object));
  checkSelects(spec.selector, spec.template, report);
  const policy = spec.template?.spec?.restartPolicy;
  if (policy && policy !== "Always") {
    report.error(["spec", "template", "spec", "restartPolicy"], `must be Always in a ${object.kind}, is "${policy}"`);
  }
}

/** Selects with a bare map of labels, and may leave it to the template. */
export function checkReplicationController(object: Workload, report: Report): void {
  const { spec } = object;
  if (!spec) {
    report.error(["spec"], "is missing");
    return;
  }
  checkCount(spec.replicas, ["spec", "replicas"], report);
  checkLabels(spec.selector as Record<string, string> | undefined, ["spec", "selector"], report);
  checkTemplate(spec.template, ["spec", "template"], report);
  if (spec.selector) checkSelects({ matchLabels: spec.selector as Record<string, string> }, spec.template, report);
}

export function checkJob(object: Job, report: Report): void {
  checkJobSpec(object.spec, ["spec"], report);
}

export function checkCronJob(object: KubeObject & { readonly spec?: unknown }, report: Report): void {
  const spec = object.spec as { readonly schedule?: string; readonly jobTemplate?: { readonly spec?: Job["spec"] } } | undefined;
  if (!spec?.schedule) report.error(["spec", "schedule"], 'is missing; give a cron expression such as "0 3 * * *"');
  checkJobSpec(spec?.jobTemplate?.spec, ["spec", "jobTemplate", "spec"], report);
}

export function checkPodTemplate(object: KubeObject & { readonly template?: PodTemplateSpec }, report: Report): void {
  checkTemplate(object.template, ["template"], report);
}

function checkJobSpec(spec: Job["spec"] | undefined, path: FieldPath, report: Report): void {
  if (!spec) {
    report.error(path, "is missing");
    return;
  }
  for (const field of ["parallelism", "completions", "backoffLimit"] as const) checkCount(spec[field], [...path, field], report);
  checkSelector(spec.selector, [...path, "selector"], report);
  checkTemplate(spec.template, [...path, "template"], report);
  const policy = spec.template?.spec?.restartPolicy;
  if (spec.template?.spec && policy !== "OnFailure" && policy !== "Never") {
    report.error(
      [...path, "template", "spec", "restartPolicy"],
      `must be OnFailure or Never in a Job, is ${policy ? `"${policy}"` : "missing"}`,
    );
  }
}

/** Of a StatefulSet; any other kind that had such a field would not have passed the check of its shape. */
function claimNames({ spec }: Workload): readonly (string | undefined)[] {
  const templates = (spec.volumeClaimTemplates ?? []) as readonly KubeObject[];
  return templates.map(({ metadata }) => metadata?.name);
}

function checkTemplate(
  template: PodTemplateSpec | undefined | null,
  path: FieldPath,
  report: Report,
  claims: readonly (string | undefined)[] = [],
): void {
  if (!template) {
    report.error(path, "is missing; describe the pods to run");
    return;
  }
  checkLabels(template.metadata?.labels, [...path, "metadata", "labels"], report);
  checkAnnotations(template.metadata?.annotations, [...path, "metadata", "annotations"], report);
  checkPodSpec(template.spec, [...path, "spec"], report, claims);
}

function checkSelects(selector: LabelSelector | undefined, template: PodTemplateSpec | undefined, report: Report): void {
  if (!selector || !template || isEmptySelector(selector)) return;
  if (!matchesLabelSelector(selector, template.metadata?.labels)) {
    report.error(
      ["spec", "template", "metadata", "labels"],
      "do not match spec.selector; give the template the labels that the selector asks for",
    );
  }
}

function checkCount(count: number | undefined | null, path: FieldPath, report: Report): void {
  if (typeof count === "number" && count < 0) report.error(path, `must not be negative, is ${count}`);
}
