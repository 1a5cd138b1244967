/** `joinery explain`: why a pod has no place, or the one that it has; why a node is what it is. Formats, "joinery explain -o json". */
import { type Command, Option } from "commander";
import { exitStatus } from "../exit-status.ts";
import type { End } from "../program.ts";
import type { Surroundings } from "../surroundings.ts";
import { type PlanningFlags, SOURCE_HELP, withPlanningOptions } from "./plan.ts";

export interface ExplainFlags extends PlanningFlags {
  readonly output: "text" | "json" | "yaml";
}

/** What people write who think of kubectl. */
const ALIASES = {
  pod: ["workload", "pods", "po", "deployment", "deploy", "statefulset", "sts", "job"],
  node: ["nodes", "no"],
};

export function addExplainCommand(program: Command, surroundings: Surroundings, end: End): void {
  const explain = program
    .command("explain")
    .description("say why a pod has no place and what would help, or why a pod or node got what it got")
    .showHelpAfterError("(say of what: joinery explain pod NAME …, which means workloads too, or joinery explain node NAME …)")
    .addHelpText(
      "after",
      `
Examples:
  $ joinery explain pod web-0 manifests/
  $ joinery explain pod shop/web manifests/        a workload stands for its pods
  $ joinery explain node default-1 manifests/      a node of the plan, or one that exists
  $ joinery explain pod shop/web --context production

Exit status: 0 explained, 4 the input has nothing of that name, 2 bad input, 1 a fault of ours.`,
    );
  addSubject(explain, "pod", "a pod or workload: why it has no place and the smallest edit that gives it one, or why it is where it is");
  addSubject(explain, "node", "a planned or existing node: its pods, its types, and what cheaper types lacked");

  function addSubject(parent: Command, subject: "pod" | "node", description: string): void {
    withPlanningOptions(parent.command(subject))
      .aliases(ALIASES[subject])
      .description(description)
      .argument("<name>", subject === "pod" ? "name or namespace/name of a pod or workload" : "name of the node")
      .argument("[source...]", SOURCE_HELP)
      .addOption(new Option("-o, --output <format>", "how to print the explanation").choices(["text", "json", "yaml"]).default("text"))
      .action(async (name: string, sources: string[], flags: ExplainFlags) => {
        const { runExplain } = await import("../explain/run-explain.ts");
        await runExplain({ subject, name, sources }, flags, surroundings);
        end(exitStatus.ok);
      });
  }
}
