/** `npm run generate`: writes what is derived from schemas and records. `--check` writes nothing and fails where files are stale. */
import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { crdFiles } from "../packages/api/src/index.ts";
import { solverCharts } from "./charts/solver-charts.ts";

/** A folder of which every file with the ending is generated. */
interface Output {
  readonly folder: URL;
  readonly ending: string;
  readonly files: ReadonlyMap<string, string>;
}

const outputs: readonly Output[] = [
  { folder: new URL("../charts/joinery-crd/templates/", import.meta.url), ending: ".yaml", files: crdFiles() },
  { folder: new URL("../docs/charts/", import.meta.url), ending: ".svg", files: await solverCharts() },
];

/** Names of files that differ from what would be generated, are missing, or should not be there. */
async function staleFiles({ folder, ending, files }: Output): Promise<string[]> {
  const present = (await readdir(folder)).filter((name) => name.endsWith(ending));
  const stale = present.filter((name) => !files.has(name));
  for (const [name, text] of files) {
    if (!present.includes(name) || (await readFile(new URL(name, folder), "utf8")) !== text) stale.push(name);
  }
  return stale;
}

async function generate(output: Output): Promise<void> {
  const { folder, files } = output;
  await mkdir(folder, { recursive: true });
  for (const name of await staleFiles(output)) {
    const text = files.get(name);
    await (text === undefined ? rm(new URL(name, folder)) : writeFile(new URL(name, folder), text));
  }
}

if (process.argv.includes("--check")) {
  const stale = (await Promise.all(outputs.map(staleFiles))).flat();
  if (stale.length > 0) {
    console.error(`Stale: ${stale.join(", ")}. Run \`npm run generate\`.`);
    process.exitCode = 1;
  }
} else {
  for (const output of outputs) await generate(output);
}
