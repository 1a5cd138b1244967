/** Writes the golden plan of every example in docs/examples anew: `npm run examples:update`. Read the diff before you commit it. */
import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const root = join(import.meta.dirname, "..");
const launcher = join(root, "packages/cli/bin/joinery.mjs");
const examples = "docs/examples";

for (const name of readdirSync(join(root, examples)).sort()) {
  const folder = join(examples, name);
  if (!existsSync(join(root, folder, "manifests"))) continue;
  const catalogue = join(folder, "catalog.json");
  const which = existsSync(join(root, catalogue)) ? ["--catalog", catalogue] : ["--region", "us-east-1"];
  const flagsFile = join(root, folder, "flags.json");
  const flags: readonly string[] = existsSync(flagsFile) ? JSON.parse(readFileSync(flagsFile, "utf8")) : [];
  const plan = spawnSync(process.execPath, [launcher, "plan", join(folder, "manifests"), ...which, ...flags, "-o", "json"], {
    cwd: root,
    encoding: "utf8",
  });
  if (plan.status !== 0 && plan.status !== 3) {
    console.error(`${name}: ${plan.stderr}`);
    process.exit(1);
  }
  // The time of a solve is nobody's golden value.
  writeFileSync(join(root, folder, "plan.json"), plan.stdout.replace(/"solveMilliseconds": [\d.]+/, '"solveMilliseconds": 0'));
  console.log(folder);
}
