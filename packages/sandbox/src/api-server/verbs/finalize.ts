/** The `finalize` subresource of namespaces: the last word of whoever emptied it. */
import { type ApiObject, ensureObject, listAt } from "../objects/json.ts";
import type { Backend, Call } from "./backend.ts";
import { readDraft } from "./body.ts";
import { getObject } from "./read.ts";
import { commit, draftOf } from "./update.ts";

export function finalizeNamespace(backend: Backend, call: Call): ApiObject {
  const wish = readDraft(call, call.body);
  const old = getObject(backend, call);
  const draft = draftOf(old);
  ensureObject(draft, "spec").finalizers = listAt(wish, "spec", "finalizers");
  return commit(backend, call, old, draft);
}
