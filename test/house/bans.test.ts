/** The arrows between rooms and the bans of law 2 are held by the lint: each way to break one, in each room where it is one, is found. */
import { execFile } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";

const repository = join(import.meta.dirname, "../..");

/** From below to above. `kwok` and `aws` stand side by side. */
const ABOVE: Record<string, readonly string[]> = {
  api: ["scheduling", "kube", "core", "kwok", "aws", "sandbox", "cli"],
  scheduling: ["kube", "core", "kwok", "aws", "sandbox", "cli"],
  kube: ["scheduling", "core", "kwok", "aws", "sandbox", "cli"],
  core: ["kwok", "aws", "sandbox", "cli"],
  kwok: ["aws", "sandbox", "cli"],
  aws: ["kwok", "sandbox", "cli"],
  sandbox: ["cli"],
  cli: [],
};
const EVERY_ROOM = Object.keys(ABOVE);
const WITHOUT_NODE = ["api", "scheduling", "core", "kwok", "aws"];

interface Breach {
  readonly room: string;
  readonly code: string;
}

test("each breach is an error, and what is allowed is none", () => {
  const breaches: Breach[] = [
    ...Object.entries(ABOVE).flatMap(([room, above]) => above.map((other) => ({ room, code: importOf(`@joinery/${other}`) }))),
    ...everywhere(EVERY_ROOM, [
      "export const found = Date.now();",
      "export const found = new Date();",
      "export const found = Math.random();",
      "export const found = setTimeout;",
      "export const found = setInterval;",
      "export const found = fetch;",
      "export const found = performance.now();",
      "export const found = crypto.randomUUID();",
      "export const found = process.hrtime();",
      "export const found = globalThis.Date.now();",
      importOf("node:timers/promises"),
      importOf("@joinery/api/src/index.ts"),
      importOf("../../api/src/index.ts"),
    ]),
    ...everywhere(WITHOUT_NODE, [importOf("node:fs"), importOf("node:fs/promises"), importOf("node:crypto"), importOf("node:http")]),
  ];
  const allowed: Breach[] = [
    { room: "core", code: importOf("@joinery/api") },
    { room: "cli", code: importOf("@joinery/sandbox") },
    { room: "kube", code: importOf("node:http") },
    { room: "core", code: "export const found = new Date(0);" },
  ];
  return withScratch(async (folder) => {
    const files = [...breaches, ...allowed].map(({ room, code }, index) => ({ path: put(folder, room, index, code), room, code }));
    const reported = await errorsOf(folder);
    const passed = files.slice(0, breaches.length).filter(({ path }) => !reported.has(path));
    const refused = files.slice(breaches.length).filter(({ path }) => reported.has(path));
    expect({ passed, refused }).toEqual({ passed: [], refused: [] });
  });
});

function importOf(from: string): string {
  return `import { found as one } from "${from}";\n\nexport const found = one;`;
}

function everywhere(rooms: readonly string[], codes: readonly string[]): Breach[] {
  return rooms.flatMap((room) => codes.map((code) => ({ room, code })));
}

function put(folder: string, room: string, index: number, code: string): string {
  const path = `packages/${room}/src/breach-${index}.ts`;
  mkdirSync(join(folder, `packages/${room}/src`), { recursive: true });
  writeFileSync(join(folder, path), `${code}\n`);
  return path;
}

async function withScratch(work: (folder: string) => Promise<void>): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "joinery-bans-"));
  try {
    for (const name of ["biome.json", "biome-plugins"]) cpSync(join(repository, name), join(folder, name), { recursive: true });
    await work(folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** The files with at least one error, as Biome's JSON report names them. */
async function errorsOf(folder: string): Promise<Set<string>> {
  const biome = join(repository, "node_modules/@biomejs/biome/bin/biome");
  const output = await new Promise<string>((resolve) => {
    const args = [biome, "lint", "--reporter=json", "--max-diagnostics=none", "."];
    execFile(process.execPath, args, { cwd: folder, maxBuffer: 2 ** 26 }, (_, stdout) => resolve(stdout));
  });
  const report: unknown = JSON.parse(output);
  return new Set([...JSON.stringify(report).matchAll(/packages\/[a-z]+\/src\/breach-\d+\.ts/g)].map(([path]) => path));
}
