/**
 * Shell completion by @bomb.sh/tab, whose answers go to `console.log`. They are caught here: so they take the way of all output, and so
 * a place where no word of ours fits completes file names, as manifests and catalogues are files.
 */
import tab from "@bomb.sh/tab/commander";
import type { Command } from "commander";
import type { Terminal } from "./terminal/terminal.ts";

/** Directives that end an answer: nothing but these words; or file names where there are none. */
const WORDS_ONLY = ":4";
const FILES_TOO = ":0";

export function addCompletion(program: Command): void {
  tab(program, { completionCommandName: "completion" });
  program.commands
    .find((command) => command.name() === "completion")
    ?.description("print a completion script for bash, zsh, fish or powershell")
    .addHelpText("after", "\nExample:\n  $ source <(joinery completion bash)\n");
}

export function isCompletion([command]: readonly string[]): boolean {
  return command === "complete" || command === "completion";
}

export async function caughtCompletion(args: readonly string[], out: Terminal, work: () => Promise<unknown>): Promise<void> {
  const { log } = console;
  const lines: string[] = [];
  console.log = (text: unknown) => void lines.push(String(text));
  try {
    await work();
  } finally {
    console.log = log;
  }
  const isFile = lines.length === 1 && lines[0] === WORDS_ONLY && !args.at(-1)?.startsWith("-");
  const text = isFile ? FILES_TOO : lines.join("\n");
  out.write(`${args[0] === "completion" && args[1] === "bash" ? inAnyBash(text) : text}\n`);
}

/** The library's script needs the package bash-completion and a bash of 4.4, can be read once only, and completes no file names. */
function inAnyBash(script: string): string {
  return script
    .replace(/^readonly (?=ShellComp)/gm, "")
    .replace(/^( *)(_get_comp_words_by_ref .*)$/m, (_, blanks: string, call: string) =>
      [`if declare -F _get_comp_words_by_ref >/dev/null; then`, `    ${call}`, "else", ...WORDS_OF_BASH.map((line) => `    ${line}`), "fi"]
        .map((line) => blanks + line)
        .join("\n"),
    )
    .replace(/^complete -F/m, "type compopt >/dev/null 2>&1 || compopt() { :; }\ncomplete -o default -F");
}

const WORDS_OF_BASH = [`words=("\${COMP_WORDS[@]}")`, "cword=$COMP_CWORD", `cur="\${words[cword]}"`, `prev="\${words[cword - 1]}"`];
