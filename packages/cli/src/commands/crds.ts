/** `joinery crds`: the CustomResourceDefinitions as YAML. */
import type { Command } from "commander";
import type { Surroundings } from "../surroundings.ts";

export function addCrdsCommand(program: Command, { out }: Surroundings): void {
  program
    .command("crds")
    .description("print the CustomResourceDefinitions as YAML")
    .addHelpText("after", `\nExample:\n  $ joinery crds | kubectl apply --server-side -f -\n`)
    .action(async () => {
      const { renderCrds } = await import("../crds.ts");
      out.write(renderCrds());
    });
}
