/** DELETE of one object and of collections: preconditions, grace, finalizers, what happens to dependents. */
import { formatTime } from "@joinery/api";
import { type ApiObject, isObject, type Json, type JsonObject, listAt, numberAt, objectAt, textAt } from "../objects/json.ts";
import { cleanupFinalizer } from "../rules/custom-resource-definition.ts";
import { keyOfObject } from "../storage/store.ts";
import { badRequest, conflict, forbidden } from "../wire/status.ts";
import { type Backend, type Call, isDryRun } from "./backend.ts";
import { getObject, type ListAnswer, listObjects } from "./read.ts";
import { draftOf, isFinished } from "./update.ts";

interface DeleteWish {
  readonly graceSeconds?: number;
  readonly propagation?: string;
  readonly uid?: string;
  readonly resourceVersion?: string;
}

/** The answer: the object while it still goes, a Status once it is gone. */
export function remove(backend: Backend, call: Call): JsonObject {
  return removeObject(backend, call, getObject(backend, call), readWish(call));
}

export function removeCollection(backend: Backend, call: Call): ListAnswer {
  const wish = readWish(call);
  const chosen = listObjects(backend, call);
  for (const object of chosen.items) {
    const target = { ...call.target, name: textAt(object, "metadata", "name") ?? "" };
    const namespace = textAt(object, "metadata", "namespace");
    removeObject(backend, { ...call, target: namespace === undefined ? target : { ...target, namespace } }, object, wish);
  }
  return chosen;
}

function readWish({ body, query }: Call): DeleteWish {
  const options = isObject(body) ? body : {};
  const graceSeconds =
    numberAt(options, "gracePeriodSeconds") ?? (query.gracePeriodSeconds === undefined ? undefined : Number(query.gracePeriodSeconds));
  if (graceSeconds !== undefined && !Number.isInteger(graceSeconds)) throw badRequest("gracePeriodSeconds must be a whole number");
  const propagation = textAt(options, "propagationPolicy") ?? query.propagationPolicy;
  if (propagation !== undefined && !["Background", "Foreground", "Orphan"].includes(propagation)) {
    throw badRequest(`propagationPolicy: Unsupported value: "${propagation}": supported values: "Background", "Foreground", "Orphan"`);
  }
  const orphan = options.orphanDependents === true ? "Orphan" : undefined;
  const preconditions = objectAt(options, "preconditions");
  return {
    ...(graceSeconds === undefined ? {} : { graceSeconds }),
    ...((propagation ?? orphan) === undefined ? {} : { propagation: (propagation ?? orphan) as string }),
    ...(textAt(preconditions, "uid") === undefined ? {} : { uid: textAt(preconditions, "uid") as string }),
    ...(textAt(preconditions, "resourceVersion") === undefined
      ? {}
      : { resourceVersion: textAt(preconditions, "resourceVersion") as string }),
  };
}

const lastingNamespaces = new Set(["default", "kube-system", "kube-public"]);

function removeObject(backend: Backend, call: Call, object: ApiObject, wish: DeleteWish): JsonObject {
  const { resource } = call;
  const name = textAt(object, "metadata", "name") ?? "";
  if (wish.uid !== undefined && wish.uid !== object.metadata.uid) {
    throw conflict(resource, name, `Precondition failed: UID in precondition: ${wish.uid}, UID in object meta: ${object.metadata.uid}`);
  }
  if (wish.resourceVersion !== undefined && wish.resourceVersion !== object.metadata.resourceVersion) {
    throw conflict(
      resource,
      name,
      `Precondition failed: ResourceVersion in precondition: ${wish.resourceVersion}, ResourceVersion in object meta: ${object.metadata.resourceVersion}`,
    );
  }
  if (resource.kind === "Namespace" && lastingNamespaces.has(name)) throw forbidden(resource, name, "this namespace may not be deleted");
  const draft = draftOf(object);
  markDeleted(backend, draft, graceOf(object, call, wish), wish);
  const isGone = isFinished(draft, resource);
  if (isDryRun(call)) return isGone ? goneStatus(call, object) : draft;
  if (isGone) {
    backend.store.remove(resource.id, keyOfObject(object), draft);
    return resource.kind === "Pod" ? draft : goneStatus(call, object);
  }
  const isUnchanged =
    draft.metadata.deletionTimestamp === object.metadata.deletionTimestamp &&
    draft.metadata.deletionGracePeriodSeconds === object.metadata.deletionGracePeriodSeconds &&
    listAt(draft.metadata, "finalizers").length === listAt(object.metadata, "finalizers").length;
  return isUnchanged ? object : backend.store.put(resource.id, keyOfObject(object), draft);
}

/** Only pods get time to end; a pod that no kubelet knows, or that has ended, needs none. */
function graceOf(object: ApiObject, { resource }: Call, wish: DeleteWish): number {
  if (resource.kind !== "Pod") return 0;
  const phase = textAt(object, "status", "phase");
  if ((textAt(object, "spec", "nodeName") ?? "") === "" || phase === "Succeeded" || phase === "Failed") return 0;
  const asked = wish.graceSeconds ?? numberAt(object, "spec", "terminationGracePeriodSeconds") ?? 30;
  return asked < 0 ? 1 : asked;
}

function markDeleted(backend: Backend, draft: ApiObject, graceSeconds: number, wish: DeleteWish): void {
  const { metadata } = draft;
  addPropagationFinalizer(metadata, wish.propagation);
  if (draft.kind === "CustomResourceDefinition" && metadata.deletionTimestamp === undefined) {
    metadata.finalizers = [...listAt(metadata, "finalizers"), cleanupFinalizer];
  }
  const runningGrace = metadata.deletionGracePeriodSeconds;
  if (metadata.deletionTimestamp !== undefined) {
    // Deleted already: time may only become shorter.
    if (typeof runningGrace !== "number" || graceSeconds >= runningGrace) return;
    const since = Date.parse(String(metadata.deletionTimestamp)) - runningGrace * 1000;
    metadata.deletionTimestamp = formatTime(since + graceSeconds * 1000);
    metadata.deletionGracePeriodSeconds = graceSeconds;
    return;
  }
  metadata.deletionTimestamp = formatTime(backend.clock.wallMs() + graceSeconds * 1000);
  // A namespace is emptied first; it has no grace of its own.
  if (draft.kind !== "Namespace") metadata.deletionGracePeriodSeconds = graceSeconds;
  if (typeof metadata.generation === "number") metadata.generation += 1;
  if (draft.kind === "Namespace" && isObject(draft.status)) draft.status.phase = "Terminating";
}

function addPropagationFinalizer(metadata: JsonObject, propagation: string | undefined): void {
  if (propagation === undefined) return;
  const kept: Json[] = listAt(metadata, "finalizers").filter((finalizer) => finalizer !== "orphan" && finalizer !== "foregroundDeletion");
  if (propagation === "Foreground") kept.push("foregroundDeletion");
  if (propagation === "Orphan") kept.push("orphan");
  if (kept.length === 0) delete metadata.finalizers;
  else metadata.finalizers = kept;
}

function goneStatus({ resource }: Call, object: ApiObject): JsonObject {
  return {
    kind: "Status",
    apiVersion: "v1",
    metadata: {},
    status: "Success",
    details: {
      name: object.metadata.name as Json,
      ...(resource.group === "" ? {} : { group: resource.group }),
      kind: resource.resource,
      uid: object.metadata.uid as Json,
    },
  };
}
