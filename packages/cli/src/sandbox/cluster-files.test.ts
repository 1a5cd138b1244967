import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createClusterFolder, writeClusterFiles } from "./cluster-files.ts";
import { markOwner, OWNER_FILE, sweepOrphans } from "./orphaned-folders.ts";

let parent = "";
beforeEach(() => {
  parent = mkdtempSync(join(tmpdir(), "joinery-cluster-files-"));
});
afterEach(() => rmSync(parent, { recursive: true, force: true }));

const api = { certificate: "certificate", token: "token", kubeconfig: () => "kubeconfig" };

function aFolder(name: string, owner?: object | string): string {
  const path = join(parent, name);
  mkdirSync(path);
  writeFileSync(join(path, "kubeconfig"), "secret");
  if (owner !== undefined) writeFileSync(join(path, OWNER_FILE), typeof owner === "string" ? owner : JSON.stringify(owner));
  return path;
}

/** As this process writes it, with another process ID. */
function ownerWith(pid: number): object {
  const probe = mkdtempSync(join(parent, "probe-"));
  markOwner(probe);
  return { ...JSON.parse(readFileSync(join(probe, OWNER_FILE), "utf8")), pid };
}

const deadPid = () => spawnSync(process.execPath, ["--version"]).pid;

test("the next sandbox sweeps the folder of a dead one, and nothing else", () => {
  const dead = ownerWith(deadPid());
  const orphan = aFolder("joinery-sandbox-orphan", dead);
  const outside = aFolder("elsewhere", dead);
  symlinkSync(outside, join(parent, "joinery-sandbox-link"));
  const kept = [
    outside,
    join(parent, "joinery-sandbox-link"),
    aFolder("joinery-sandbox-alive", ownerWith(process.pid)),
    aFolder("joinery-sandbox-nobody"),
    aFolder("joinery-sandbox-garbled", "{"),
    aFolder("joinery-sandbox-negative", ownerWith(-1)),
    aFolder("joinery-sandbox-container", { ...dead, scope: "another-host pid:[1]" }),
    aFolder("another-program", dead),
  ];
  const { path } = createClusterFolder(parent);
  expect(existsSync(orphan)).toBe(false);
  for (const one of [...kept, path]) expect(existsSync(one), one).toBe(true);
  expect(sweepOrphans(parent)).toEqual([]);
});

test("after a failure logs stay without owner, and nothing that opens the cluster", () => {
  const folder = createClusterFolder(parent);
  const { logDirectory, kubeconfig } = writeClusterFiles(folder, api);
  expect(readFileSync(kubeconfig, "utf8")).toBe("kubeconfig");
  writeFileSync(join(logDirectory, "a.log"), "line");
  folder.note("a fault");
  folder.keepLogs();
  expect(readdirSync(folder.path).sort()).toEqual(["faults.log", "logs"]);
  folder.remove();
  expect(existsSync(folder.path)).toBe(false);
});

test("what cannot be written is named", () => {
  const missing = join(parent, "missing");
  expect(() => createClusterFolder(missing)).toThrow(new RegExp(`^Cannot write to ${missing}: ENOENT.*TMPDIR`));
  const folder = { path: join(missing, "folder") };
  expect(() => writeClusterFiles(folder, api)).toThrow(`Cannot write to ${folder.path}: ENOENT`);
});
