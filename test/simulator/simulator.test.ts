/** Law 2: a seed lives the same days again, byte for byte, and another seed lives others. Law 3 is what the days themselves show. */
import { expect, test } from "vitest";
import { simulate } from "./simulate.ts";

async function lived(seed: string, days: number): Promise<{ readonly text: string; readonly digest: string; readonly faults: number }> {
  const lines: string[] = [];
  const { violation, digest, faults } = await simulate({ seed, days, onLine: (line) => void lines.push(line) });
  expect(violation).toBeUndefined();
  return { text: lines.join(""), digest, faults: [...faults.values()].reduce((sum, count) => sum + count, 0) };
}

test("the same seed gives the same journal, byte for byte; another seed gives another", async () => {
  const first = await lived("replay", 1);
  const again = await lived("replay", 1);
  const other = await lived("other", 1);
  expect(first.faults).toBeGreaterThan(100);
  expect(again.text === first.text).toBe(true);
  expect(again.digest).toBe(first.digest);
  expect(other.text === first.text).toBe(false);
});
