/** Quantities that pass the pattern of admission and are none: `1e1.5`. */
import type { ResourceTexts } from "../kubernetes/meta.ts";
import { parseQuantity } from "../quantity.ts";
import type { Path } from "../schema/issue.ts";
import type { Invalidity } from "./invalidity.ts";

export function checkQuantities(texts: ResourceTexts, path: Path): Invalidity[] {
  return Object.entries(texts).flatMap(([name, text]): Invalidity[] =>
    parseQuantity(text) === undefined ? [{ kind: "invalid-quantity", path: [...path, name], message: `"${text}" is no quantity` }] : [],
  );
}
