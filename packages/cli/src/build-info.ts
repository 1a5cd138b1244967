/** What is running: version, revision, and whether it is a clone's sources or a bundle. Rules O-84, O-86. */
import { readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";

/** The version of `packages/cli/package.json` (a test holds them together). */
export const version = "0.1.0";

/** Set by the bundler (`--define:JOINERY_REVISION='"abc1234"'`); absent when the sources run. */
declare const JOINERY_REVISION: string | undefined;

type RunningForm = { readonly kind: "bundle" } | { readonly kind: "clone"; readonly root: string };

function runningForm(): RunningForm {
  if (typeof JOINERY_REVISION === "string") return { kind: "bundle" };
  return { kind: "clone", root: resolve(import.meta.dirname, "../../..") };
}

/** First 7 hex digits of the commit that runs; undefined when nobody recorded it. */
export function revision(): string | undefined {
  if (typeof JOINERY_REVISION === "string") return /^[0-9a-f]{7}/.test(JOINERY_REVISION) ? JOINERY_REVISION : undefined;
  const form = runningForm();
  return form.kind === "clone" ? readHead(join(form.root, ".git"))?.slice(0, 7) : undefined;
}

/** One line: `joinery 0.1.0 (clone of abc1234 in /src/joinery; Node v24.21.0, linux-x64)`. */
export function versionLine(): string {
  const form = runningForm();
  const commit = revision() ?? "an unknown revision";
  const what = form.kind === "bundle" ? `bundle of ${commit}` : `clone of ${commit} in ${form.root}`;
  return `joinery ${version} (${what}; Node ${process.version}, ${process.platform}-${process.arch})`;
}

/** The commit that HEAD names, read from git's own files so that no git is needed. */
function readHead(gitPath: string): string | undefined {
  const pointer = readText(gitPath)?.match(/^gitdir: (.+)$/m)?.[1];
  const gitDir = pointer === undefined ? gitPath : resolve(dirname(gitPath), pointer);
  const head = readText(join(gitDir, "HEAD"))?.trim();
  const ref = head?.match(/^ref: (.+)$/)?.[1];
  if (ref === undefined) return asCommit(head);
  const common = resolve(gitDir, readText(join(gitDir, "commondir"))?.trim() ?? ".");
  const packed = readText(join(common, "packed-refs"))
    ?.split("\n")
    .find((line) => line.endsWith(` ${ref}`));
  return asCommit(readText(join(common, ref))?.trim()) ?? asCommit(packed?.slice(0, 40));
}

function asCommit(text: string | undefined): string | undefined {
  return text !== undefined && /^[0-9a-f]{40}/.test(text) ? text : undefined;
}

function readText(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return undefined;
  }
}

/** Program and arguments that start this very command again, in a Node with these flags. */
export function joineryCommand(nodeFlags: readonly string[]): readonly string[] {
  const form = runningForm();
  const script = form.kind === "clone" ? join(form.root, "packages/cli/bin/joinery.mjs") : (process.argv[1] ?? "");
  return [process.execPath, ...nodeFlags, script];
}
