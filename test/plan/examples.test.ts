/** Every example of the documentation, planned twice: the bytes of its golden file both times (formats: "equal inputs give equal bytes"). */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { describe, expect, test } from "vitest";
import { runJoinery } from "./run-joinery.ts";

const examples = join(import.meta.dirname, "../../docs/examples");
const names = readdirSync(examples).filter((name) => existsSync(join(examples, name, "manifests")));

test("there are at least twenty examples", () => {
  expect(names.length).toBeGreaterThanOrEqual(20);
});

describe.each(names)("%s", (name) => {
  const folder = join(examples, name);
  const golden = readFileSync(join(folder, "plan.json"), "utf8");

  test("gives its golden plan twice, byte for byte, and the exit status that fits", async () => {
    const first = await planOf(folder);
    expect(withoutTime(first.out)).toBe(withoutTime(golden));
    expect(withoutTime((await planOf(folder)).out)).toBe(withoutTime(golden));
    expect(first.err).toBe("");
    const hasUnplaced = JSON.parse(golden).unschedulable.length > 0;
    expect(first.status).toBe(hasUnplaced ? 3 : 0);
  });

  test("says in one line what it shows", () => {
    expect(readFileSync(join(folder, "README.md"), "utf8")).toMatch(/^# .+\n\n.+\n$/);
  });
});

function planOf(folder: string) {
  const catalog = existsSync(join(folder, "catalog.json")) ? ["--catalog", join(folder, "catalog.json")] : ["--region", "us-east-1"];
  const flagsFile = join(folder, "flags.json");
  const flags: readonly string[] = existsSync(flagsFile) ? JSON.parse(readFileSync(flagsFile, "utf8")) : [];
  return runJoinery(["plan", relative(process.cwd(), join(folder, "manifests")), ...catalog, ...flags, "-o", "json"]);
}

function withoutTime(text: string): string {
  return text.replace(/"solveMilliseconds": [\d.]+/, '"solveMilliseconds": 0');
}
