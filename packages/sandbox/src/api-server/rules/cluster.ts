/** Defaults and rules of the kinds around pods: namespaces, nodes, services, storage, budgets, priorities, leases, events. */
import {
  type ApiObject,
  ensureObject,
  equalJson,
  type JsonObject,
  objectAt,
  objectsAt,
  setDefault,
  textAt,
  valueAt,
} from "../objects/json.ts";
import { keyFaults, validateLabels } from "../objects/validate-metadata.ts";
import type { Strategy } from "../registry/resource.ts";
import type { FieldFault } from "../wire/status.ts";
import { limitClaim } from "./limit-range.ts";

export const namespaces: Strategy = {
  admit: (draft) => {
    const labels = ensureObject(draft.metadata, "labels");
    labels["kubernetes.io/metadata.name"] = textAt(draft, "metadata", "name") ?? "";
    draft.spec = { finalizers: ["kubernetes"] };
    draft.status = { phase: "Active" };
  },
  beforeUpdate: (draft, old) => {
    // Only the finalize subresource may empty the list.
    const finalizers = objectAt(old, "spec")?.finalizers;
    if (finalizers !== undefined) ensureObject(draft, "spec").finalizers = finalizers;
    ensureObject(draft.metadata, "labels")["kubernetes.io/metadata.name"] = textAt(draft, "metadata", "name") ?? "";
  },
  selectableFields: (object) => ({ "status.phase": textAt(object, "status", "phase") ?? "" }),
};

const notReadyTaint = "node.kubernetes.io/not-ready";

export const nodes: Strategy = {
  defaults: (draft) => {
    ensureObject(draft, "spec");
  },
  // A new node is not ready until the node lifecycle controller takes this taint away.
  admit: (draft) => {
    const spec = ensureObject(draft, "spec");
    const taints = objectsAt(spec, "taints");
    if (!taints.some((taint) => taint.key === notReadyTaint && taint.effect === "NoSchedule"))
      spec.taints = [...taints, { key: notReadyTaint, effect: "NoSchedule" }];
  },
  validate: (object, old) => {
    const faults: FieldFault[] = [];
    const taints = objectsAt(object, "spec", "taints");
    const seen = new Set<string>();
    taints.forEach((taint, index) => {
      const field = `metadata.taints[${index}]`;
      faults.push(...keyFaults(textAt(taint, "key") ?? "", `${field}.key`), ...validateLabels({ x: taint.value ?? "" }, `${field}.value`));
      const effect = textAt(taint, "effect") ?? "";
      if (effect === "") faults.push({ kind: "required", field: `${field}.effect` });
      else if (!["NoSchedule", "PreferNoSchedule", "NoExecute"].includes(effect)) {
        faults.push({
          kind: "unsupported",
          field: `${field}.effect`,
          value: effect,
          supported: ["NoSchedule", "PreferNoSchedule", "NoExecute"],
        });
      }
      const id = `${taint.key}:${effect}`;
      if (seen.has(id)) faults.push({ kind: "duplicate", field, value: taint });
      seen.add(id);
    });
    const before = textAt(old, "spec", "providerID") ?? "";
    if (before !== "" && before !== textAt(object, "spec", "providerID")) {
      faults.push({
        kind: "forbidden",
        field: "spec.providerID",
        detail: 'node updates may not change providerID except from "" to valid',
      });
    }
    return faults;
  },
  selectableFields: (object) => ({ "spec.unschedulable": String(valueAt(object, "spec", "unschedulable") ?? false) }),
};

export const services: Strategy = {
  defaults: (draft) => {
    const spec = ensureObject(draft, "spec");
    setDefault(spec, "type", "ClusterIP");
    setDefault(spec, "sessionAffinity", "None");
    if (spec.type === "ExternalName") return;
    setDefault(spec, "internalTrafficPolicy", "Cluster");
    setDefault(spec, "ipFamilies", ["IPv4"]);
    setDefault(spec, "ipFamilyPolicy", "SingleStack");
    for (const port of objectsAt(spec, "ports")) {
      setDefault(port, "protocol", "TCP");
      if (port.port !== undefined) setDefault(port, "targetPort", port.port);
    }
    if (spec.type === "LoadBalancer" || spec.type === "NodePort") setDefault(spec, "externalTrafficPolicy", "Cluster");
    if (spec.type === "LoadBalancer") setDefault(spec, "allocateLoadBalancerNodePorts", true);
  },
  admit: (draft, context) => {
    const spec = ensureObject(draft, "spec");
    if (spec.type !== "ExternalName") {
      setDefault(spec, "clusterIP", freeAddress(context.values("services")));
      setDefault(spec, "clusterIPs", [spec.clusterIP ?? "None"]);
      if (spec.type === "NodePort" || spec.type === "LoadBalancer") assignNodePorts(spec, context.values("services"));
    }
    draft.status = { loadBalancer: {} };
  },
  validate: (object, old) => {
    const before = textAt(old, "spec", "clusterIP") ?? "";
    const after = textAt(object, "spec", "clusterIP") ?? "";
    return before !== "" && before !== after && textAt(object, "spec", "type") !== "ExternalName"
      ? [
          {
            kind: "invalid",
            field: "spec.clusterIPs[0]",
            value: after === "" ? null : [after],
            detail: "primary clusterIP can not be unset",
          },
        ]
      : [];
  },
};

/** Service addresses come from 10.0.0.0/16, in order, so that a world repeats. */
function freeAddress(services: Iterable<ApiObject>): string {
  const taken = new Set([...services].map((service) => textAt(service, "spec", "clusterIP")));
  for (let number = 1; number < 0xffff; number++) {
    const address = `10.0.${number >> 8}.${number & 0xff}`;
    if (!taken.has(address)) return address;
  }
  return "None";
}

