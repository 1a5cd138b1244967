/** Objects that others name and the input does not have. */
import type { Kind } from "@joinery/api";
import { nearWord } from "@joinery/scheduling";
import type { FieldPath } from "../manifests/field-path.ts";
import type { Manifest } from "../manifests/manifest.ts";
import type { Facts } from "./facts.ts";
import type { Remark } from "./finding.ts";
import { listText } from "./words.ts";

export interface Place {
  readonly manifest: Manifest;
  readonly path: FieldPath;
}

/** Of a cluster all there is is known; of files it may be elsewhere. */
export function gravity({ kind }: Pick<Kind, "kind">, { wholeKinds }: Pick<Facts, "wholeKinds">): "error" | "warning" {
  return wholeKinds.has(kind) ? "error" : "warning";
}

/**
 * A note where the input has none of the kind, so that nothing can be said.
 * @param known names of those that it has
 * @param happens without the object: where it is missing, and where that is not known
 */
export function missingObject(
  of: Pick<Kind, "kind">,
  name: string,
  known: readonly string[],
  place: Place,
  facts: Pick<Facts, "wholeKinds">,
  happens: { readonly missing: string; readonly unknown: string },
): Remark {
  const { kind } = of;
  if (known.length === 0 && !facts.wholeKinds.has(kind)) {
    const message = `the input has no ${kind} here; whether ${name} exists was not checked, and ${happens.unknown}`;
    return { ...place, severity: "note", message, instead: `the ${kind} among the files` };
  }
  const near = nearWord(name, known);
  const others = known.length === 0 ? "" : `, only ${listText([...known].sort())}`;
  return {
    ...place,
    severity: gravity(of, facts),
    message: `there is no ${kind} ${name} in the input${others}, ${happens.missing}`,
    instead: near ?? (known.length === 0 ? `a ${kind} of that name` : `one of these, or a ${kind} of that name among the files`),
  };
}
