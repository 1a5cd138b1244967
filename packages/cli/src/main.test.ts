import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { version } from "./build-info.ts";
import { runCommand } from "./main.ts";
import { wantsColor } from "./terminal/terminal.ts";

async function run(args: readonly string[], stdin = "", env: Readonly<Record<string, string>> = {}) {
  const written = { out: "", err: "" };
  const terminal = (name: "out" | "err") => ({
    write(text: string) {
      written[name] += text;
    },
    isInteractive: false,
    columns: 100,
    style: (_: unknown, text: string) => text,
  });
  const status = await runCommand(args, { env, out: terminal("out"), err: terminal("err"), readStdin: async () => stdin });
  return { status, ...written };
}

const EMPTY_LIST = '{"apiVersion":"v1","kind":"List","items":[]}';

test("the version is that of the package", () => {
  expect(JSON.parse(readFileSync(join(import.meta.dirname, "../package.json"), "utf8")).version).toBe(version);
});

test.each([
  { args: ["--version"], status: 0, out: /^joinery \d+\.\d+\.\d+ \(clone of .+; Node v\d+/ },
  { args: ["--help"], status: 0, out: /Commands:[\s\S]*plan[\s\S]*Exit status/ },
  { args: ["plan", "--help"], status: 0, out: /Examples:/ },
  { args: ["crds"], status: 0, out: /name: nodepools\.karpenter\.sh/ },
  { args: ["completion", "bash"], status: 0, out: /^# bash completion for joinery/ },
  { args: ["completion", "zsh"], status: 0, out: /^#compdef joinery/ },
  { args: ["completion", "fish"], status: 0, out: /fish completion for joinery/ },
  { args: ["completion", "powershell"], status: 0, out: /powershell completion for joinery/i },
  { args: ["completion", "ksh"], status: 2, err: /Allowed choices are zsh, bash, fish, powershell/ },
  { args: ["complete", "--", "pl"], status: 0, out: /^plan\tshow which nodes .+\n:4\n$/ },
  { args: ["complete", "--", "plan", "--out"], status: 0, out: /^--output\thow to print the plan\n:4\n$/ },
  { args: ["complete", "--", "plan", "--output", ""], status: 0, out: /^table\t\njson\t\nyaml\t\n:4\n$/ },
  { args: ["complete", "--", "plan", "my-mani"], status: 0, out: /^:0\n$/ },
  { args: ["plna"], status: 2, err: /unknown command 'plna'\n\(Did you mean plan\?\)/ },
  { args: ["plan", "--catalogue", "x", "y"], status: 2, err: /unknown option '--catalogue'\n\(Did you mean --catalog\?\)/ },
  { args: ["help"], status: 0, out: /Commands:[\s\S]*plan[\s\S]*help \[command\] +show help[\s\S]*Exit status/ },
  { args: ["help", "plan"], status: 0, out: /^Usage: joinery plan /m },
  { args: ["help", "nope"], status: 2, err: /^error: unknown command 'nope'\n\(run "joinery --help"/ },
  { args: ["sandbox", "--speed", "1001"], status: 2, err: /--speed[\s\S]*Want a number above 0 and up to 1000\./ },
  { args: ["plan"], status: 2, err: /^error: there is no input; name manifest files, folders or - for stdin, or a cluster with --live/ },
  { args: ["lint"], status: 2, err: /^error: there is no input;/ },
  { args: ["explain", "pod", "web"], status: 2, err: /^error: there is no input;/ },
  { args: ["plan", "-", "-o", "xml"], status: 2, err: /Allowed choices are table, json, yaml/ },
  { args: ["plan", "-", "--region", "mars-1"], stdin: EMPTY_LIST, status: 2, err: /no built-in catalogue of region "mars-1"/ },
  {
    args: ["plan", "-", "--catalog", "nowhere.json"],
    stdin: EMPTY_LIST,
    status: 2,
    err: /cannot read the catalogue nowhere\.json: no such file/,
  },
  { args: ["plan", "-"], status: 2, err: /^error: there is no object in standard input; want Kubernetes objects as YAML or JSON\n$/ },
  { args: ["lint", "-"], status: 2, err: /^error: there is no object in standard input;/ },
  {
    args: ["plan", "-", "--catalog", "."],
    stdin: EMPTY_LIST,
    status: 2,
    err: /cannot read the catalogue \.: it is a folder; give a JSON file/,
  },
  {
    args: ["plan", "-", "--scheduler-config", "."],
    stdin: EMPTY_LIST,
    status: 2,
    err: /scheduler-config: cannot read \.: it is a folder; give a file/,
  },
  { args: ["plan", "-", "--kubeconfig", "."], stdin: EMPTY_LIST, status: 2, err: /Cannot read kubeconfig \./ },
  {
    args: ["plan", "-", "--feature-gates", "NodeOverlays=true"],
    stdin: EMPTY_LIST,
    status: 2,
    err: /^error: feature-gates: there is no gate "NodeOverlays"; did you mean NodeOverlay\?\n$/,
  },
  {
    args: ["lint", "-", "--feature-gates", "nodeoverlay=true"],
    stdin: EMPTY_LIST,
    status: 2,
    err: /there is no gate "nodeoverlay"; did you mean NodeOverlay\?/,
  },
  {
    args: ["explain", "pod", "x", "-", "--feature-gates", "toString=true"],
    stdin: EMPTY_LIST,
    status: 4,
    err: /^warning: feature-gates: there is no gate "toString", so it is ignored; the gates are NodeRepair, /,
  },
  {
    args: ["lint", "-", "--feature-gates", "Drift=false"],
    stdin: EMPTY_LIST,
    status: 0,
    err: /^warning: there is no object in the input, only an empty List\n$/,
  },
  { args: ["plan", "nowhere.yaml"], status: 2, err: /^error: nowhere\.yaml: no such file or folder\n$/ },
])("joinery $args", async ({ args, stdin, status, out, err }) => {
  const result = await run(args, stdin);
  expect(result.status).toBe(status);
  if (out !== undefined) expect(result.out).toMatch(out);
  if (err !== undefined) expect(result.err).toMatch(err);
});

test("a plan of nothing is empty, and placed; that there was nothing is said", async () => {
  const { status, out, err } = await run(["plan", "-", "-o", "json"], EMPTY_LIST);
  expect(status).toBe(0);
  expect(err).toBe("warning: there is no object in the input, only an empty List\n");
  expect(JSON.parse(out)).toMatchObject({ apiVersion: "joinery.dev/v1", kind: "Plan", newNodes: [], existingNodes: [], unschedulable: [] });
});

test("a plan asks for the catalogue of the shell's AWS_REGION only when told to", async () => {
  const { status } = await run(["plan", "-"], EMPTY_LIST, { AWS_REGION: "eu-west-1", AWS_DEFAULT_REGION: "eu-west-1" });
  expect(status).toBe(0);
});

test.each([
  { isInteractive: true, env: {}, wanted: true },
  { isInteractive: false, env: {}, wanted: false },
  { isInteractive: true, env: { NO_COLOR: "1" }, wanted: false },
  { isInteractive: true, env: { NO_COLOR: "" }, wanted: true },
  { isInteractive: true, env: { TERM: "dumb" }, wanted: false },
  { isInteractive: false, env: { FORCE_COLOR: "1" }, wanted: true },
  { isInteractive: false, env: { FORCE_COLOR: "1", NO_COLOR: "1" }, wanted: false },
])("colours: $env on a terminal: $isInteractive", ({ isInteractive, env, wanted }) => {
  expect(wantsColor(isInteractive, env)).toBe(wanted);
});
