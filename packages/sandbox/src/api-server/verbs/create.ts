/** POST of a new object. */
import type { Pod } from "@joinery/api";
import { generatedName, type Random, randomNameSuffix, randomUuid } from "@joinery/kube";
import { type ApiObject, copyJson, type JsonObject, textAt } from "../objects/json.ts";
import { validateMetadata } from "../objects/validate-metadata.ts";
import { createdFields } from "../patch/managed-fields.ts";
import type { Resource } from "../registry/resource.ts";
import { keyOf } from "../storage/store.ts";
import { alreadyExists, badRequest, forbidden, invalid, notFound } from "../wire/status.ts";
import { type Backend, type Call, isDryRun } from "./backend.ts";
import { readDraft } from "./body.ts";

export function create(backend: Backend, call: Call): ApiObject {
  return createDraft(backend, call, readDraft(call, call.body));
}

/** Stores a draft as a new object. Also the second half of a server-side apply of something new. */
export function createDraft(backend: Backend, call: Call, wish: ApiObject, managedFields?: JsonObject[]): ApiObject {
  const { resource } = call;
  let draft = wish;
  placeInNamespace(backend, call, draft);
  nameDraft(draft, backend.random);
  const name = textAt(draft, "metadata", "name") ?? "";
  stampNew(backend, resource, draft);
  resource.strategy.defaults?.(draft, backend);
  resource.strategy.admit?.(draft, backend);
  if (resource.kind === "Pod") draft = admittedPod(backend, draft);
  const faults = [
    ...validateMetadata(draft, resource),
    ...(resource.strategy.validate?.(draft, undefined) ?? []),
    ...(resource.custom?.validate(draft, undefined) ?? []),
  ];
  if (faults.length > 0) throw invalid(resource.group, resource.kind, name, faults);
  resource.strategy.settle?.(draft);
  call.warnings.push(...(resource.strategy.warnings ?? []));
  const key = keyOf(draft.metadata.namespace as string | undefined, name);
  if (backend.store.collection(resource.id).find(key) !== undefined) throw alreadyExists(resource, name);
  const fields = managedFields ?? (call.tracksFields ? createdFields(draft, resource, call, backend.nowText()) : []);
  if (fields.length > 0) draft.metadata.managedFields = fields;
  if (isDryRun(call)) return draft;
  return backend.store.put(resource.id, key, draft);
}

/** What the sandbox's own admission makes of a pod; a copy, since its answer may share parts with others. */
function admittedPod({ admitPod }: Backend, draft: ApiObject): ApiObject {
  if (admitPod === undefined) return draft;
  const admitted = admitPod(draft as unknown as Pod) as unknown as ApiObject;
  return admitted === draft ? draft : copyJson(admitted);
}

function placeInNamespace(backend: Backend, { resource, target }: Call, draft: ApiObject): void {
  if (!resource.isNamespaced) {
    delete draft.metadata.namespace;
    return;
  }
  const namespace = target.namespace;
  if (namespace === undefined) throw badRequest("namespace must be given in the path of a namespaced resource");
  const given = draft.metadata.namespace;
  if (typeof given === "string" && given !== "" && given !== namespace) {
    throw badRequest(`the namespace of the provided object does not match the namespace sent on the request`);
  }
  draft.metadata.namespace = namespace;
  const home = backend.find("namespaces", namespace);
  if (home === undefined) throw notFound({ group: "", resource: "namespaces" }, namespace);
  if (textAt(home, "status", "phase") === "Terminating" || home.metadata.deletionTimestamp !== undefined) {
    const name = textAt(draft, "metadata", "name") ?? "";
    throw forbidden(resource, name, `unable to create new content in namespace ${namespace} because it is being terminated`, [
      { reason: "NamespaceTerminating", message: `namespace ${namespace} is being terminated`, field: "metadata.namespace" },
    ]);
  }
}

function nameDraft(draft: ApiObject, random: Random): void {
  const { name, generateName } = draft.metadata;
  if ((typeof name === "string" && name !== "") || typeof generateName !== "string" || generateName === "") return;
  draft.metadata.name = generatedName(generateName, randomNameSuffix(random));
}

function stampNew(backend: Backend, resource: Resource, draft: ApiObject): void {
  const { metadata } = draft;
  for (const key of ["resourceVersion", "deletionTimestamp", "deletionGracePeriodSeconds", "selfLink", "managedFields", "generation"])
    delete metadata[key];
  metadata.uid = randomUuid(backend.random);
  metadata.creationTimestamp = backend.nowText();
  if (resource.hasGeneration) metadata.generation = 1;
  // With a status subresource, what a create says about status does not count. Nodes are different: kubelets register with theirs.
  if (resource.subresources.has("status") && resource.id !== "nodes") {
    delete draft.status;
    // A real server fills in defaults once more when it reads what it stored: so a kind may be ready from the start.
    const status = resource.custom?.withDefaults(draft).status;
    if (status !== undefined) draft.status = status;
  }
}
