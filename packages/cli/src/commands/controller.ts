/** `joinery controller`: the controller itself, with Karpenter's flags and environment variables. Section 1 of the operations chapter. */
import { type Command, InvalidArgumentError, Option } from "commander";
import type { ControllerFlags } from "../controller/run-controller.ts";
import { environmentName, type Setting, settingTable } from "../controller/setting-table.ts";
import { parseFlag } from "../controller/setting-values.ts";
import type { Surroundings } from "../surroundings.ts";

export function addControllerCommand(program: Command, surroundings: Surroundings): void {
  const command = program
    .command("controller")
    .description("run the controller against a cluster")
    .addOption(new Option("--cloud-provider <name>", "who makes nodes").choices(["aws", "kwok"]).default("aws"))
    .option("--kubeconfig <file>", "how to reach the cluster; else KUBECONFIG, the pod's service account, ~/.kube/config")
    .option("--instance-types-file-path <file>", "kwok: catalogue of instance types (JSON)", surroundings.env.INSTANCE_TYPES_FILE_PATH)
    .option("--ec2-endpoint <url>", "aws: speak to a simulated EC2 at this address")
    .addOption(new Option("--bind-address <address>").hideHelp())
    .addOption(new Option("--service-account-directory <folder>").hideHelp())
    .addOption(new Option("--stop-with-stdin").hideHelp())
    .addOption(new Option("--clock-speed <factor>").argParser(Number).hideHelp())
    .addOption(new Option("--clock-anchor <realMs,wallMs>").hideHelp());
  for (const setting of Object.values(settingTable)) command.addOption(optionOf(setting));
  command
    .addHelpText(
      "after",
      `
Each setting has an environment variable: its name in capitals, such as CLUSTER_NAME for --cluster-name. A flag wins over it.
SIGTERM and SIGINT stop the controller cleanly; it hands its Lease over.

Examples:
  $ joinery controller --cluster-name production
  $ joinery controller --cloud-provider kwok --kubeconfig ~/.kube/config --leader-election-namespace kube-system`,
    )
    .action(async (flags: ControllerFlags) => {
      const { runController } = await import("../controller/run-controller.ts");
      await runController(flags, surroundings);
    });
}

function optionOf(setting: Setting): Option {
  const { flag, kind, help, fallback, isWithoutEffect } = setting;
  const value = kind === "bool" ? "[true|false]" : `<${kind}>`;
  const shown = kind === "duration" ? `${Number(fallback) / 1000}s` : String(fallback);
  const option = new Option(`--${flag} ${value}`, `${help} (env ${environmentName(setting)}${shown === "" ? "" : `, default ${shown}`})`);
  if (kind === "bool") option.preset("true");
  if (isWithoutEffect) option.hideHelp();
  return option.argParser((text: string) => {
    try {
      return parseFlag(kind, text);
    } catch (error) {
      throw new InvalidArgumentError(error instanceof Error ? error.message : String(error));
    }
  });
}
