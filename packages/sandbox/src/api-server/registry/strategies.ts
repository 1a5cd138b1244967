/** Which rules belong to which built-in kind. */
import { ensureObject, objectAt, textAt } from "../objects/json.ts";
import {
  events,
  leases,
  namespaces,
  nodes,
  persistentVolumeClaims,
  persistentVolumes,
  podDisruptionBudgets,
  priorityClasses,
  secrets,
  services,
  storageClasses,
} from "../rules/cluster.ts";
import { customResourceDefinitions } from "../rules/custom-resource-definition.ts";
import { limitRanges } from "../rules/limit-range.ts";
import { admitPod } from "../rules/pod-admission.ts";
import { defaultPod, defaultPodSpec } from "../rules/pod-defaults.ts";
import { mergeLabelKeys } from "../rules/pod-label-keys.ts";
import { validatePod } from "../rules/validate-pod.ts";
import { cronJobs, daemonSets, deployments, jobs, replicaSets, replicationControllers, statefulSets } from "../rules/workloads.ts";
import type { Strategy } from "./resource.ts";

const pods: Strategy = {
  defaults: (draft) => {
    const spec = ensureObject(draft, "spec");
    defaultPodSpec(spec);
    defaultPod(spec);
  },
  admit: admitPod,
  validate: validatePod,
  settle: mergeLabelKeys,
  selectableFields: (object) => ({
    "spec.nodeName": textAt(object, "spec", "nodeName") ?? "",
    "spec.restartPolicy": textAt(object, "spec", "restartPolicy") ?? "",
    "spec.schedulerName": textAt(object, "spec", "schedulerName") ?? "",
    "spec.serviceAccountName": textAt(object, "spec", "serviceAccountName") ?? "",
    "spec.hostNetwork": String(objectAt(object, "spec")?.hostNetwork === true),
    "status.phase": textAt(object, "status", "phase") ?? "",
    "status.podIP": textAt(object, "status", "podIP") ?? "",
    "status.nominatedNodeName": textAt(object, "status", "nominatedNodeName") ?? "",
  }),
};

/** Kinds that are kept and shown, and whose controller a real cluster has and this one lacks. */
const autoscalers: Strategy = {
  warnings: ["the sandbox runs no pod autoscaler: a HorizontalPodAutoscaler is kept and changes no replicas; kubectl scale does"],
};
const quotas: Strategy = { warnings: ["the sandbox enforces no quota: a ResourceQuota is kept and refuses nothing"] };

/** Kinds that are not here have no rules beyond their structure and metadata. */
export const strategies: Readonly<Record<string, Strategy>> = {
  Pod: pods,
  Deployment: deployments,
  ReplicaSet: replicaSets,
  ReplicationController: replicationControllers,
  StatefulSet: statefulSets,
  DaemonSet: daemonSets,
  Job: jobs,
  CronJob: cronJobs,
  Namespace: namespaces,
  Node: nodes,
  Service: services,
  PersistentVolume: persistentVolumes,
  PersistentVolumeClaim: persistentVolumeClaims,
  StorageClass: storageClasses,
  Lease: leases,
  PodDisruptionBudget: podDisruptionBudgets,
  PriorityClass: priorityClasses,
  Event: events,
  LimitRange: limitRanges,
  HorizontalPodAutoscaler: autoscalers,
  ResourceQuota: quotas,
  Secret: secrets,
  CustomResourceDefinition: customResourceDefinitions,
};
