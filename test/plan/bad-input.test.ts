/** Every wrong manifest gives one clear error with file, line and field path, and exit status 2; every right one is taken. Formats, "Wrong input". */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { runJoinery } from "./run-joinery.ts";

interface Wrong {
  readonly file: string;
  readonly line: number;
  /** Absent where the text is no object at all. */
  readonly object?: string;
  readonly path?: string;
  /** Part of the message. */
  readonly message: string;
  readonly rule: string;
}

const manifests = join(import.meta.dirname, "../manifests");
const wrong = JSON.parse(readFileSync(join(manifests, "bad/expected.json"), "utf8")) as readonly Wrong[];

test("there are at least forty, each described", () => {
  const files = readdirSync(join(manifests, "bad")).filter((name) => name !== "expected.json");
  expect(wrong.map(({ file }) => file).sort()).toEqual(files.sort());
  expect(files.length).toBeGreaterThanOrEqual(40);
});

describe("wrong manifests", () => {
  test.each(wrong)("$file ($rule)", async ({ file, line, object, path, message }) => {
    const name = join(manifests, "bad", file);
    const { status, out, err } = await runJoinery(["plan", name]);
    expect({ status, out }).toEqual({ status: 2, out: "" });
    const lines = err.split("\n").filter((text) => text !== "");
    expect(lines).toHaveLength(1);
    const place = new RegExp(`^error: ${name.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")}:${line}:\\d+: `);
    expect(lines[0]).toMatch(place);
    const said = lines[0]!.replace(place, "");
    const where = [object, path].filter((part) => part !== undefined && part !== "").map((part) => `${part}: `);
    expect(said.slice(0, where.join("").length)).toBe(where.join(""));
    expect(said).toContain(message);
  });
});

describe("right manifests", () => {
  test.each(readdirSync(join(manifests, "good")))("%s", async (file) => {
    const { status, err } = await runJoinery(["plan", join(manifests, "good", file)]);
    expect({ err, isBadInput: status === 2 }).toEqual({ err: "", isBadInput: false });
  });
});
