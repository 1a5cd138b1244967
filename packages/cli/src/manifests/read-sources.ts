/**
 * Arguments of a command → texts: files, folders (all .yaml, .yml, .json below), `-` for stdin. Order: as given, then by name. Folders that
 * have to be rendered first (charts of Helm, kustomizations) are told as such.
 */
import { readdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import type { InputProblem } from "./problem.ts";

export interface Source {
  /** As people named it; `<stdin>` for `-`. */
  readonly file: string;
  readonly text: string;
}

export interface Sources {
  readonly sources: readonly Source[];
  readonly problems: readonly InputProblem[];
}

const EXTENSIONS = /\.(ya?ml|json)$/i;
const KUSTOMIZATION = /^kustomization\.ya?ml$/i;

export async function readSources(names: readonly string[], readStdin: () => Promise<string>): Promise<Sources> {
  const sources: Source[] = [];
  const problems: InputProblem[] = [];
  for (const name of new Set(names)) {
    try {
      if (name === "-") sources.push({ file: "<stdin>", text: await readStdin() });
      else {
        const { files, advice } = await filesUnder(name);
        problems.push(...advice);
        for (const file of files) sources.push({ file, text: decoded(await readFile(file)) });
      }
    } catch (error) {
      problems.push({ severity: "error", file: culpritOf(error) ?? name, path: "", message: describe(error) });
    }
  }
  return { sources, problems };
}

/** UTF-8, unless the text says that it is UTF-16, as what PowerShell redirects into a file. */
function decoded(bytes: Buffer): string {
  const isLittleEndian = bytes[0] === 0xff && bytes[1] === 0xfe;
  const isBigEndian = bytes[0] === 0xfe && bytes[1] === 0xff;
  return new TextDecoder(isLittleEndian ? "utf-16le" : isBigEndian ? "utf-16be" : "utf-8").decode(bytes);
}

interface Found {
  readonly files: readonly string[];
  readonly advice: readonly InputProblem[];
}

async function filesUnder(name: string): Promise<Found> {
  if (!(await stat(name)).isDirectory()) return { files: [name], advice: [] };
  const files: string[] = [];
  const advice: InputProblem[] = [];
  await walk(name, files, advice);
  if (files.length === 0 && advice.length === 0)
    throw new Error("no .yaml, .yml or .json files in this folder; name a file, or another folder");
  return { files: files.sort(), advice };
}

async function walk(folder: string, files: string[], advice: InputProblem[]): Promise<void> {
  const entries = await readdir(folder, { withFileTypes: true });
  const names = new Set(entries.map(({ name }) => name));
  if (names.has("Chart.yaml") && names.has("templates")) {
    const message = `is a chart of Helm, whose templates are no manifests yet; render it: helm template ${folder} | joinery plan -`;
    advice.push({ severity: "error", file: folder, path: "", message });
    return;
  }
  for (const entry of entries) {
    const path = join(folder, entry.name);
    if (entry.name.startsWith(".")) continue;
    if (KUSTOMIZATION.test(entry.name)) {
      const message = `is not applied here: the files are taken as they are; render them: kubectl kustomize ${folder} | joinery plan -`;
      advice.push({ severity: "warning", file: path, path: "", message });
      continue;
    }
    const isFolder = entry.isSymbolicLink() ? (await stat(path)).isDirectory() : entry.isDirectory();
    if (isFolder && !entry.isSymbolicLink()) await walk(path, files, advice);
    else if (!isFolder && EXTENSIONS.test(entry.name)) files.push(path);
  }
}

/** The file in a named folder that cannot be read, such as a link that leads nowhere. */
function culpritOf(error: unknown): string | undefined {
  return (error as NodeJS.ErrnoException).path;
}

function describe(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  if (code === "ENOENT") return "no such file or folder";
  if (code === "EACCES") return "may not be read";
  return message;
}
