/** `--scheduler-config`: a file, or the document itself as Karpenter's variable has it. Rules O-31, O-57. */
import { readFile } from "node:fs/promises";
import type { TopologySpreadConstraint } from "@joinery/api";
import { CommandError, exitStatus } from "../exit-status.ts";
import { fileFault } from "../manifests/file-fault.ts";
import { formatProblem } from "../manifests/problem.ts";
import { parseSchedulerConfig } from "./parse-scheduler-config.ts";

/** Throws `CommandError` when the document is wrong: nothing starts with half of it. "" = none. */
export async function readSchedulerConfig(value: string): Promise<readonly TopologySpreadConstraint[]> {
  if (value.trim() === "") return [];
  const isDocument = /^\s*[{[]|\n|^\s*[A-Za-z]+\s*:(\s|$)/.test(value);
  const outcome = isDocument ? parseSchedulerConfig(value, "scheduler-config") : parseSchedulerConfig(await textOf(value), value);
  if (outcome.kind === "config") return outcome.constraints;
  const [first] = outcome.problems;
  const message =
    outcome.problems.length === 1
      ? formatProblem(first!)
      : `the scheduler configuration has ${outcome.problems.length} faults\n${outcome.problems.map(formatProblem).join("\n")}`;
  throw new CommandError(message, exitStatus.badInput);
}

async function textOf(file: string): Promise<string> {
  try {
    return await readFile(file, "utf8");
  } catch (error) {
    throw new CommandError(
      `scheduler-config: cannot read ${file}: ${fileFault(error)}; give a file, or the document itself`,
      exitStatus.badInput,
    );
  }
}
