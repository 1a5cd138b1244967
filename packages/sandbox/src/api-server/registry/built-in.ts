/** The kinds that are served without a CustomResourceDefinition: names, subresources, and which rules are theirs. */
import { shapeOfKind } from "../schema/shape.ts";
import { printers } from "../table/printers.ts";
import { eventView, viewedEvents } from "./event-view.ts";
import { apiVersionOf, type Resource, resourceId, type ScalePaths } from "./resource.ts";
import { strategies } from "./strategies.ts";

interface Row {
  readonly api: string;
  readonly kind: string;
  readonly resource: string;
  readonly isCluster?: true;
  readonly short?: string;
  readonly categories?: string;
  readonly sub?: string;
  readonly hasGeneration?: true;
}

const all = "all";
const extensions = "api-extensions";

const rows: readonly Row[] = [
  { api: "v1", kind: "ConfigMap", resource: "configmaps", short: "cm" },
  { api: "v1", kind: "Endpoints", resource: "endpoints", short: "ep" },
  { api: "v1", kind: "Event", resource: "events", short: "ev" },
  { api: "v1", kind: "LimitRange", resource: "limitranges", short: "limits" },
  { api: "v1", kind: "Namespace", resource: "namespaces", isCluster: true, short: "ns", sub: "status finalize" },
  { api: "v1", kind: "Node", resource: "nodes", isCluster: true, short: "no", sub: "status" },
  { api: "v1", kind: "PersistentVolumeClaim", resource: "persistentvolumeclaims", short: "pvc", sub: "status" },
  { api: "v1", kind: "PersistentVolume", resource: "persistentvolumes", isCluster: true, short: "pv", sub: "status" },
  {
    api: "v1",
    kind: "Pod",
    resource: "pods",
    short: "po",
    categories: all,
    sub: "status binding eviction log ephemeralcontainers resize exec attach portforward",
    hasGeneration: true,
  },
  { api: "v1", kind: "PodTemplate", resource: "podtemplates", hasGeneration: true },
  {
    api: "v1",
    kind: "ReplicationController",
    resource: "replicationcontrollers",
    short: "rc",
    categories: all,
    sub: "status scale",
    hasGeneration: true,
  },
  { api: "v1", kind: "ResourceQuota", resource: "resourcequotas", short: "quota", sub: "status" },
  { api: "v1", kind: "Secret", resource: "secrets" },
  { api: "v1", kind: "ServiceAccount", resource: "serviceaccounts", short: "sa", sub: "token" },
  { api: "v1", kind: "Service", resource: "services", short: "svc", categories: all, sub: "status" },
  { api: "apps/v1", kind: "ControllerRevision", resource: "controllerrevisions" },
  { api: "apps/v1", kind: "DaemonSet", resource: "daemonsets", short: "ds", categories: all, sub: "status", hasGeneration: true },
  {
    api: "apps/v1",
    kind: "Deployment",
    resource: "deployments",
    short: "deploy",
    categories: all,
    sub: "status scale",
    hasGeneration: true,
  },
  { api: "apps/v1", kind: "ReplicaSet", resource: "replicasets", short: "rs", categories: all, sub: "status scale", hasGeneration: true },
  {
    api: "apps/v1",
    kind: "StatefulSet",
    resource: "statefulsets",
    short: "sts",
    categories: all,
    sub: "status scale",
    hasGeneration: true,
  },
  {
    api: "autoscaling/v2",
    kind: "HorizontalPodAutoscaler",
    resource: "horizontalpodautoscalers",
    short: "hpa",
    categories: all,
    sub: "status",
  },
  { api: "batch/v1", kind: "CronJob", resource: "cronjobs", short: "cj", categories: all, sub: "status", hasGeneration: true },
  { api: "batch/v1", kind: "Job", resource: "jobs", categories: all, sub: "status", hasGeneration: true },
  { api: "coordination.k8s.io/v1", kind: "Lease", resource: "leases" },
  { api: "discovery.k8s.io/v1", kind: "EndpointSlice", resource: "endpointslices", hasGeneration: true },
  { api: "events.k8s.io/v1", kind: "Event", resource: "events", short: "ev" },
  { api: "networking.k8s.io/v1", kind: "IngressClass", resource: "ingressclasses", isCluster: true, hasGeneration: true },
  { api: "networking.k8s.io/v1", kind: "Ingress", resource: "ingresses", short: "ing", sub: "status", hasGeneration: true },
  { api: "networking.k8s.io/v1", kind: "NetworkPolicy", resource: "networkpolicies", short: "netpol", hasGeneration: true },
  { api: "node.k8s.io/v1", kind: "RuntimeClass", resource: "runtimeclasses", isCluster: true },
  { api: "policy/v1", kind: "PodDisruptionBudget", resource: "poddisruptionbudgets", short: "pdb", sub: "status", hasGeneration: true },
  { api: "rbac.authorization.k8s.io/v1", kind: "ClusterRoleBinding", resource: "clusterrolebindings", isCluster: true },
  { api: "rbac.authorization.k8s.io/v1", kind: "ClusterRole", resource: "clusterroles", isCluster: true },
  { api: "rbac.authorization.k8s.io/v1", kind: "RoleBinding", resource: "rolebindings" },
  { api: "rbac.authorization.k8s.io/v1", kind: "Role", resource: "roles" },
  { api: "resource.k8s.io/v1", kind: "DeviceClass", resource: "deviceclasses", isCluster: true, hasGeneration: true },
  { api: "resource.k8s.io/v1", kind: "ResourceClaim", resource: "resourceclaims", sub: "status" },
  { api: "resource.k8s.io/v1", kind: "ResourceClaimTemplate", resource: "resourceclaimtemplates" },
  { api: "resource.k8s.io/v1", kind: "ResourceSlice", resource: "resourceslices", isCluster: true, hasGeneration: true },
  { api: "scheduling.k8s.io/v1", kind: "PriorityClass", resource: "priorityclasses", isCluster: true, short: "pc", hasGeneration: true },
  { api: "storage.k8s.io/v1", kind: "CSIDriver", resource: "csidrivers", isCluster: true },
  { api: "storage.k8s.io/v1", kind: "CSINode", resource: "csinodes", isCluster: true },
  { api: "storage.k8s.io/v1", kind: "CSIStorageCapacity", resource: "csistoragecapacities" },
  { api: "storage.k8s.io/v1", kind: "StorageClass", resource: "storageclasses", isCluster: true, short: "sc" },
  { api: "storage.k8s.io/v1", kind: "VolumeAttachment", resource: "volumeattachments", isCluster: true, sub: "status" },
  { api: "storage.k8s.io/v1", kind: "VolumeAttributesClass", resource: "volumeattributesclasses", isCluster: true, short: "vac" },
  {
    api: "admissionregistration.k8s.io/v1",
    kind: "MutatingWebhookConfiguration",
    resource: "mutatingwebhookconfigurations",
    isCluster: true,
    categories: extensions,
    hasGeneration: true,
  },
  {
    api: "admissionregistration.k8s.io/v1",
    kind: "ValidatingWebhookConfiguration",
    resource: "validatingwebhookconfigurations",
    isCluster: true,
    categories: extensions,
    hasGeneration: true,
  },
  {
    api: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    resource: "customresourcedefinitions",
    isCluster: true,
    short: "crd crds",
    categories: extensions,
    sub: "status",
    hasGeneration: true,
  },
  { api: "apiregistration.k8s.io/v1", kind: "APIService", resource: "apiservices", isCluster: true, categories: extensions, sub: "status" },
];

