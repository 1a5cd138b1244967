/** Defaults and rules of what makes pods: Deployments, ReplicaSets, StatefulSets, DaemonSets, Jobs, CronJobs. */
import {
  type ApiObject,
  ensureObject,
  equalJson,
  type JsonObject,
  listAt,
  objectAt,
  objectsAt,
  setDefault,
  textAt,
  valueAt,
} from "../objects/json.ts";
import { labelTestOf } from "../objects/selectors.ts";
import type { Strategy } from "../registry/resource.ts";
import type { FieldFault } from "../wire/status.ts";
import { defaultPodSpec } from "./pod-defaults.ts";
import { validatePodSpec } from "./validate-pod.ts";

function defaultTemplate(spec: JsonObject): void {
  const template = ensureObject(spec, "template");
  ensureObject(template, "metadata");
  const podSpec = ensureObject(template, "spec");
  if (objectsAt(podSpec, "containers").length > 0 || Object.keys(podSpec).length > 0) defaultPodSpec(podSpec);
}

/** What the status of a new object is before its controller has looked. */
function startStatus(status: () => JsonObject): (draft: ApiObject) => void {
  return (draft) => {
    draft.status = status();
  };
}

export const deployments: Strategy = {
  admit: startStatus(() => ({})),
  defaults: (draft) => {
    const spec = ensureObject(draft, "spec");
    setDefault(spec, "replicas", 1);
    setDefault(spec, "revisionHistoryLimit", 10);
    setDefault(spec, "progressDeadlineSeconds", 600);
    const strategy = ensureObject(spec, "strategy");
    setDefault(strategy, "type", "RollingUpdate");
    if (strategy.type === "RollingUpdate") {
      const rolling = ensureObject(strategy, "rollingUpdate");
      setDefault(rolling, "maxUnavailable", "25%");
      setDefault(rolling, "maxSurge", "25%");
    }
    defaultTemplate(spec);
  },
  validate: (object, old) => [
    ...selectorFaults(object, old),
    ...templateFaults(object, ["Always"]),
    ...(objectAt(object, "spec", "strategy", "rollingUpdate") !== undefined && textAt(object, "spec", "strategy", "type") === "Recreate"
      ? [
          {
            kind: "forbidden" as const,
            field: "spec.strategy.rollingUpdate",
            detail: "may not be specified when strategy `type` is 'Recreate'",
          },
        ]
      : []),
  ],
};

export const replicaSets: Strategy = {
  admit: startStatus(() => ({ replicas: 0 })),
  defaults: (draft) => {
    const spec = ensureObject(draft, "spec");
    setDefault(spec, "replicas", 1);
    defaultTemplate(spec);
  },
  validate: (object, old) => [...selectorFaults(object, old), ...templateFaults(object, ["Always"])],
  selectableFields: (object) => ({ "status.replicas": String(valueAt(object, "status", "replicas") ?? 0) }),
};

export const replicationControllers: Strategy = {
  admit: startStatus(() => ({ replicas: 0 })),
  defaults: (draft) => {
    const spec = ensureObject(draft, "spec");
    setDefault(spec, "replicas", 1);
    defaultTemplate(spec);
    const labels = objectAt(spec, "template", "metadata", "labels");
    if (labels !== undefined) setDefault(spec, "selector", { ...labels });
  },
};

export const statefulSets: Strategy = {
  admit: startStatus(() => ({ replicas: 0, availableReplicas: 0 })),
  defaults: (draft) => {
    const spec = ensureObject(draft, "spec");
    setDefault(spec, "replicas", 1);
    setDefault(spec, "podManagementPolicy", "OrderedReady");
    setDefault(spec, "revisionHistoryLimit", 10);
    setDefault(spec, "persistentVolumeClaimRetentionPolicy", { whenDeleted: "Retain", whenScaled: "Retain" });
    const strategy = ensureObject(spec, "updateStrategy");
    setDefault(strategy, "type", "RollingUpdate");
    if (strategy.type === "RollingUpdate") {
      const rolling = ensureObject(strategy, "rollingUpdate");
      setDefault(rolling, "partition", 0);
      setDefault(rolling, "maxUnavailable", 1);
    }
    for (const claim of objectsAt(spec, "volumeClaimTemplates")) {
      setDefault(claim, "apiVersion", "v1");
      setDefault(claim, "kind", "PersistentVolumeClaim");
      setDefault(ensureObject(claim, "spec"), "volumeMode", "Filesystem");
      setDefault(claim, "status", { phase: "Pending" });
    }
    defaultTemplate(spec);
  },
  validate: (object, old) => [
    ...statefulSetFaults(object, old),
    ...templateFaults(object, ["Always"]).filter((fault) => !isMountOfClaim(fault, object)),
  ],
};

