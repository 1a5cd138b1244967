/** One seed for every property of a run: new each time, printed, and repeated by `JOINERY_TEST_SEED=<seed> npm test`. */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Sets what the workers read (`properties.ts`); the result prints how many cases were tried. */
export default function setup(): () => void {
  const seed = process.env.JOINERY_TEST_SEED ?? String(Math.floor(Date.now() / 1000) % 2 ** 31);
  const folder = mkdtempSync(join(tmpdir(), "joinery-properties-"));
  process.env.JOINERY_TEST_SEED = seed;
  process.env.JOINERY_TEST_COUNTS = folder;
  console.log(`random: seed ${seed} (JOINERY_TEST_SEED=${seed} repeats it)`);
  return () => {
    const counts = readdirSync(folder).map(
      (name) => JSON.parse(readFileSync(join(folder, name), "utf8")) as { properties: number; cases: number },
    );
    const sum = (of: "properties" | "cases") => counts.reduce((total, count) => total + count[of], 0);
    console.log(`random: ${sum("cases")} cases of ${sum("properties")} properties, seed ${seed}`);
    rmSync(folder, { recursive: true, force: true });
  };
}
