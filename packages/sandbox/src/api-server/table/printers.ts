/** How each built-in kind is shown in a table. A kind without a line here shows name and age. */
import { type ApiObject, type Json, type JsonObject, listAt, numberAt, objectAt, objectsAt, textAt, valueAt } from "../objects/json.ts";
import { labelSelectorText } from "../objects/selectors.ts";
import type { Cell, TablePrinter } from "../registry/resource.ts";
import { age } from "./age.ts";
import { none, orNone, printer, toColumn, unknown, unset } from "./columns.ts";
import { podPrinter } from "./pod-printer.ts";
import { mapCell, workloadPrinters } from "./workload-printers.ts";

const created = (object: ApiObject, nowMs: number) => age(object.metadata.creationTimestamp, nowMs);

export const printers: Readonly<Record<string, TablePrinter>> = {
  ...workloadPrinters,
  Pod: podPrinter,
  Node: printer(
    ["Status", "Roles", "Age", "Version", "+Internal-IP", "+External-IP", "+OS-Image", "+Kernel-Version", "+Container-Runtime"],
    (node, now) => {
      const info = (key: string) => textAt(node, "status", "nodeInfo", key);
      return [
        nodeStatus(node),
        nodeRoles(node),
        created(node, now),
        info("kubeletVersion") ?? "",
        nodeAddress(node, "InternalIP"),
        nodeAddress(node, "ExternalIP"),
        info("osImage") || unknown,
        info("kernelVersion") || unknown,
        info("containerRuntimeVersion") || unknown,
      ];
    },
  ),
  Namespace: printer(["Status", "Age"], (object, now) => [textAt(object, "status", "phase") ?? "", created(object, now)]),
  Service: printer(["Type", "Cluster-IP", "External-IP", "Port(s)", "Age", "+Selector"], (object, now) => [
    textAt(object, "spec", "type") ?? "",
    orNone(textAt(object, "spec", "clusterIP")),
    externalAddress(object),
    servicePorts(object),
    created(object, now),
    mapCell(objectAt(object, "spec", "selector")),
  ]),
  ConfigMap: printer(["Data", "Age"], (object, now) => [size(object.data) + size(object.binaryData), created(object, now)]),
  Secret: printer(["Type", "Data", "Age"], (object, now) => [textAt(object, "type") ?? "", size(object.data), created(object, now)]),
  ServiceAccount: printer(["Age"], (object, now) => [created(object, now)]),
  Event: {
    columns: ["Last Seen", "Type", "Reason", "Object", "+Subobject", "+Source", "Message", "+First Seen", "+Count"]
      .map(toColumn)
      .concat({ name: "Name", type: "string", format: "name", priority: 1 }),
    cells: eventCells,
  },
  Endpoints: printer(["Endpoints", "Age"], (object, now) => [endpointsText(object), created(object, now)]),
  EndpointSlice: printer(["AddressType", "Ports", "Endpoints", "Age"], (object, now) => [
    textAt(object, "addressType") ?? "",
    objectsAt(object, "ports")
      .map((port) => String(port.port ?? "*"))
      .join(",") || unset,
    objectsAt(object, "endpoints")
      .flatMap((endpoint) => listAt(endpoint, "addresses"))
      .join(",") || unset,
    created(object, now),
  ]),
  PersistentVolume: printer(
    [
      "Capacity",
      "Access Modes",
      "Reclaim Policy",
      "Status",
      "Claim",
      "StorageClass",
      "VolumeAttributesClass",
      "Reason",
      "Age",
      "+VolumeMode",
    ],
    (object, now) => {
      const claim = objectAt(object, "spec", "claimRef");
      return [
        textAt(object, "spec", "capacity", "storage") ?? "",
        accessModes(listAt(object, "spec", "accessModes")),
        textAt(object, "spec", "persistentVolumeReclaimPolicy") ?? "",
        object.metadata.deletionTimestamp === undefined ? (textAt(object, "status", "phase") ?? "") : "Terminating",
        claim === undefined ? "" : `${claim.namespace}/${claim.name}`,
        textAt(object, "spec", "storageClassName") ?? "",
        textAt(object, "spec", "volumeAttributesClassName") ?? unset,
        textAt(object, "status", "reason") ?? "",
        created(object, now),
        textAt(object, "spec", "volumeMode") ?? unset,
      ];
    },
  ),
  PersistentVolumeClaim: printer(
    ["Status", "Volume", "Capacity", "Access Modes", "StorageClass", "VolumeAttributesClass", "Age", "+VolumeMode"],
    (object, now) => {
      const volume = textAt(object, "spec", "volumeName") ?? "";
      return [
        object.metadata.deletionTimestamp === undefined ? (textAt(object, "status", "phase") ?? "") : "Terminating",
        volume,
        volume === "" ? "" : (textAt(object, "status", "capacity", "storage") ?? ""),
        volume === "" ? "" : accessModes(listAt(object, "status", "accessModes")),
        textAt(object, "spec", "storageClassName") ?? "",
        textAt(object, "spec", "volumeAttributesClassName") ?? unset,
        created(object, now),
        textAt(object, "spec", "volumeMode") ?? unset,
      ];
    },
  ),
  ResourceQuota: printer(["Request", "Limit", "Age"], (object, now) => {
    const used = objectAt(object, "status", "used") ?? {};
    const entries = Object.entries(objectAt(object, "status", "hard") ?? {}).map(
      ([name, hard]) => [name, `${name}: ${used[name] ?? 0}/${hard}`] as const,
    );
    const limits = entries.filter(([name]) => name.startsWith("limits."));
    const requests = entries.filter(([name]) => !name.startsWith("limits."));
    return [requests.map(([, text]) => text).join(", "), limits.map(([, text]) => text).join(", "), created(object, now)];
  }),
  LimitRange: printer(["Created At:date"], createdAt),
  Role: printer(["Created At:date"], createdAt),
  ClusterRole: printer(["Created At:date"], createdAt),
  RoleBinding: printer(["Role", "Age", "+Users", "+Groups", "+ServiceAccounts"], bindingCells),
  ClusterRoleBinding: printer(["Role", "Age", "+Users", "+Groups", "+ServiceAccounts"], bindingCells),
  Lease: printer(["Holder", "Age"], (object, now) => [textAt(object, "spec", "holderIdentity") ?? "", created(object, now)]),
  PodDisruptionBudget: printer(["Min Available", "Max Unavailable", "Allowed Disruptions:integer", "Age"], (object, now) => [
    String(valueAt(object, "spec", "minAvailable") ?? "N/A"),
    String(valueAt(object, "spec", "maxUnavailable") ?? "N/A"),
    numberAt(object, "status", "disruptionsAllowed") ?? 0,
    created(object, now),
  ]),
  PriorityClass: printer(["Value:integer", "Global-Default:boolean", "Age", "PreemptionPolicy"], (object, now) => [
    numberAt(object, "value") ?? 0,
    object.globalDefault === true,
    created(object, now),
    textAt(object, "preemptionPolicy") ?? "",
  ]),
  StorageClass: printer(["Provisioner", "ReclaimPolicy", "VolumeBindingMode", "AllowVolumeExpansion", "Age"], (object, now) => [
    textAt(object, "provisioner") ?? "",
    textAt(object, "reclaimPolicy") ?? "Delete",
    textAt(object, "volumeBindingMode") ?? unset,
    String(object.allowVolumeExpansion === true),
    created(object, now),
  ]),
  CSINode: printer(["Drivers:integer", "Age"], (object, now) => [objectsAt(object, "spec", "drivers").length, created(object, now)]),
  CSIDriver: printer(
    [
      "AttachRequired:boolean",
      "PodInfoOnMount:boolean",
      "StorageCapacity:boolean",
      "TokenRequests",
      "RequiresRepublish:boolean",
      "Modes",
      "Age",
    ],
    (object, now) => [
      valueAt(object, "spec", "attachRequired") !== false,
      valueAt(object, "spec", "podInfoOnMount") === true,
      valueAt(object, "spec", "storageCapacity") === true,
      objectsAt(object, "spec", "tokenRequests")
        .map((request) => String(request.audience ?? ""))
        .join(",") || unset,
      valueAt(object, "spec", "requiresRepublish") === true,
      listAt(object, "spec", "volumeLifecycleModes").join(",") || none,
      created(object, now),
    ],
  ),
  VolumeAttachment: printer(["Attacher", "PV", "Node", "Attached:boolean", "Age"], (object, now) => [
    textAt(object, "spec", "attacher") ?? "",
    textAt(object, "spec", "source", "persistentVolumeName") ?? "",
    textAt(object, "spec", "nodeName") ?? "",
    valueAt(object, "status", "attached") === true,
    created(object, now),
  ]),
  RuntimeClass: printer(["Handler", "Age"], (object, now) => [textAt(object, "handler") ?? "", created(object, now)]),
  NetworkPolicy: printer(["Pod-Selector", "Age"], (object, now) => [
    orNone(labelSelectorText(valueAt(object, "spec", "podSelector"))),
    created(object, now),
  ]),
  IngressClass: printer(["Controller", "Parameters", "Age"], (object, now) => [
    textAt(object, "spec", "controller") ?? "",
    none,
    created(object, now),
  ]),
  Ingress: printer(["Class", "Hosts", "Address", "Ports", "Age"], (object, now) => [
    orNone(textAt(object, "spec", "ingressClassName")),
    objectsAt(object, "spec", "rules")
      .map((rule) => textAt(rule, "host") || "*")
      .join(",") || "*",
    objectsAt(object, "status", "loadBalancer", "ingress")
      .map((address) => textAt(address, "ip") || textAt(address, "hostname") || "")
      .join(","),
    objectsAt(object, "spec", "tls").length > 0 ? "80, 443" : "80",
    created(object, now),
  ]),
  HorizontalPodAutoscaler: printer(["Reference", "Targets", "MinPods", "MaxPods", "Replicas", "Age"], (object, now) => [
    `${textAt(object, "spec", "scaleTargetRef", "kind")}/${textAt(object, "spec", "scaleTargetRef", "name")}`,
    unknown,
    String(valueAt(object, "spec", "minReplicas") ?? unset),
    numberAt(object, "spec", "maxReplicas") ?? 0,
    numberAt(object, "status", "currentReplicas") ?? 0,
    created(object, now),
  ]),
  CustomResourceDefinition: printer(
    ["Scope", "Versions", "Created At:date", "+Group", "+Kind", "+ShortNames", "+Established:boolean"],
    (object) => [
      textAt(object, "spec", "scope") ?? "",
      objectsAt(object, "spec", "versions")
        .map((version) => String(version.name))
        .join(","),
      String(object.metadata.creationTimestamp ?? ""),
      textAt(object, "spec", "group") ?? "",
      textAt(object, "spec", "names", "kind") ?? "",
      listAt(object, "spec", "names", "shortNames").join(","),
      objectsAt(object, "status", "conditions").some((condition) => condition.type === "Established" && condition.status === "True"),
    ],
  ),
  APIService: printer(["Service", "Available", "Age"], (object, now) => [
    objectAt(object, "spec", "service") === undefined
      ? "Local"
      : `${textAt(object, "spec", "service", "namespace")}/${textAt(object, "spec", "service", "name")}`,
    "True",
    created(object, now),
  ]),
  ValidatingWebhookConfiguration: printer(["Webhooks:integer", "Age"], (object, now) => [
    objectsAt(object, "webhooks").length,
    created(object, now),
  ]),
  MutatingWebhookConfiguration: printer(["Webhooks:integer", "Age"], (object, now) => [
    objectsAt(object, "webhooks").length,
    created(object, now),
  ]),
};

