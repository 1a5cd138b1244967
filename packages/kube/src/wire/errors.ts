/** What can go wrong with a request: the server said no (`ApiError`), or there was no answer (`TransportError`). */

/** A field of the object that the server found wrong. */
export interface StatusCause {
  readonly reason?: string;
  readonly message?: string;
  /** Path of the field. */
  readonly field?: string;
}

/** `details` of a Kubernetes `Status`. */
export interface StatusDetails {
  readonly name?: string;
  readonly group?: string;
  readonly kind?: string;
  readonly uid?: string;
  readonly causes?: readonly StatusCause[];
  readonly retryAfterSeconds?: number;
}

/** A Kubernetes `Status`, as servers answer when they refuse. */
export interface StatusBody {
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly status?: string;
  readonly code?: number;
  readonly reason?: string;
  readonly message?: string;
  readonly details?: StatusDetails;
}

export interface ApiErrorFacts {
  readonly status: number;
  readonly reason: string;
  readonly message: string;
  readonly details?: StatusDetails;
  /** How long the server asks to wait before the next try. */
  readonly retryAfterMs?: number;
  /** Method and path of the request. */
  readonly request?: string;
}

export class ApiError extends Error {
  override readonly name = "ApiError";
  /** HTTP status; for errors inside a watch, the code of the Status object. */
  readonly status: number;
  /** Kubernetes' word for it: `NotFound`, `Conflict`, `AlreadyExists`, `Expired`, `Invalid` … */
  readonly reason: string;
  readonly details: StatusDetails | undefined;
  readonly retryAfterMs: number | undefined;
  readonly request: string | undefined;

  constructor(facts: ApiErrorFacts) {
    super(facts.message);
    this.status = facts.status;
    this.reason = facts.reason;
    this.details = facts.details;
    this.retryAfterMs = facts.retryAfterMs;
    this.request = facts.request;
  }
}

export type TransportFault = "timeout" | "unreachable" | "broken" | "malformed" | "credentials";

export class TransportError extends Error {
  override readonly name = "TransportError";
  /**
   * `timeout`: no answer in time; `unreachable`: no connection; `broken`: it broke midway, the server may have acted;
   * `malformed`: the answer is no JSON; `credentials`: they could not be read or made.
   */
  readonly fault: TransportFault;

  constructor(fault: TransportFault, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.fault = fault;
  }
}

/** Makes an `ApiError` of an answer that is no success. The body may be a Status, text, or nothing. */
export function apiErrorFrom(
  status: number,
  body: unknown,
  { request, retryAfterSeconds }: { readonly request?: string; readonly retryAfterSeconds?: number } = {},
): ApiError {
  const said = isStatusBody(body) ? body : {};
  const code = status >= 400 ? status : (said.code ?? 500);
  const seconds = said.details?.retryAfterSeconds ?? retryAfterSeconds;
  return new ApiError({
    status: code,
    reason: said.reason || (REASONS[code] ?? "Unknown"),
    message:
      said.message ||
      (typeof body === "string" && body !== "" ? body.trim() : `the server answered ${code} to ${request ?? "the request"}`),
    details: said.details,
    retryAfterMs: seconds === undefined ? undefined : seconds * 1000,
    request,
  });
}

function isStatusBody(body: unknown): body is StatusBody {
  return typeof body === "object" && body !== null && ("code" in body || "reason" in body || "message" in body);
}

const REASONS: Readonly<Record<number, string>> = {
  400: "BadRequest",
  401: "Unauthorized",
  403: "Forbidden",
  404: "NotFound",
  405: "MethodNotAllowed",
  406: "NotAcceptable",
  409: "Conflict",
  410: "Gone",
  413: "RequestEntityTooLarge",
  415: "UnsupportedMediaType",
  422: "Invalid",
  429: "TooManyRequests",
  500: "InternalError",
  503: "ServiceUnavailable",
  504: "Timeout",
};

export function isNotFound(error: unknown): error is ApiError {
  return hasStatus(error, 404);
}

/** Another writer was faster. `AlreadyExists` shares the status 409 and is not meant. */
export function isConflict(error: unknown): error is ApiError {
  return hasStatus(error, 409) && error.reason !== "AlreadyExists";
}

export function isAlreadyExists(error: unknown): error is ApiError {
  return hasStatus(error, 409) && error.reason === "AlreadyExists";
}

/** The resource version or continue token is too old. */
export function isGone(error: unknown): error is ApiError {
  return error instanceof ApiError && (error.status === 410 || error.reason === "Expired" || error.reason === "Gone");
}

/** Also how the eviction API says that a disruption budget does not allow it. */
export function isTooManyRequests(error: unknown): error is ApiError {
  return hasStatus(error, 429);
}

export function isInvalid(error: unknown): error is ApiError {
  return hasStatus(error, 422);
}

export function isForbidden(error: unknown): error is ApiError {
  return hasStatus(error, 403);
}

export function isUnauthorized(error: unknown): error is ApiError {
  return hasStatus(error, 401);
}

/** Whether the same request may succeed a little later: no answer, overload, or a fault of the server. */
export function isTransient(error: unknown): boolean {
  return error instanceof TransportError || (error instanceof ApiError && (error.status === 429 || error.status >= 500));
}

function hasStatus(error: unknown, status: number): error is ApiError {
  return error instanceof ApiError && error.status === status;
}
