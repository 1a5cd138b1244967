/** Says what is wrong with an input and stops, so that nothing is half-applied (exit status 2). */
import { CommandError, exitStatus } from "../exit-status.ts";
import type { Terminal } from "../terminal/terminal.ts";
import type { Loaded } from "./load.ts";
import { formatProblem, type InputProblem } from "./problem.ts";

/** Warnings of a large live cluster would bury everything else. */
const WARNINGS_SHOWN_MAX = 20;

export function requireSound(loaded: Loaded, err: Terminal): void {
  const { errors, warnings } = loaded;
  for (const warning of warnings.slice(0, WARNINGS_SHOWN_MAX)) err.write(`${err.style("yellow", "warning:")} ${formatProblem(warning)}\n`);
  if (warnings.length > WARNINGS_SHOWN_MAX)
    err.write(`${err.style("yellow", "warning:")} ${warnings.length - WARNINGS_SHOWN_MAX} more of the like\n`);
  if (errors.length > 0) throw new CommandError(messageOf(errors), exitStatus.badInput);
}

function messageOf(errors: readonly InputProblem[]): string {
  const [first] = errors;
  if (errors.length === 1) return formatProblem(first!);
  return `the input has ${errors.length} faults\n${errors.map(formatProblem).join("\n")}`;
}