function createdAt({ metadata }: ApiObject): Cell[] {
  return [String(metadata.creationTimestamp ?? "")];
}

function size(value: Json | undefined): number {
  return typeof value === "object" && value !== null ? Object.keys(value).length : 0;
}

function nodeStatus(node: ApiObject): string {
  const ready = objectsAt(node, "status", "conditions").find((condition) => condition.type === "Ready");
  const text = ready === undefined ? "Unknown" : ready.status === "True" ? "Ready" : "NotReady";
  return valueAt(node, "spec", "unschedulable") === true ? `${text},SchedulingDisabled` : text;
}

function nodeRoles({ metadata }: ApiObject): string {
  const prefix = "node-role.kubernetes.io/";
  const labels = objectAt(metadata, "labels") ?? {};
  const roles = Object.entries(labels).flatMap(([key, value]) =>
    key.startsWith(prefix) ? [key.slice(prefix.length)] : key === "kubernetes.io/role" && value !== "" ? [String(value)] : [],
  );
  return orNone([...new Set(roles)].sort().join(","));
}

function nodeAddress(node: ApiObject, type: string): string {
  return orNone(
    textAt(
      objectsAt(node, "status", "addresses").find((address) => address.type === type),
      "address",
    ),
  );
}

function externalAddress(service: ApiObject): string {
  if (textAt(service, "spec", "type") === "ExternalName") return textAt(service, "spec", "externalName") ?? "";
  const ingress = objectsAt(service, "status", "loadBalancer", "ingress").map(
    (address) => textAt(address, "ip") ?? textAt(address, "hostname") ?? "",
  );
  const all = [...ingress, ...listAt(service, "spec", "externalIPs").map(String)];
  if (all.length > 0) return all.join(",");
  return textAt(service, "spec", "type") === "LoadBalancer" ? "<pending>" : none;
}

