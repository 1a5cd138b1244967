/** What AWS answers when it does not do what was asked. Codes: W-651, W-652, X-25. */

/** `network`: no answer came, so nobody knows whether the call took effect. */
export type AwsFault = "client" | "server" | "network";

/** The message begins with the code. */
export class AwsError extends Error {
  override readonly name = "AwsError";
  /** As AWS spells it, e.g. `RequestLimitExceeded`. */
  readonly code: string;
  readonly fault: AwsFault;

  constructor(code: string, message: string, fault: AwsFault = "client") {
    super(`${code}: ${message}`);
    this.code = code;
    this.fault = fault;
  }
}

const NOT_FOUND_CODES: ReadonlySet<string> = new Set([
  "InvalidCapacityReservationId.NotFound",
  "InvalidInstanceID.NotFound",
  "InvalidLaunchTemplateName.NotFoundException",
  "InvalidLaunchTemplateId.NotFound",
  "QueueDoesNotExist",
  "NoSuchEntity",
  "ParameterNotFound",
]);

/** W-652. */
export function isAwsNotFound(error: unknown): boolean {
  return error instanceof AwsError && NOT_FOUND_CODES.has(error.code);
}

/** Whether AWS answered with this very code. */
export function hasAwsCode(error: unknown, code: string): error is AwsError {
  return error instanceof AwsError && error.code === code;
}
