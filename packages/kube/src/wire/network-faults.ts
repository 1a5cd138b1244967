/** What a failed connection means: whether the server can have acted, and what a person should read. */
import { TransportError, type TransportFault } from "./errors.ts";
import type { ApiRequest } from "./transport.ts";

/** Nothing was sent: the request is safe to repeat. */
const UNREACHABLE_CODES = new Set([
  "ECONNREFUSED",
  "ENOTFOUND",
  "EAI_AGAIN",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "ETIMEDOUT",
  "UND_ERR_CONNECT_TIMEOUT",
  "DEPTH_ZERO_SELF_SIGNED_CERT",
  "SELF_SIGNED_CERT_IN_CHAIN",
  "UNABLE_TO_VERIFY_LEAF_SIGNATURE",
  "UNABLE_TO_GET_ISSUER_CERT_LOCALLY",
  "CERT_HAS_EXPIRED",
  "ERR_TLS_CERT_ALTNAME_INVALID",
]);

/** The connection ended before the answer began. */
export function isHangUp(error: unknown): boolean {
  const code = codeOf(error);
  return code === "UND_ERR_SOCKET" || code === "ECONNRESET" || code === "EPIPE";
}

export function faultOf(error: unknown, origin: string, request: ApiRequest): TransportError {
  if (error instanceof TransportError) {
    return error;
  }
  const fault: TransportFault = UNREACHABLE_CODES.has(codeOf(error)) ? "unreachable" : "broken";
  const state = fault === "unreachable" ? "cannot be reached" : "broke the connection";
  return new TransportError(fault, `Cannot ${request.method} ${request.path}: ${origin} ${state}: ${messageOf(error)}`, error);
}

function codeOf(error: unknown): string {
  const { code, errors } = (error ?? {}) as { readonly code?: string; readonly errors?: readonly { readonly code?: string }[] };
  return code ?? errors?.[0]?.code ?? "";
}

export function messageOf(error: unknown): string {
  // When a name has several addresses, the message is empty and the causes are inside.
  const { message, errors } = (error ?? {}) as { readonly message?: string; readonly errors?: readonly Error[] };
  return message || errors?.map((one) => one.message).join("; ") || codeOf(error) || String(error);
}
