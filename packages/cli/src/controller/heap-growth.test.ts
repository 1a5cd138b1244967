import { execFileSync } from "node:child_process";
import { expect, test } from "vitest";
import { letHeapDouble } from "./heap-growth.ts";

test.each([
  { execArgv: [], flags: ["--heap-growing-percent=100"] },
  { execArgv: ["--max-old-space-size=100"], flags: ["--heap-growing-percent=100"] },
  { execArgv: ["--heap-growing-percent=20"], flags: [] },
  { execArgv: ["--heap_growing_percent=20"], flags: [] },
])("a flag of the command line wins: $execArgv", ({ execArgv, flags }) => {
  const set: string[] = [];
  letHeapDouble({ execArgv, setFlag: (flag) => set.push(flag) });
  expect(set).toEqual(flags);
});

test("V8 knows the flag", () => {
  // One that it does not know it takes in silence.
  const known = execFileSync(process.execPath, ["--v8-options"], { encoding: "utf8" });
  letHeapDouble({ execArgv: [], setFlag: (flag) => expect(known).toContain(`  ${flag.replace(/=.*/, "")} (`) });
  expect.assertions(1);
});
