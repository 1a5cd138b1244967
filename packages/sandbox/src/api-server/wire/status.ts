/** The server's answers that are no success: `Status` objects in the words of a real API server. */
import type { Json, JsonObject } from "../objects/json.ts";

/** Thrown inside the server, becomes the answer. */
export class ApiFailure extends Error {
  readonly code: number;
  readonly status: JsonObject;
  readonly headers: Readonly<Record<string, string>>;

  constructor(code: number, reason: string, message: string, details?: JsonObject, headers: Readonly<Record<string, string>> = {}) {
    super(message);
    this.code = code;
    this.headers = headers;
    this.status = {
      kind: "Status",
      apiVersion: "v1",
      metadata: {},
      status: "Failure",
      message,
      ...(reason === "" ? {} : { reason }),
      ...(details === undefined ? {} : { details }),
      code,
    };
  }
}

/** What a message names: `pods "a"` or `deployments.apps "a"`. */
export interface Subject {
  readonly group: string;
  readonly resource: string;
}

function qualified({ group, resource }: Subject): string {
  return group === "" ? resource : `${resource}.${group}`;
}

function detailsOf({ group, resource }: Subject, name: string): JsonObject {
  return { ...(name === "" ? {} : { name }), ...(group === "" ? {} : { group }), kind: resource };
}

export function notFound(subject: Subject, name: string): ApiFailure {
  return new ApiFailure(404, "NotFound", `${qualified(subject)} "${name}" not found`, detailsOf(subject, name));
}

export function noSuchPath(): ApiFailure {
  return new ApiFailure(404, "NotFound", "the server could not find the requested resource", {});
}

export function alreadyExists(subject: Subject, name: string): ApiFailure {
  return new ApiFailure(409, "AlreadyExists", `${qualified(subject)} "${name}" already exists`, detailsOf(subject, name));
}

export const staleObject = "the object has been modified; please apply your changes to the latest version and try again";

export function conflict(subject: Subject, name: string, why: string, causes?: Json[]): ApiFailure {
  const details = { ...detailsOf(subject, name), ...(causes === undefined ? {} : { causes }) };
  return new ApiFailure(409, "Conflict", `Operation cannot be fulfilled on ${qualified(subject)} "${name}": ${why}`, details);
}

export function forbidden(subject: Subject, name: string, why: string, causes?: Json[]): ApiFailure {
  const details = { ...detailsOf(subject, name), ...(causes === undefined ? {} : { causes }) };
  const quoted = name === "" ? "" : ` "${name}"`;
  return new ApiFailure(403, "Forbidden", `${qualified(subject)}${quoted} is forbidden: ${why}`, details);
}

export function badRequest(message: string): ApiFailure {
  return new ApiFailure(400, "BadRequest", message);
}

export function methodNotAllowed(): ApiFailure {
  return new ApiFailure(405, "MethodNotAllowed", "the server does not allow this method on the requested resource", {});
}

/** 415 for a type that nothing takes. */
export function unsupportedMediaType(): ApiFailure {
  return new ApiFailure(415, "UnsupportedMediaType", "415: Unsupported Media Type", {});
}

/** 415 for a patch that is known, but not for this kind. */
export function notAcceptedHere(allowed: readonly string[]): ApiFailure {
  return new ApiFailure(
    415,
    "UnsupportedMediaType",
    `the body of the request was in an unknown format - accepted media types include: ${allowed.join(", ")}`,
  );
}

export function expired(message: string): ApiFailure {
  return new ApiFailure(410, "Expired", message);
}

export function unauthorized(): ApiFailure {
  return new ApiFailure(401, "Unauthorized", "Unauthorized");
}

export type FieldFault =
  | { readonly kind: "required"; readonly field: string; readonly detail?: string }
  | { readonly kind: "invalid"; readonly field: string; readonly value: unknown; readonly detail: string }
  | { readonly kind: "unsupported"; readonly field: string; readonly value: unknown; readonly supported: readonly string[] }
  | { readonly kind: "forbidden"; readonly field: string; readonly detail: string }
  | { readonly kind: "duplicate"; readonly field: string; readonly value: unknown }
  | { readonly kind: "not-found"; readonly field: string; readonly value: unknown }
  | { readonly kind: "type-invalid"; readonly field: string; readonly value: unknown; readonly detail: string }
  | { readonly kind: "too-long"; readonly field: string; readonly maximum: number }
  /** Worded by the schema engine. */
  | { readonly kind: "worded"; readonly field: string; readonly reason: string; readonly message: string }
  | { readonly kind: "too-many"; readonly field: string; readonly count: number; readonly maximum: number };

const causeReasons = {
  required: "FieldValueRequired",
  invalid: "FieldValueInvalid",
  unsupported: "FieldValueNotSupported",
  forbidden: "FieldValueForbidden",
  duplicate: "FieldValueDuplicate",
  "not-found": "FieldValueNotFound",
  "type-invalid": "FieldValueTypeInvalid",
  "too-long": "FieldValueTooLong",
  "too-many": "FieldValueTooMany",
} as const;

/** The sentence of one fault, without its field. */
function sentence(fault: FieldFault): string {
  switch (fault.kind) {
    case "required":
      return `Required value${fault.detail === undefined ? "" : `: ${fault.detail}`}`;
    case "invalid":
      return `Invalid value: ${shown(fault.value)}${fault.detail === "" ? "" : `: ${fault.detail}`}`;
    case "type-invalid":
      return `Invalid value: ${shown(fault.value)}: ${fault.detail}`;
    case "unsupported":
      return `Unsupported value: ${shown(fault.value)}: supported values: ${fault.supported.map((value) => `"${value}"`).join(", ")}`;
    case "forbidden":
      return `Forbidden: ${fault.detail}`;
    case "duplicate":
      return `Duplicate value: ${shown(fault.value)}`;
    case "not-found":
      return `Not found: ${shown(fault.value)}`;
    case "too-long":
      return `Too long: may not be more than ${fault.maximum} bytes`;
    case "worded":
      return fault.message;
    case "too-many":
      return `Too many: ${fault.count}: must have at most ${fault.maximum} items`;
  }
}

/** 422 for an object whose fields are wrong. `kind` is the object's kind, as the real message says it. */
export function invalid(group: string, kind: string, name: string, faults: readonly FieldFault[]): ApiFailure {
  const sentences = faults.map((fault) => `${fault.field}: ${sentence(fault)}`);
  const text = sentences.length === 1 ? sentences[0] : `[${sentences.join(", ")}]`;
  const causes = faults.map((fault) => ({
    reason: fault.kind === "worded" ? fault.reason : causeReasons[fault.kind],
    message: sentence(fault),
    field: fault.field,
  }));
  const details: JsonObject = { ...(name === "" ? {} : { name }), ...(group === "" ? {} : { group }), kind, causes };
  const qualifiedKind = group === "" ? kind : `${kind}.${group}`;
  return new ApiFailure(422, "Invalid", `${qualifiedKind} "${name}" is invalid: ${text}`, details);
}

function shown(value: unknown): string {
  return typeof value === "string" || typeof value === "object" ? JSON.stringify(value) : String(value);
}
