/** The catalogue generator over the wire, with the real SDK, against an EC2 that is not ours: what is committed is what it makes. */
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";

const COMMITTED = "packages/aws/src/catalogue/ec2-us-east-1.generated.ts";
const out = join(mkdtempSync(join(tmpdir(), "joinery-catalogue-")), "ec2.ts");

function generate(...flags: string[]) {
  const given = ["--as-of", "2026-12-01", "--source", "as served by moto 5.2.5", "--out", out, ...flags];
  return spawnSync(process.execPath, ["scripts/catalogue/generate.ts", ...given], { encoding: "utf8" });
}

test("types, offerings and zones come from the API; prices and tables stay: byte for byte the committed file", () => {
  const { status, stdout, stderr } = generate("--prices", "current");
  expect(stderr).toBe("");
  expect(status).toBe(0);
  expect(stdout).toContain("1386 types, 6 zones, 46 types without a price");
  expect(readFileSync(out, "utf8")).toBe(readFileSync(COMMITTED, "utf8"));
});

test("a price list that does not answer is an error, and nothing is written over with half a catalogue", () => {
  const before = readFileSync(out, "utf8");
  const { status } = generate("--prices", "api");
  expect(status).not.toBe(0);
  expect(readFileSync(out, "utf8")).toBe(before);
});
