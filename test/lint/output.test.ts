/** The forms in which findings are printed, and the exit status. Formats, "Output of joinery lint". */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { runJoinery } from "../plan/run-joinery.ts";
import { casesFolder, findingsOf, lintFiles, lintText } from "./lint-joinery.ts";

const shadowed = join(casesFolder, "shadowed-pool/bad.yaml");
const invalid = join(casesFolder, "runtime-invalid/bad.yaml");

describe("text", () => {
  test("groups findings by file in the order of the arguments, sorted by line, with a summary", async () => {
    const { out, status } = await lintFiles([shadowed, invalid]);
    await expect(out).toMatchFileSnapshot(join(import.meta.dirname, "two-files.txt"));
    expect(status).toBe(5);
  });

  test("says so when there are none", async () => {
    expect(await lintFiles([join(casesFolder, "shadowed-pool/good.yaml")])).toEqual({ status: 0, out: "no findings\n", err: "" });
  });
});

describe("json", () => {
  test("has the fields that other tools rely on", async () => {
    const report = JSON.parse((await lintFiles([shadowed], ["-o", "json"])).out);
    expect(report).toMatchObject({ apiVersion: "joinery.dev/v1", kind: "LintReport" });
    expect(report.findings[0]).toEqual({
      rule: "shadowed-pool",
      severity: "warning",
      file: expect.stringMatching(/shadowed-pool\/bad\.yaml$/),
      line: expect.any(Number),
      column: expect.any(Number),
      object: "NodePool/arm",
      path: "spec.weight",
      message: expect.any(String),
      instead: expect.any(String),
    });
  });

  test("is the same bytes for equal inputs", async () => {
    const text = readFileSync(invalid, "utf8");
    expect(await lintText(text, ["-o", "json"])).toEqual(await lintText(text, ["-o", "json"]));
  });
});

/** What SARIF 2.1.0 requires of what is written here. */
describe("sarif", () => {
  test("has a tool, rules that results point to, and places with lines", async () => {
    const log = JSON.parse((await lintFiles([shadowed, invalid], ["-o", "sarif"])).out);
    expect(log.version).toBe("2.1.0");
    expect(log.$schema).toMatch(/sarif-2\.1\.0/);
    expect(log.runs).toHaveLength(1);
    const [{ tool, results, columnKind }] = log.runs;
    expect(columnKind).toBe("utf16CodeUnits");
    expect(tool.driver).toMatchObject({ name: "joinery lint", semanticVersion: expect.stringMatching(/^\d+\.\d+\.\d+/) });
    const ids = tool.driver.rules.map(({ id }: { id: string }) => id);
    expect(new Set(ids).size).toBe(ids.length);
    for (const rule of tool.driver.rules) {
      expect(rule.shortDescription.text).toMatch(/\.$/);
      expect(["error", "warning", "note"]).toContain(rule.defaultConfiguration.level);
    }
    expect(results.length).toBeGreaterThan(0);
    for (const { ruleId, ruleIndex, level, message, locations } of results) {
      expect(ids[ruleIndex]).toBe(ruleId);
      expect(["error", "warning", "note"]).toContain(level);
      expect(message.text).toMatch(/ Instead: /);
      const { artifactLocation, region } = locations[0].physicalLocation;
      expect(artifactLocation.uri).toMatch(/^test\/lint\/cases\/[a-z-]+\/bad\.yaml$/);
      expect(region.startLine).toBeGreaterThan(0);
      expect(region.startColumn).toBeGreaterThan(0);
    }
  });

  test("names standard input by a reference that is a valid address", async () => {
    const log = JSON.parse((await lintText(readFileSync(invalid, "utf8"), ["-o", "sarif"])).out);
    expect(log.runs[0].results[0].locations[0].physicalLocation.artifactLocation.uri).toBe("stdin");
  });
});

describe("exit status", () => {
  test.each([
    { what: "errors", file: invalid, options: [], status: 5 },
    { what: "warnings only", file: shadowed, options: [], status: 0 },
    { what: "errors, and only errors asked for", file: invalid, options: ["--severity", "error"], status: 5 },
  ])("$what: $status", async ({ file, options, status }) => {
    expect((await lintFiles([file], options)).status).toBe(status);
  });

  test("bad input is 2, with nothing on standard output", async () => {
    const { status, out, err } = await lintText("apiVersion: karpenter.sh/v1beta1\nkind: NodePool\nmetadata:\n  name: old\n");
    expect({ status, out }).toEqual({ status: 2, out: "" });
    expect(err).toMatch(/^error: <stdin>:1:1: /);
  });

  test("a format that does not exist is 2", async () => {
    expect((await runJoinery(["lint", shadowed, "-o", "xml"])).status).toBe(2);
  });
});

test("--skip leaves out rules, and knows when there is none of that name", async () => {
  const run = await lintFiles([shadowed, invalid], ["-o", "json", "--skip", "runtime-invalid", "pdb-blocks"]);
  expect(new Set(findingsOf(run).map(({ rule }) => rule))).toEqual(new Set(["shadowed-pool"]));
  expect(await lintFiles([shadowed], ["--skip", "runtime-invalide"])).toEqual({
    status: 2,
    out: "",
    err: 'error: there is no rule "runtime-invalide"; did you mean runtime-invalid?\n',
  });
});

test("--severity leaves out what is less grave", async () => {
  const run = await lintFiles([invalid], ["-o", "json", "--severity", "error"]);
  expect(new Set(findingsOf(run).map(({ severity }) => severity))).toEqual(new Set(["error"]));
});
