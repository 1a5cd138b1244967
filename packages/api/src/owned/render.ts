/** CRDs as YAML, for the chart, for `joinery crds` and for `kubectl apply -f -`. */
import { stringify } from "yaml";
import type { CustomResourceDefinition } from "../schema/open-api.ts";
import { crdOf, OWNED_KINDS } from "./definitions.ts";

const HEAD = "# Made by `npm run generate` from packages/api. Do not edit.\n";

/** One YAML document; the same definition always gives the same bytes. */
export function renderCrd(crd: CustomResourceDefinition): string {
  return stringify(crd, { lineWidth: 0, version: "1.1", aliasDuplicateObjects: false });
}

/** File name → text of the chart's generated files. */
export function crdFiles(): ReadonlyMap<string, string> {
  return new Map(OWNED_KINDS.map((kind) => [`${kind.group}_${kind.resource}.yaml`, HEAD + renderCrd(crdOf(kind))]));
}
