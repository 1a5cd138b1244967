/** The `joinery` command: from arguments to an exit status. */
import { CommanderError } from "commander";
import { caughtCompletion, isCompletion } from "./completion.ts";
import { CommandError, type ExitStatus, exitStatus } from "./exit-status.ts";
import { createProgram } from "./program.ts";
import { type Surroundings, surroundingsOf } from "./surroundings.ts";

/** Runs one command in this process, and ends the process with its status. */
export async function main(args: readonly string[]): Promise<void> {
  endQuietlyWhenReaderIsGone(process.stdout);
  const status = await runCommand(args, surroundingsOf(process));
  // What a command wrote must have left the process; timers of a world that has ended need not keep it.
  process.stdout.write("", () => process.stderr.write("", () => process.exit(status)));
}

/** Runs one command. Every error has been written to `err` when this returns. */
export async function runCommand(args: readonly string[], surroundings: Surroundings): Promise<ExitStatus> {
  const { err } = surroundings;
  try {
    let status: ExitStatus = exitStatus.ok;
    const program = createProgram(surroundings, (ended) => {
      status = ended;
    });
    const parse = () => program.parseAsync(args, { from: "user" });
    await (isCompletion(args) ? caughtCompletion(args, surroundings.out, parse) : parse());
    return status;
  } catch (error) {
    // commander has written its own message already; help and version end with 0.
    if (error instanceof CommanderError) return error.exitCode === 0 ? exitStatus.ok : exitStatus.badInput;
    if (error instanceof CommandError) {
      err.write(`${err.style("red", "error:")} ${error.message}\n`);
      return error.status;
    }
    const detail = error instanceof Error ? (surroundings.env.JOINERY_DEBUG ? error.stack : error.message) : String(error);
    err.write(`${err.style("red", "error:")} ${detail}\n`);
    return exitStatus.fault;
  }
}

/** `joinery … | head` closes the pipe early, which is no error. */
function endQuietlyWhenReaderIsGone(stream: NodeJS.WriteStream): void {
  stream.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code === "EPIPE") process.exit(process.exitCode ?? 0);
    throw error;
  });
}
