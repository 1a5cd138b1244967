import { execFileSync } from "node:child_process";
import { expect, test } from "vitest";
import { letHeapGrow } from "./heap-growth.ts";

const doubled = "--heap-growing-percent=100";
const young = "--semi-space-growth-factor=8";

test.each([
  { execArgv: [], flags: [doubled, young] },
  { execArgv: ["--max-old-space-size=100"], flags: [doubled, young] },
  { execArgv: ["--heap-growing-percent=20"], flags: [young] },
  { execArgv: ["--heap_growing_percent=20", "--semi_space_growth_factor=2"], flags: [] },
])("a flag of the command line wins: $execArgv", ({ execArgv, flags }) => {
  const set: string[] = [];
  letHeapGrow({ execArgv, setFlag: (flag) => set.push(flag) });
  expect(set).toEqual(flags);
});

test("V8 knows the flags", () => {
  // Those that it does not know it takes in silence.
  const known = execFileSync(process.execPath, ["--v8-options"], { encoding: "utf8" });
  letHeapGrow({ execArgv: [], setFlag: (flag) => expect(known).toContain(`  ${flag.replace(/=.*/, "")} (`) });
  expect.assertions(2);
});
