import { execFileSync } from "node:child_process";
import { expect, test } from "vitest";
import { runCommand } from "./main.ts";

async function bashScript(): Promise<string> {
  let script = "";
  const terminal = {
    write(text: string) {
      script += text;
    },
    isInteractive: false,
    columns: 100,
    style: (_: unknown, text: string) => text,
  };
  await runCommand(["completion", "bash"], { env: {}, out: terminal, err: terminal, readStdin: async () => "" });
  return script;
}

/** A bash without start-up files, so without the package bash-completion, which reads the script twice and asks for `words`. */
function completed(script: string, words: readonly string[]): string {
  const quoted = words.map((word) => `'${word}'`).join(" ");
  const session = `${script}\n${script}
joinery() { printf 'plan\\twhich nodes\\n:4\\n'; }
compopt() { :; }
COMP_WORDS=(${quoted}) COMP_CWORD=${words.length - 1}
__joinery_complete
echo "\${COMPREPLY[*]}"
complete -p joinery`;
  return execFileSync("bash", ["--noprofile", "--norc", "-c", session, "bash"], { encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
}

test("bash completes words, and file names where there are none, without any package", async () => {
  expect(completed(await bashScript(), ["joinery", "pl"])).toBe("plan\ncomplete -o default -F __joinery_complete joinery\n");
});

test("the script may be read again", async () => {
  const script = await bashScript();
  expect(execFileSync("bash", ["--norc", "-c", `exec 2>&1\n${script}\n${script}`], { encoding: "utf8" })).toBe("");
});