const nodePortFirst = 30_000;

function assignNodePorts(spec: JsonObject, services: Iterable<ApiObject>): void {
  const taken = new Set([...services].flatMap((service) => objectsAt(service, "spec", "ports").map((port) => port.nodePort)));
  let next = nodePortFirst;
  for (const port of objectsAt(spec, "ports")) {
    while (taken.has(next)) next++;
    setDefault(port, "nodePort", next);
    taken.add(port.nodePort ?? next);
  }
}

export const persistentVolumeClaims: Strategy = {
  defaults: (draft) => setDefault(ensureObject(draft, "spec"), "volumeMode", "Filesystem"),
  admit: (draft, context) => {
    limitClaim(draft, context);
    const finalizers = Array.isArray(draft.metadata.finalizers) ? draft.metadata.finalizers : [];
    if (!finalizers.includes("kubernetes.io/pvc-protection")) draft.metadata.finalizers = [...finalizers, "kubernetes.io/pvc-protection"];
    const spec = ensureObject(draft, "spec");
    const standard = [...context.values("storage.k8s.io/storageclasses")].find(
      (candidate) => textAt(candidate, "metadata", "annotations", "storageclass.kubernetes.io/is-default-class") === "true",
    );
    if (standard !== undefined) setDefault(spec, "storageClassName", textAt(standard, "metadata", "name") ?? "");
    draft.status = { phase: "Pending" };
  },
};

export const persistentVolumes: Strategy = {
  defaults: (draft) => {
    const spec = ensureObject(draft, "spec");
    setDefault(spec, "persistentVolumeReclaimPolicy", "Retain");
    setDefault(spec, "volumeMode", "Filesystem");
  },
  admit: (draft) => {
    draft.status = { phase: "Pending" };
  },
};

export const storageClasses: Strategy = {
  defaults: (draft) => {
    setDefault(draft, "reclaimPolicy", "Delete");
    setDefault(draft, "volumeBindingMode", "Immediate");
  },
  validate: (object, old) => [
    ...((textAt(object, "provisioner") ?? "") === "" ? [{ kind: "required" as const, field: "provisioner" }] : []),
    ...(old === undefined ||
    equalJson(
      [object.parameters, object.provisioner, object.reclaimPolicy, object.volumeBindingMode],
      [old.parameters, old.provisioner, old.reclaimPolicy, old.volumeBindingMode],
    )
      ? []
      : [{ kind: "forbidden" as const, field: "parameters", detail: "updates to parameters are forbidden." }]),
  ],
};

export const podDisruptionBudgets: Strategy = {
  admit: (draft) => {
    draft.status = { disruptionsAllowed: 0, currentHealthy: 0, desiredHealthy: 0, expectedPods: 0 };
  },
  validate: (object) => {
    const { minAvailable, maxUnavailable } = objectAt(object, "spec") ?? {};
    return minAvailable !== undefined && maxUnavailable !== undefined
      ? [{ kind: "invalid", field: "spec", value: objectAt(object, "spec"), detail: "minAvailable and maxUnavailable cannot be both set" }]
      : [];
  },
};

export const priorityClasses: Strategy = {
  defaults: (draft) => {
    setDefault(draft, "preemptionPolicy", "PreemptLowerPriority");
    setDefault(draft, "value", 0);
  },
  validate: (object, old) =>
    old === undefined || old.value === object.value
      ? []
      : [{ kind: "forbidden", field: "value", detail: "may not be changed in an update." }],
};

export const events: Strategy = {
  defaults: (draft) => {
    setDefault(draft, "source", {});
    setDefault(draft, "firstTimestamp", null);
    setDefault(draft, "lastTimestamp", null);
    setDefault(draft, "eventTime", null);
    setDefault(draft, "reportingComponent", "");
    setDefault(draft, "reportingInstance", "");
  },
  selectableFields: (object) => ({
    "involvedObject.kind": textAt(object, "involvedObject", "kind") ?? "",
    "involvedObject.namespace": textAt(object, "involvedObject", "namespace") ?? "",
    "involvedObject.name": textAt(object, "involvedObject", "name") ?? "",
    "involvedObject.uid": textAt(object, "involvedObject", "uid") ?? "",
    "involvedObject.apiVersion": textAt(object, "involvedObject", "apiVersion") ?? "",
    "involvedObject.resourceVersion": textAt(object, "involvedObject", "resourceVersion") ?? "",
    "involvedObject.fieldPath": textAt(object, "involvedObject", "fieldPath") ?? "",
    reason: textAt(object, "reason") ?? "",
    reportingComponent: textAt(object, "reportingComponent") ?? "",
    source: textAt(object, "source", "component") ?? "",
    type: textAt(object, "type") ?? "",
  }),
};

export const leases: Strategy = {
  validate: (object) => {
    const faults: FieldFault[] = [];
    const least = (field: string, min: number, detail: string) => {
      const value = valueAt(object, "spec", field);
      if (typeof value === "number" && value < min) faults.push({ kind: "invalid", field: `spec.${field}`, value, detail });
    };
    least("leaseDurationSeconds", 1, "must be greater than 0");
    least("leaseTransitions", 0, "must be greater than or equal to 0");
    return faults;
  },
};

export const secrets: Strategy = {
  defaults: (draft) => {
    setDefault(draft, "type", "Opaque");
    const plain = objectAt(draft, "stringData");
    if (plain === undefined) return;
    const data = ensureObject(draft, "data");
    for (const [key, value] of Object.entries(plain)) data[key] = Buffer.from(String(value)).toString("base64");
    delete draft.stringData;
  },
  selectableFields: (object) => ({ type: textAt(object, "type") ?? "" }),
};
