/** JSON patch (RFC 6902) with the refusals of an API server. */
import { applyPatch, type Operation } from "rfc6902";
import { copyJson, type Json, type JsonObject } from "../objects/json.ts";
import { ApiFailure, badRequest } from "../wire/status.ts";

const operationsMax = 10_000;

/** A patched copy of `original`, which stays as it is. Throws 400 for a bad patch, 422 when it does not fit the object. */
export function jsonPatch(original: JsonObject, patch: unknown): Json {
  if (!Array.isArray(patch)) throw badRequest("json: cannot unmarshal object into Go value of type jsonpatch.Patch");
  if (patch.length > operationsMax) {
    throw new ApiFailure(
      413,
      "RequestEntityTooLarge",
      `The allowed maximum operations in a JSON patch is ${operationsMax}, got ${patch.length}`,
    );
  }
  for (const operation of patch as { path?: unknown; from?: unknown }[]) refuseUnsafe(operation);
  const draft = copyJson(original);
  const failures = applyPatch(draft, patch as Operation[]).filter((failure) => failure !== null);
  if (failures.length === 0) return draft;
  throw new ApiFailure(422, "Invalid", `the server rejected our request due to an error in our request: ${failures[0]!.message}`, {});
}

/** Paths that would reach behind the object (`__proto__`) are refused before anything is applied. */
function refuseUnsafe({ path, from }: { readonly path?: unknown; readonly from?: unknown }): void {
  for (const pointer of [path, from]) {
    if (typeof pointer !== "string") continue;
    if (pointer.split("/").some((part) => part === "__proto__" || part === "constructor" || part === "prototype")) {
      throw badRequest(`json patch path ${JSON.stringify(pointer)} is not allowed`);
    }
  }
}
