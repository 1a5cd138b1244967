/** Every rule by one manifest that it finds nothing in and one that it does, whose findings are a golden file (`vitest -u` writes it anew). */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { casesFolder, findingsOf, lintFiles } from "./lint-joinery.ts";

const rules = readdirSync(casesFolder).sort();

describe.each(rules)("%s", (rule) => {
  const folder = join(casesFolder, rule);

  test("finds nothing, nor does any other rule, in the good manifest", async () => {
    const run = await lintFiles([join(folder, "good.yaml")], ["-o", "json"]);
    expect({ err: run.err, findings: findingsOf(run), status: run.status }).toEqual({ err: "", findings: [], status: 0 });
  });

  test("finds in the bad manifest what is in the golden file, with an exit status that fits", async () => {
    const run = await lintFiles([join(folder, "bad.yaml")], ["-o", "json"]);
    const findings = findingsOf(run);
    await expect(run.out).toMatchFileSnapshot(join(folder, "findings.json"));
    expect(findings.map((finding) => finding.rule)).toContain(rule);
    expect(run.status).toBe(findings.some(({ severity }) => severity === "error") ? 5 : 0);
  });
});

test("every rule has its manifests and its heading in the reference, and there are no others", async () => {
  const sarif = JSON.parse((await lintFiles([join(casesFolder, rules[0]!, "good.yaml")], ["-o", "sarif"])).out);
  const names: string[] = sarif.runs[0].tool.driver.rules.map(({ id }: { id: string }) => id);
  const reference = readFileSync(join(import.meta.dirname, "../../docs/lint.md"), "utf8");
  expect(rules).toEqual(names.toSorted());
  expect([...reference.matchAll(/^### `([a-z-]+)`$/gm)].map(([, name]) => name)).toEqual(names);
});
