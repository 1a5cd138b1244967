/** JSON merge patch (RFC 7386). */
import { copyJson, isObject, type Json } from "../objects/json.ts";

/** A patched copy of `original`, which stays as it is. */
export function mergePatch(original: Json | undefined, patch: Json): Json {
  if (!isObject(patch)) return copyJson(patch);
  const result = isObject(original) ? { ...original } : {};
  for (const [key, value] of Object.entries(patch)) {
    if (key === "__proto__") continue;
    if (value === null) delete result[key];
    else result[key] = mergePatch(result[key], value);
  }
  return result;
}
