// Runs vitest from the repository's root beside what a suite's own runner has started, and gives its exit status.
import { spawn } from "node:child_process";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");

/** Stop signals are passed on, so that the runner can end what it started once vitest has ended. */
export function runVitest(config, env) {
  return new Promise((resolve) => {
    const args = ["run", "--config", config, ...process.argv.slice(2)];
    const child = spawn("vitest", args, { cwd: root, env, stdio: "inherit" });
    for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => child.kill(signal));
    child.on("exit", (code) => resolve(code ?? 1));
  });
}