/** Mounts may name the claim templates, which become volumes of the pods. */
function isMountOfClaim(fault: FieldFault, object: ApiObject): boolean {
  const names = objectsAt(object, "spec", "volumeClaimTemplates").map((claim) => textAt(claim, "metadata", "name"));
  return fault.kind === "not-found" && /\.volumeMounts\[\d+\]\.name$/.test(fault.field) && names.includes(String(fault.value));
}

const statefulSetMutable = [
  "replicas",
  "ordinals",
  "template",
  "updateStrategy",
  "revisionHistoryLimit",
  "persistentVolumeClaimRetentionPolicy",
  "minReadySeconds",
];

/** A changed selector is named itself; any other change that is not allowed is named as one of the spec. */
function statefulSetFaults(object: ApiObject, old: ApiObject | undefined): FieldFault[] {
  const selector = selectorFaults(object, old);
  if (old === undefined || selector.length > 0) return selector;
  const frozen = (spec: JsonObject | undefined) =>
    Object.fromEntries(Object.entries(spec ?? {}).filter(([key]) => !statefulSetMutable.includes(key)));
  if (equalJson(frozen(objectAt(object, "spec")), frozen(objectAt(old, "spec")))) return [];
  return [
    {
      kind: "forbidden",
      field: "spec",
      detail:
        "updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', 'updateStrategy', 'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden",
    },
  ];
}

const templateGeneration = "deprecated.daemonset.template.generation";

/** The number of the template, which old clients read in an annotation. The server counts it; what a client writes there does not. */
function templateGenerationOf(object: ApiObject): number {
  const given = Number.parseInt(textAt(object, "metadata", "annotations", templateGeneration) ?? "", 10);
  return given > 0 ? given : 1;
}

function setTemplateGeneration(draft: ApiObject, generation: number): void {
  ensureObject(draft.metadata, "annotations")[templateGeneration] = String(generation);
}

export const daemonSets: Strategy = {
  admit: (draft) => {
    draft.status = { currentNumberScheduled: 0, numberMisscheduled: 0, desiredNumberScheduled: 0, numberReady: 0 };
    setTemplateGeneration(draft, templateGenerationOf(draft));
  },
  beforeUpdate: (draft, old) => {
    const isChanged = !equalJson(templateOf(draft), templateOf(old));
    setTemplateGeneration(draft, templateGenerationOf(old) + (isChanged ? 1 : 0));
  },
  defaults: (draft) => {
    const spec = ensureObject(draft, "spec");
    setDefault(spec, "revisionHistoryLimit", 10);
    const strategy = ensureObject(spec, "updateStrategy");
    setDefault(strategy, "type", "RollingUpdate");
    if (strategy.type === "RollingUpdate") {
      const rolling = ensureObject(strategy, "rollingUpdate");
      setDefault(rolling, "maxUnavailable", 1);
      setDefault(rolling, "maxSurge", 0);
    }
    defaultTemplate(spec);
  },
  validate: (object, old) => [...selectorFaults(object, old), ...templateFaults(object, ["Always"])],
};

export const jobs: Strategy = {
  defaults: (draft) => defaultJobSpec(ensureObject(draft, "spec")),
  admit: (draft) => labelJob(draft),
  validate: (object, old) => [
    ...(old === undefined || equalJson(valueAt(object, "spec", "selector"), valueAt(old, "spec", "selector"))
      ? []
      : [immutable("spec.selector", valueAt(object, "spec", "selector"))]),
    ...(old === undefined ||
    equalJson(valueAt(object, "spec", "completions"), valueAt(old, "spec", "completions")) ||
    textAt(object, "spec", "completionMode") === "Indexed"
      ? []
      : [immutable("spec.completions", valueAt(object, "spec", "completions"))]),
    ...(old === undefined || equalJson(templateOf(object), templateOf(old)) || valueAt(old, "spec", "suspend") === true
      ? []
      : [immutable("spec.template", templateOf(object))]),
    ...templateFaults(object, ["OnFailure", "Never"]),
  ],
};

function templateOf(object: ApiObject): JsonObject {
  return objectAt(object, "spec", "template") ?? {};
}

