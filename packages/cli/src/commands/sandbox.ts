/** `joinery sandbox`: day one of a cluster in a terminal. */
import { type Command, InvalidArgumentError } from "commander";
import type { End } from "../program.ts";
import type { Surroundings } from "../surroundings.ts";

export interface SandboxFlags {
  readonly scenario?: string;
  readonly pods: number;
  readonly seed: string;
  readonly speed: number;
  readonly port: number;
  readonly exit: boolean;
}

export function addSandboxCommand(program: Command, surroundings: Surroundings, end: End): void {
  program
    .command("sandbox")
    .description("watch day one of a cluster: from zero nodes to running pods, on this machine alone")
    .option("--scenario <file>", "manifests to run in place of the sample workload (file, folder, or -)")
    .option("--pods <number>", "pods of the sample workload", wholeNumber(0), 40)
    .option("--seed <text>", "chance of the simulated cloud; the same seed gives the same weather", "1")
    .option("--speed <factor>", "how much faster than the clock on the wall time goes", positive, 10)
    .option("--port <number>", "port of the API server on 127.0.0.1; the next free one when it is taken", wholeNumber(0), 6443)
    .option("--exit", "end when every pod runs: with 0, or with 1 when that does not happen", false)
    .addHelpText(
      "after",
      `
Starts a Kubernetes API server, controllers, a scheduler, kubelets, EKS Fargate and EC2, all simulated in this process, and two replicas
of the controller as processes of their own. Stays up with the printed KUBECONFIG until Ctrl-C, which leaves nothing behind.

Examples:
  $ joinery sandbox
  $ joinery sandbox --pods 500 --speed 20 --exit
  $ joinery sandbox --scenario my-manifests/`,
    )
    .action(async (flags: SandboxFlags) => {
      const { runSandbox } = await import("../sandbox/run-sandbox.ts");
      end(await runSandbox(flags, surroundings));
    });
}

function wholeNumber(least: number) {
  return (text: string): number => {
    const number = Number(text);
    if (!/^\d+$/.test(text) || number < least) throw new InvalidArgumentError(`Want a whole number from ${least}.`);
    return number;
  };
}

function positive(text: string): number {
  const number = Number(text);
  if (!(number > 0 && number <= 1000)) throw new InvalidArgumentError("Want a number above 0 and up to 1000.");
  return number;
}
