/** A problem from files, solved by `joinery plan` itself, so that another scheduler can be driven with the very same input. */
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import type { PlanDocument } from "@joinery/scheduling";

const JOINERY = fileURLToPath(new URL("../../packages/cli/bin/joinery.mjs", import.meta.url));

/** The plan, from the first solve of a fresh process. Throws with what the command says when the input is refused. */
export function planManifests(files: readonly string[], catalog: string | undefined): PlanDocument {
  const args = [JOINERY, "plan", ...files, ...(catalog === undefined ? [] : ["--catalog", catalog]), "-o", "json"];
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: "utf8", maxBuffer: 2 ** 30 });
  const isPlanned = status === 0 || status === 3;
  if (!isPlanned) throw new Error(`joinery plan ended with ${status}: ${stderr}`);
  return JSON.parse(stdout);
}
