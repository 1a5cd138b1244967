/** What `explain` proposes, made with a real kubectl: its merge patches give the objects that the fix was proved with. */
import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { parseAllDocuments } from "yaml";
import { type Fix, type Json, patched } from "../explain/apply-fix.ts";
import { runJoinery } from "../plan/run-joinery.ts";
import { fetchKubectl } from "./fetch-kubectl.ts";

const kubectl = fetchKubectl();
const cases = join(import.meta.dirname, "../explain/cases");
const catalog = join(import.meta.dirname, "../explain/catalog.json");

test.each(readdirSync(cases))("%s", async (name) => {
  const file = join(cases, name);
  const { fix } = JSON.parse((await runJoinery(["explain", "pod", "web", file, "--catalog", catalog, "-o", "json"])).out) as {
    fix: Fix | null;
  };
  if (fix === null) return;
  const folder = mkdtempSync(join(tmpdir(), "joinery-fixes-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const objects = parseAllDocuments(readFileSync(file, "utf8")).map((document) => document.toJS() as Json);
  const wanted = patched(objects, fix);
  const { patch, secondPatch, morePatches = [] } = fix;
  for (const one of secondPatch === undefined ? [patch] : [patch, secondPatch, ...morePatches]) {
    const index = objects.findIndex((object) => isTarget(object, one));
    const [given, change] = [join(folder, "object.json"), join(folder, "patch.json")];
    writeFileSync(given, JSON.stringify(objects[index]));
    writeFileSync(change, JSON.stringify(one));
    const made = execFileSync(kubectl, ["patch", "--local", "-f", given, "--type", "merge", "--patch-file", change, "-o", "json"], {
      encoding: "utf8",
    });
    expect(JSON.parse(made)).toEqual(wanted[index]);
  }
});

function isTarget(object: Json, patch: Json): boolean {
  const [own, wanted] = [object, patch] as readonly { readonly kind?: string; readonly metadata?: { readonly name?: string } }[];
  return own?.kind === wanted?.kind && own?.metadata?.name === wanted?.metadata?.name;
}