function defaultJobSpec(spec: JsonObject): void {
  if (spec.completions === undefined && spec.parallelism === undefined) setDefault(spec, "completions", 1);
  setDefault(spec, "parallelism", 1);
  setDefault(spec, "backoffLimit", spec.backoffLimitPerIndex === undefined ? 6 : 2_147_483_647);
  setDefault(spec, "completionMode", "NonIndexed");
  setDefault(spec, "suspend", false);
  setDefault(spec, "podReplacementPolicy", spec.podFailurePolicy === undefined ? "TerminatingOrFailed" : "Failed");
  defaultTemplate(spec);
}

/** A Job finds its pods by its own uid, unless it brings a selector. */
function labelJob(job: ApiObject): void {
  job.status = {};
  const spec = ensureObject(job, "spec");
  setDefault(spec, "manualSelector", false);
  if (spec.manualSelector === true) return;
  const uid = textAt(job, "metadata", "uid") ?? "";
  const name = textAt(job, "metadata", "name") ?? "";
  const labels = ensureObject(ensureObject(ensureObject(spec, "template"), "metadata"), "labels");
  Object.assign(labels, {
    "batch.kubernetes.io/controller-uid": uid,
    "batch.kubernetes.io/job-name": name,
    "controller-uid": uid,
    "job-name": name,
  });
  if (job.metadata.labels === undefined && Object.keys(labels).length > 0) job.metadata.labels = { ...labels };
  spec.selector = { matchLabels: { "batch.kubernetes.io/controller-uid": uid } };
}

export const cronJobs: Strategy = {
  admit: startStatus(() => ({})),
  defaults: (draft) => {
    const spec = ensureObject(draft, "spec");
    setDefault(spec, "concurrencyPolicy", "Allow");
    setDefault(spec, "suspend", false);
    setDefault(spec, "successfulJobsHistoryLimit", 3);
    setDefault(spec, "failedJobsHistoryLimit", 1);
    const template = ensureObject(spec, "jobTemplate");
    ensureObject(template, "metadata");
    const podSpec = objectAt(template, "spec", "template", "spec");
    if (podSpec !== undefined) defaultPodSpec(podSpec);
    ensureObject(ensureObject(ensureObject(template, "spec"), "template"), "metadata");
  },
};

function immutable(field: string, value: unknown): FieldFault {
  return { kind: "invalid", field, value: value ?? null, detail: "field is immutable" };
}

function selectorFaults(object: ApiObject, old: ApiObject | undefined): FieldFault[] {
  const selector = objectAt(object, "spec", "selector");
  const labels = objectAt(object, "spec", "template", "metadata", "labels");
  const faults: FieldFault[] = [];
  if (selector === undefined) {
    if (object.kind !== "DaemonSet") faults.push({ kind: "required", field: "spec.selector" });
  } else if (objectAt(selector, "matchLabels") === undefined && listAt(selector, "matchExpressions").length === 0) {
    faults.push({
      kind: "invalid",
      field: "spec.selector",
      value: selector,
      detail: `empty selector is invalid for ${object.kind.toLowerCase()}`,
    });
  }
  if (!labelTestOf(selector)(labels)) {
    faults.push({
      kind: "invalid",
      field: "spec.template.metadata.labels",
      value: labels ?? null,
      detail: "`selector` does not match template `labels`",
    });
  }
  if (old !== undefined && !equalJson(selector, objectAt(old, "spec", "selector"))) faults.push(immutable("spec.selector", selector));
  return faults;
}

function templateFaults(object: ApiObject, restartPolicies: readonly string[]): FieldFault[] {
  const spec = objectAt(object, "spec", "template", "spec") ?? {};
  const faults = validatePodSpec(spec, "spec.template.spec");
  const policy = textAt(spec, "restartPolicy");
  const isJob = !restartPolicies.includes("Always");
  if (isJob && policy === "Always") {
    faults.push({
      kind: "required",
      field: "spec.template.spec.restartPolicy",
      detail: `valid values: ${restartPolicies.map((value) => `"${value}"`).join(", ")}`,
    });
  } else if (policy !== undefined && !restartPolicies.includes(policy)) {
    faults.push({ kind: "unsupported", field: "spec.template.spec.restartPolicy", value: policy, supported: restartPolicies });
  }
  const replicas = valueAt(object, "spec", "replicas");
  if (typeof replicas === "number" && replicas < 0) {
    faults.push({ kind: "invalid", field: "spec.replicas", value: replicas, detail: "must be greater than or equal to 0" });
  }
  return faults;
}
