/** What is wrong with an object: facts for programs, a sentence for people. */

/**
 * The codes of Kubernetes' own field errors (`StatusCause.reason`), and ours for what a server says by other means:
 * `UnknownField` (a strict request), `UnsupportedVersion` and `UnknownKind` (no such address).
 */
export type IssueCode =
  | "FieldValueRequired"
  | "FieldValueInvalid"
  | "FieldValueNotSupported"
  | "FieldValueDuplicate"
  | "FieldValueForbidden"
  | "FieldValueTooLong"
  | "FieldValueTooMany"
  | "FieldValueTypeInvalid"
  | "UnknownField"
  | "UnsupportedVersion"
  | "UnknownKind";

export type Path = readonly (string | number)[];

export interface Issue {
  readonly path: Path;
  readonly code: IssueCode;
  /** As a Kubernetes API server words it, without the path in front. */
  readonly message: string;
  /** What would be right, where it can be said shortly. */
  readonly wanted?: string;
}

/** `["spec", "taints", 0, "key"]` → `spec.taints[0].key`; names that are no words stand in brackets: `labels[a.b/c]`. */
export function formatPath(path: Path): string {
  let text = "";
  for (const step of path) {
    if (typeof step === "number") text += `[${step}]`;
    else if (/^[A-Za-z_$][\w$-]*$/.test(step)) text += text === "" ? step : `.${step}`;
    else text += `[${step}]`;
  }
  return text;
}

/** `spec.weight: Invalid value: 0: …`: the whole line as kubectl shows it. */
export function formatIssue({ path, message }: Issue): string {
  return path.length === 0 ? message : `${formatPath(path)}: ${message}`;
}

/** A value as it stands in messages: texts in quotes, composites by their type. */
export function shown(value: unknown): string {
  if (typeof value === "object" && value !== null) return JSON.stringify(Array.isArray(value) ? "array" : "object");
  return JSON.stringify(value) ?? "null";
}
