/** The CustomResourceDefinitions of all our kinds as one YAML stream. */
import { crdOf, OWNED_KINDS, renderCrd } from "@joinery/api";

export function renderCrds(): string {
  return OWNED_KINDS.map((kind) => renderCrd(crdOf(kind))).join("---\n");
}
