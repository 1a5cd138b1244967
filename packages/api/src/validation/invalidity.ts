/** What the controller finds wrong with an object that admission has let through. It never refuses a request; it makes a condition False. */
import type { Path } from "../schema/issue.ts";
import { formatPath } from "../schema/issue.ts";

export type InvalidityKind =
  | "restricted-label"
  | "invalid-key"
  | "invalid-value"
  | "invalid-operator"
  | "missing-values"
  | "too-few-values"
  | "no-known-value"
  | "invalid-bound"
  | "invalid-effect"
  | "duplicate-taint"
  | "invalid-duration"
  | "restricted-resource"
  | "restricted-tag"
  | "invalid-alias"
  | "invalid-quantity";

export interface Invalidity {
  readonly kind: InvalidityKind;
  readonly path: Path;
  readonly message: string;
}

export interface RuntimeVerdict {
  /** In order of their paths, so that the condition's message does not change by itself. */
  readonly invalid: readonly Invalidity[];
  /** Worth a line in the log, though the object is valid. */
  readonly warnings: readonly Invalidity[];
}

/** The message of the condition: all that is wrong, joined with `; `. */
export function invalidityMessage(invalid: readonly Invalidity[]): string {
  return invalid.map(({ path, message }) => `${formatPath(path)}: ${message}`).join("; ");
}

export function verdictOf(invalid: readonly Invalidity[], warnings: readonly Invalidity[] = []): RuntimeVerdict {
  return { invalid: inPathOrder(invalid), warnings: inPathOrder(warnings) };
}

function inPathOrder(list: readonly Invalidity[]): readonly Invalidity[] {
  return list.toSorted((one, other) => comparePaths(one.path, other.path));
}

/** Numbers as numbers, names in byte order. */
function comparePaths(one: Path, other: Path): number {
  for (let at = 0; at < Math.min(one.length, other.length); at++) {
    const [step, otherStep] = [one[at]!, other[at]!];
    if (step === otherStep) continue;
    if (typeof step === "number" && typeof otherStep === "number") return step - otherStep;
    return String(step) < String(otherStep) ? -1 : 1;
  }
  return one.length - other.length;
}
