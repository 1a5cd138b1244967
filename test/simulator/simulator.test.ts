/** Law 2: a seed lives the same half day again, byte for byte, and another seed lives another. Law 3 is what it shows itself. */
import { expect, test } from "vitest";
import { simulate } from "./simulate.ts";

async function lived(seed: string, days: number): Promise<{ readonly text: string; readonly digest: string; readonly faults: number }> {
  const lines: string[] = [];
  const { violation, digest, faults } = await simulate({ seed, days, onLine: (line) => void lines.push(line) });
  expect(violation).toBeUndefined();
  return { text: lines.join(""), digest, faults: [...faults.values()].reduce((sum, count) => sum + count, 0) };
}

test("the same seed gives the same journal, byte for byte; another seed gives another", async () => {
  const first = await lived("replay", 0.5);
  const again = await lived("replay", 0.5);
  const other = await lived("other", 0.5);
  expect(first.faults).toBeGreaterThan(100);
  expect(again.text === first.text).toBe(true);
  expect(again.digest).toBe(first.digest);
  expect(other.text === first.text).toBe(false);
});