const workloadScale: ScalePaths = {
  specReplicas: ["spec", "replicas"],
  statusReplicas: ["status", "replicas"],
  selector: ["spec", "selector"],
};

export function builtInResources(): Resource[] {
  return rows.map(toResource).map((resource) => (resource.group === "events.k8s.io" ? asView(resource) : resource));
}

/** Events are one collection, whatever name they are asked for by. */
function asView(resource: Resource): Resource {
  const { printer } = resource;
  return {
    ...resource,
    id: "events",
    view: eventView,
    strategy: viewedEvents,
    ...(printer === undefined ? {} : { printer: { ...printer, cells: (object, now) => printer.cells(eventView.toStored(object), now) } }),
  };
}

function toResource(row: Row): Resource {
  const slash = row.api.indexOf("/");
  const group = slash < 0 ? "" : row.api.slice(0, slash);
  const version = row.api.slice(slash + 1);
  const subresources = new Set(words(row.sub));
  const printer = printers[row.kind];
  return {
    id: resourceId(group, row.resource),
    group,
    version,
    kind: row.kind,
    listKind: `${row.kind}List`,
    resource: row.resource,
    singular: row.kind.toLowerCase(),
    isNamespaced: row.isCluster !== true,
    shortNames: words(row.short),
    categories: words(row.categories),
    subresources,
    hasGeneration: row.hasGeneration === true,
    isCustom: false,
    strategy: strategies[row.kind] ?? {},
    shape: shapeOfKind(apiVersionOf({ group, version }), row.kind) ?? { kind: "any" },
    ...(subresources.has("scale") ? { scale: workloadScale } : {}),
    ...(printer === undefined ? {} : { printer }),
  };
}

function words(text: string | undefined): string[] {
  return text === undefined ? [] : text.split(" ");
}
