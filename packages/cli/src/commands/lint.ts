/** `joinery lint`: what in these manifests is legal but surely not meant? Formats, "Output of joinery lint". */
import { type Command, Option } from "commander";
import { exitStatus } from "../exit-status.ts";
import type { LiveFlags } from "../live/connect.ts";
import type { End } from "../program.ts";
import type { Surroundings } from "../surroundings.ts";
import { featureGatesOption, SOURCE_HELP, schedulerConfigOption, withLiveOptions } from "./plan.ts";

export interface LintFlags extends LiveFlags {
  readonly catalog?: string;
  readonly region: string;
  readonly output: "text" | "json" | "sarif";
  readonly severity: "error" | "warning" | "note";
  readonly skip: readonly string[];
  readonly featureGates: string;
  readonly schedulerConfig: string;
}

export function addLintCommand(program: Command, surroundings: Surroundings, end: End): void {
  const { env } = surroundings;
  withLiveOptions(program.command("lint"))
    .description("find what is legal but surely not meant: in pools, workloads and disruption budgets")
    .argument("[source...]", SOURCE_HELP)
    .option("--catalog <file>", "instance types to choose from, in the JSON format of Karpenter's KWOK provider")
    .option("--region <region>", "region of the built-in EC2 catalogue", env.AWS_REGION ?? env.AWS_DEFAULT_REGION ?? "us-east-1")
    .addOption(new Option("-o, --output <format>", "how to print the findings").choices(["text", "json", "sarif"]).default("text"))
    .addOption(new Option("--severity <least>", "leave out what is less grave").choices(["error", "warning", "note"]).default("note"))
    .option("--skip <rule...>", "leave out what these rules find", [])
    .addOption(featureGatesOption())
    .addOption(schedulerConfigOption())
    .addHelpText(
      "after",
      `
Each finding says where (file and line), what happens, and what to write instead. docs/lint.md explains every rule.
What is looked at is the input alone: the more of the cluster it has, the more can be said.

Examples:
  $ joinery lint manifests/
  $ joinery lint nodepool.yaml deployment.yaml --severity warning
  $ joinery lint manifests/ --skip budget-blocks startup-taint-stays
  $ joinery lint manifests/ -o sarif > joinery.sarif
  $ joinery lint --context production --severity warning
  $ kubectl get nodepools,ec2nodeclasses,nodes,deploy,rs,sts,ds,jobs,pods,pdb,pvc,pv,sc,ns -A -o json | joinery lint -

Exit status: 0 no errors, 5 some findings are errors, 2 bad input, 1 a fault of ours.`,
    )
    .action(async (names: string[], flags: LintFlags) => {
      const { runLint } = await import("../lint/run-lint.ts");
      end((await runLint(names, flags, surroundings)) ? exitStatus.ok : exitStatus.foundErrors);
    });
}
