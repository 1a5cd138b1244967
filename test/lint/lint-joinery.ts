/** `joinery lint` of files below `test/lint`, in this process. */
import { join, relative } from "node:path";
import { type Run, runJoinery } from "../plan/run-joinery.ts";

export interface Finding {
  readonly rule: string;
  readonly severity: "error" | "warning" | "note";
  readonly file: string;
  readonly line: number;
  readonly column: number;
  readonly object: string;
  readonly path: string;
  readonly message: string;
  readonly instead: string;
}

export const casesFolder = join(import.meta.dirname, "cases");
const catalog = join(import.meta.dirname, "catalog.json");

/** File names in the output are relative, so that golden files are the same on every machine. */
export function lintFiles(files: readonly string[], options: readonly string[] = []): Promise<Run> {
  const names = files.map((file) => relative(process.cwd(), file));
  return runJoinery(["lint", ...names, "--catalog", catalog, ...options]);
}

export function lintText(manifests: string, options: readonly string[] = []): Promise<Run> {
  return runJoinery(["lint", "-", "--catalog", catalog, ...options], { stdin: manifests });
}

export function findingsOf({ out }: Run): readonly Finding[] {
  return (JSON.parse(out) as { readonly findings: readonly Finding[] }).findings;
}
