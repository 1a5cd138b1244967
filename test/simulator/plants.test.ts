/**
 * The simulator can fail: five faults, each planted into a copy of the sources, and each is found by the law that it breaks. What is
 * found replays byte for byte.
 */
import { spawn } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Law } from "./violation.ts";

interface Plant {
  readonly fault: string;
  readonly file: string;
  /** Stands exactly once in the file. */
  readonly sound: string;
  readonly broken: string;
  readonly law: Law;
}

const PLANTS: readonly Plant[] = [
  {
    fault: "a finalizer is skipped",
    file: "packages/core/src/lifecycle/lifecycle.ts",
    sound: "withFinalizer(cached, TERMINATION_FINALIZER)",
    broken: "(TERMINATION_FINALIZER && withFinalizer && cached)",
    law: "objects outlive their instance",
  },
  {
    fault: "the client token is forgotten",
    file: "packages/aws/src/launch/fleet-request.ts",
    sound: "    ClientToken,\n",
    broken: "    ...(ClientToken === '' && { ClientToken }),\n",
    law: "one instance per NodeClaim",
  },
  {
    fault: "a replica acts after it has lost the Lease",
    file: "packages/kube/src/lease/leader-election.ts",
    sound: "    const lose = () => {\n",
    broken: "    const lose = () => {\n      if (identity) return;\n",
    law: "one replica acts",
  },
  {
    fault: "a disruption budget is ignored",
    file: "packages/core/src/termination/eviction-queue.ts",
    sound: 'await kube.createSubresource(Pods, { name, namespace }, "eviction", body, signal);',
    broken: "await kube.delete(Pods, { name, namespace }, { uid: body && uid }, signal);",
    law: "pods leave in order",
  },
  {
    fault: "a deleted Node stays in the cache",
    file: "packages/kube/src/informer/reflector.ts",
    sound: "            store.remove(event.object);\n",
    // Of the controller's records alone, which name their provider ID: the sandbox reads through the same reflector.
    broken: '            if (!("providerId" in (store.find(keyOf(event.object)) ?? {}))) store.remove(event.object);\n',
    law: "caches equal the API server",
  },
];

const root = join(dirname(fileURLToPath(import.meta.url)), "../..");
const DAYS = "8";
/** The slowest is found after a few virtual days; the bound is for a machine with much else to do. */
const PATIENCE_MS = 300_000;
let copies = "";

beforeAll(() => {
  copies = mkdtempSync(join(tmpdir(), "joinery-plants-"));
});

afterAll(() => rmSync(copies, { recursive: true, force: true }));

test.each(PLANTS)('$fault: found as "$law"', { timeout: PATIENCE_MS }, async (plant) => {
  const home = copyWith(plant);
  const { status, output } = await simulateIn(home);
  expect(output).toContain(`simulate: VIOLATION ${plant.law}: `);
  expect(status).toBe(1);
});

test("a failing seed replays byte for byte", { timeout: PATIENCE_MS }, async () => {
  const home = copyWith(PLANTS[0]!, "-again");
  const [one, other] = [join(home, "one.txt"), join(home, "other.txt")];
  await Promise.all([simulateIn(home, "--log", one), simulateIn(home, "--log", other)]);
  const first = readFileSync(one, "utf8");
  expect(first).toContain("VIOLATION");
  expect(readFileSync(other, "utf8") === first).toBe(true);
});

/** The sources with one fault in them, as a workspace of their own. */
function copyWith({ fault, file, sound, broken }: Plant, suffix = ""): string {
  const home = join(copies, fault.replaceAll(" ", "-") + suffix);
  for (const folder of ["packages", "test/simulator", "test/failover"]) {
    cpSync(join(root, folder), join(home, folder), { recursive: true, filter: (path) => !/\/(node_modules|dist)(\/|$)/.test(path) });
  }
  cpSync(join(root, "package.json"), join(home, "package.json"));
  mkdirSync(join(home, "node_modules/@joinery"), { recursive: true });
  for (const name of readdirSync(join(root, "node_modules"))) {
    if (name !== "@joinery" && !name.startsWith(".")) symlinkSync(join(root, "node_modules", name), join(home, "node_modules", name));
  }
  for (const name of readdirSync(join(home, "packages")))
    symlinkSync(join(home, "packages", name), join(home, "node_modules/@joinery", name));
  const path = join(home, file);
  const [before, after, ...more] = readFileSync(path, "utf8").split(sound);
  if (after === undefined || more.length > 0) throw new Error(`Cannot plant "${fault}": ${file} must have its text once, plant it anew`);
  writeFileSync(path, before + broken + after);
  return home;
}

function simulateIn(home: string, ...more: readonly string[]): Promise<{ readonly status: number | null; readonly output: string }> {
  const args = ["test/simulator/main.ts", "--quiet", "--seed", "plants", "--days", DAYS, ...more];
  const child = spawn(process.execPath, args, { cwd: home, stdio: ["ignore", "pipe", "pipe"] });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (text) => (output += text));
  return new Promise((resolve) => child.on("exit", (status) => resolve({ status, output })));
}
