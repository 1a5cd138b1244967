// Makes docs/examples/*/plan.json anew with `joinery plan`: node packages/cli/scripts/update-examples.mjs (npm run examples:update).
// Look at the difference before you commit it: the plans are the contract.
import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const examples = join(import.meta.dirname, "../../../docs/examples");
const launcher = join(import.meta.dirname, "../bin/joinery.mjs");

for (const name of readdirSync(examples).sort()) {
  const folder = join(examples, name);
  if (!existsSync(join(folder, "manifests"))) continue;
  const catalog = existsSync(join(folder, "catalog.json")) ? ["--catalog", "catalog.json"] : ["--region", "us-east-1"];
  const { status, stdout, stderr } = spawnSync(process.execPath, [launcher, "plan", "manifests", ...catalog, "-o", "json"], {
    cwd: folder,
    encoding: "utf8",
    maxBuffer: 1 << 28,
  });
  if (status !== 0 && status !== 3) {
    console.error(`${name}: exit status ${status}\n${stderr}`);
    process.exitCode = 1;
    continue;
  }
  // The only figure that is not the same twice.
  writeFileSync(join(folder, "plan.json"), stdout.replace(/("solveMilliseconds": )[\d.]+/, "$10"));
  console.log(`${name}: exit status ${status}${stderr && `\n${stderr}`}`);
}