function servicePorts(service: ApiObject): string {
  const ports = objectsAt(service, "spec", "ports").map(
    (port) => `${port.port}${port.nodePort === undefined ? "" : `:${port.nodePort}`}/${port.protocol ?? "TCP"}`,
  );
  return orNone(ports.join(","));
}

function endpointsText(object: ApiObject): string {
  const all = objectsAt(object, "subsets").flatMap((subset) =>
    objectsAt(subset, "addresses").flatMap((address) => {
      const ports = objectsAt(subset, "ports");
      return ports.length === 0 ? [String(address.ip)] : ports.map((port) => `${address.ip}:${port.port}`);
    }),
  );
  return all.length > 3 ? `${all.slice(0, 3).join(",")} + ${all.length - 3} more...` : orNone(all.join(","));
}

const modeShort: Readonly<Record<string, string>> = {
  ReadWriteOnce: "RWO",
  ReadOnlyMany: "ROX",
  ReadWriteMany: "RWX",
  ReadWriteOncePod: "RWOP",
};

function accessModes(modes: readonly Json[]): string {
  return modes.map((mode) => modeShort[String(mode)] ?? String(mode)).join(",");
}

function bindingCells(object: ApiObject, nowMs: number): Cell[] {
  const subjects = (kind: string, text: (subject: JsonObject) => string) =>
    objectsAt(object, "subjects")
      .filter((subject) => subject.kind === kind)
      .map(text)
      .join(", ");
  return [
    `${textAt(object, "roleRef", "kind")}/${textAt(object, "roleRef", "name")}`,
    created(object, nowMs),
    subjects("User", (subject) => String(subject.name)),
    subjects("Group", (subject) => String(subject.name)),
    subjects("ServiceAccount", (subject) => `${subject.namespace}/${subject.name}`),
  ];
}

function eventCells(event: ApiObject, nowMs: number): Cell[] {
  const first = textAt(event, "firstTimestamp") ?? textAt(event, "eventTime");
  const last = textAt(event, "series", "lastObservedTime") ?? textAt(event, "lastTimestamp") ?? first;
  const count = numberAt(event, "series", "count") ?? numberAt(event, "count") ?? 1;
  const kind = textAt(event, "involvedObject", "kind") ?? "";
  const source = textAt(event, "source", "component") || (textAt(event, "reportingComponent") ?? "");
  const host = textAt(event, "source", "host") || (textAt(event, "reportingInstance") ?? "");
  return [
    age(last, nowMs),
    textAt(event, "type") ?? "",
    textAt(event, "reason") ?? "",
    `${kind.toLowerCase()}/${textAt(event, "involvedObject", "name") ?? ""}`,
    textAt(event, "involvedObject", "fieldPath") ?? "",
    [source, host].filter((part) => part !== "").join(", "),
    (textAt(event, "message") ?? "").trim(),
    age(first, nowMs),
    count,
    String(event.metadata.name ?? ""),
  ];
}
