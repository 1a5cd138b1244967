/** Texts that are templates of manifests, and no manifests yet. */

/** `{{ include "x" . }}`, `{{- if … }}`, `{{.Values.x}}`. */
const TEMPLATE = /\{\{-?\s*[\w.$"(/]/;

export function isTemplate(text: string): boolean {
  return TEMPLATE.test(text);
}

export const RENDER_FIRST = "it looks like a template of Helm; render it first: helm template CHART | joinery plan -";
