import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { haveRoomForNewObjects } from "./young-generation.ts";

const MIB = 2 ** 20;

interface Wish {
  readonly memoryMiB?: number;
  readonly execArgv?: string[];
  readonly nodeOptions?: string;
  readonly platform?: NodeJS.Platform;
}

/** With what the process is started again; undefined: it is not. */
function startedAgain({ memoryMiB = 256, execArgv = [], nodeOptions, platform = "linux" }: Wish): readonly string[] | undefined {
  let started: readonly string[] | undefined;
  haveRoomForNewObjects({
    argv: ["/usr/bin/node", "/dist/joinery.mjs", "controller", "--log-level", "debug"],
    constrainedMemory: () => memoryMiB * MIB,
    env: { HOME: "/", ...(nodeOptions !== undefined && { NODE_OPTIONS: nodeOptions }) },
    execArgv,
    execPath: "/usr/bin/node",
    execve: (file, args = [], env) => {
      expect([file, env?.HOME]).toEqual(["/usr/bin/node", "/"]);
      started = args;
      return undefined as never;
    },
    platform,
  });
  return started;
}

const SELF = ["/dist/joinery.mjs", "controller", "--log-level", "debug"];

test.each<{ what: string; wish: Wish; flags: readonly string[] }>([
  { what: "of the smallest size", wish: {}, flags: [] },
  { what: "of 512 MiB", wish: { memoryMiB: 512 }, flags: [] },
  { what: "with other flags, which are kept", wish: { execArgv: ["--max-old-space-size=100"] }, flags: ["--max-old-space-size=100"] },
])("in a container $what the process starts again", ({ wish, flags }) => {
  expect(startedAgain(wish)).toEqual(["/usr/bin/node", "--max-semi-space-size=4", ...flags, ...SELF]);
});

test.each<{ what: string; wish: Wish }>([
  { what: "in a larger container", wish: { memoryMiB: 513 } },
  { what: "where nothing limits its memory", wish: { memoryMiB: 0 } },
  { what: "a second time", wish: { execArgv: ["--max-semi-space-size=4"] } },
  { what: "where the command line has another size", wish: { execArgv: ["--max_semi_space_size=2"] } },
  { what: "where NODE_OPTIONS has one", wish: { nodeOptions: "--enable-source-maps --max-semi-space-size=2" } },
  { what: "on Windows, which cannot", wish: { platform: "win32" } },
])("it does not $what", ({ wish }) => {
  expect(startedAgain(wish)).toBeUndefined();
});

test("a real process takes its own place, with its number, its words and its output", () => {
  const folder = mkdtempSync(join(tmpdir(), "joinery-young-"));
  try {
    const program = join(folder, "program.mjs");
    const module = new URL("./young-generation.ts", import.meta.url).href;
    writeFileSync(
      program,
      `import { haveRoomForNewObjects } from ${JSON.stringify(module)};
       process.constrainedMemory = () => ${256 * MIB};
       console.log(process.pid, process.argv[2], ...process.execArgv);
       haveRoomForNewObjects();`,
    );
    const { pid, stdout } = spawnSync(process.execPath, [program, "word"], { encoding: "utf8", env: {} });
    expect(stdout).toBe(`${pid} word\n${pid} word --max-semi-space-size=4\n`);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
