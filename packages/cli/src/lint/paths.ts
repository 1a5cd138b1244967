/** Where fields that several rules speak of are. */
import type { FieldPath } from "../manifests/field-path.ts";

export const TEMPLATE_LABELS: FieldPath = ["spec", "template", "metadata", "labels"];
export const TEMPLATE_SPEC: FieldPath = ["spec", "template", "spec"];
export const REQUIREMENTS: FieldPath = [...TEMPLATE_SPEC, "requirements"];
export const DISRUPTION: FieldPath = ["spec", "disruption"];
export const BUDGETS: FieldPath = [...DISRUPTION, "budgets"];
