/** Gives fast-check the run's seed and counts what it tries. Loaded before every test file. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, expect } from "vitest";

const { JOINERY_TEST_SEED: seed, JOINERY_TEST_COUNTS: folder } = process.env;
const count = { properties: 0, cases: 0 };

fc.configureGlobal({
  ...(seed === undefined ? {} : { seed: Number(seed) }),
  reporter(result) {
    count.properties++;
    count.cases += result.numRuns;
    if (result.failed) throw new Error(fc.defaultReportMessage(result), { cause: result.errorInstance });
  },
});

afterAll(() => {
  if (folder === undefined || count.properties === 0) return;
  const name = (expect.getState().testPath ?? "unknown").replace(/[^a-zA-Z0-9]+/g, "-");
  writeFileSync(join(folder, `${name}.json`), JSON.stringify(count));
});
