/** The command tree: names, help and completion. What a command does is loaded when it runs, so that each start stays small. */
import { Command } from "commander";
import { versionLine } from "./build-info.ts";
import { addControllerCommand } from "./commands/controller.ts";
import { addCrdsCommand } from "./commands/crds.ts";
import { addExplainCommand } from "./commands/explain.ts";
import { addLintCommand } from "./commands/lint.ts";
import { addPlanCommand } from "./commands/plan.ts";
import { addSandboxCommand } from "./commands/sandbox.ts";
import { addCompletion } from "./completion.ts";
import type { ExitStatus } from "./exit-status.ts";
import type { Surroundings } from "./surroundings.ts";

/** How a command that ran to its end says what its exit status is; silence means 0. */
export type End = (status: ExitStatus) => void;

export function createProgram(surroundings: Surroundings, end: End): Command {
  const { out, err } = surroundings;
  const program = new Command("joinery")
    .description("Gives a Kubernetes cluster the nodes that its pods need, just in time. Speaks Karpenter's APIs.")
    .version(versionLine(), "-V, --version", "say which version runs, under which Node, and whether from a clone or a bundle")
    .helpOption("-h, --help", "show this help")
    .helpCommand(false)
    .showHelpAfterError(`(run "joinery --help" for the commands)`)
    .showSuggestionAfterError(true)
    .exitOverride()
    .configureOutput({
      writeOut: (text) => out.write(text),
      writeErr: (text) => err.write(text),
      outputError: (text, write) => write(text.replace(/^error:/, err.style("red", "error:"))),
      getOutHelpWidth: () => Math.min(out.columns, 120),
      getErrHelpWidth: () => Math.min(err.columns, 120),
    })
    .configureHelp({ styleTitle: (title) => out.style("bold", title) })
    .addHelpText(
      "after",
      `
Examples:
  $ joinery plan manifests/                which nodes the pods in a folder would get, and what they cost
  $ kubectl get nodepools,nodeclaims,nodes,deploy,rs,sts,ds,jobs,pods,pvc,pv,sc,ns -A -o json | joinery plan -
  $ joinery explain pod web manifests/     why a pod has no place and what would help, or why it has the one that it has
  $ joinery lint manifests/                what is legal there but surely not meant
  $ joinery sandbox                        day one of a cluster, on this machine alone
  $ joinery crds | kubectl apply -f -      install the custom resources

Exit status: 0 done, 1 a fault of ours, 2 bad input, 3 some pods have no place, 4 nothing of that name, 5 lint found errors.`,
    );
  addPlanCommand(program, surroundings, end);
  addExplainCommand(program, surroundings, end);
  addLintCommand(program, surroundings, end);
  addSandboxCommand(program, surroundings, end);
  addControllerCommand(program, surroundings);
  addCrdsCommand(program, surroundings);
  addHelpCommand(program);
  addCompletion(program);
  return program;
}

/** commander's own shows the whole help for a command that is not there, and not a word of why. */
function addHelpCommand(program: Command): void {
  program
    .command("help")
    .description("show help for a command")
    .argument("[command]")
    .action((name?: string) => {
      const command = name === undefined ? program : program.commands.find((one) => one.name() === name);
      if (command === undefined) program.error(`error: unknown command '${name}'`, { code: "commander.unknownCommand" });
      command.help();
    });
}
