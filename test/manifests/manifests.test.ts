/**
 * Wrong manifests give one clear error with file, line and field, exit status 2; tricky ones that a real API server accepts are never
 * called wrong. `expected.json` also says what a real API server answers to each, for the suite that asks one.
 */
import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { runJoinery } from "../plan/run-joinery.ts";

interface Expected {
  readonly file: string;
  /** Line of the fault, from 1. */
  readonly line: number;
  /** `Kind/name`; absent where the text is no object. */
  readonly object?: string;
  /** Field path; absent where the whole object is meant. */
  readonly path?: string;
  /** Part of the message. */
  readonly message: string;
  /** Whether a real API server refuses the object in a strict request. Faults of the file itself never reach one. */
  readonly refusedByServer: boolean;
  /** The rule of the API that is broken. */
  readonly rule?: string;
}

const folder = (name: string) => fileURLToPath(new URL(`${name}/`, import.meta.url));
const BAD = folder("bad");
const GOOD = folder("good");
const expected = JSON.parse(readFileSync(`${BAD}expected.json`, "utf8")) as readonly Expected[];

test("each wrong manifest is expected, and each expectation has its manifest", () => {
  expect(expected.map(({ file }) => file)).toEqual(
    readdirSync(BAD)
      .filter((name) => name.endsWith(".yaml"))
      .sort(),
  );
});

describe("wrong", () => {
  test.each(expected)("$file: $rule", async ({ file, line, object, path, message }) => {
    const { status, out, err } = await runJoinery(["plan", `${BAD}${file}`]);
    expect({ status, out }).toEqual({ status: 2, out: "" });
    const faults = err.split("\n").filter((text) => text.includes(`${file}:`));
    expect(faults).toHaveLength(1);
    expect(faults[0]).toMatch(new RegExp(`${file}:${line}:\\d+: `));
    for (const part of [object, path, message]) expect(faults[0]).toContain(part ?? "");
  });
});

describe("right", () => {
  test.each(readdirSync(GOOD))("%s", async (file) => {
    const { status, err } = await runJoinery(["plan", `${GOOD}${file}`]);
    expect({ status, err }).toEqual({ status: 0, err: "" });
  });
});
