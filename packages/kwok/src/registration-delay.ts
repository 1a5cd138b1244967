/** How long a Node takes to appear: `spec.nodeRegistrationDelay` of its node class. Section 8 of the API chapter. */
import { type KwokNodeClass, nanosToMs, parseDuration } from "@joinery/api";

/** Milliseconds; 0 where nothing is said. */
export function registrationDelayMs({ spec }: KwokNodeClass): number {
  return nanosToMs(parseDuration(spec?.nodeRegistrationDelay ?? "0s") ?? 0n);
}
