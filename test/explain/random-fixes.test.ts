/** Every fix that a plan offers, made in the manifests as the patch that it prints, gives its pods a place and takes none from others. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { runJoinery } from "../plan/run-joinery.ts";
import { type Fix, type Json, patched } from "./apply-fix.ts";
import { anyManifests } from "./random-manifests.ts";

const RUNS = 150;
const catalog = join(import.meta.dirname, "catalog.json");
let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "joinery-fixes-"));
});
afterAll(() => rmSync(folder, { recursive: true }));

interface Unplaced {
  readonly pod: string;
  readonly fix?: Fix;
  readonly reasons: readonly { readonly code: string }[];
}

test("fixes hold", async () => {
  const kinds = new Map<string, number>();
  await fc.assert(
    fc.asyncProperty(anyManifests, async (objects) => {
      const before = await unplacedOf(objects);
      const known = new Set(before.map(({ pod }) => pod));
      const byFix = Map.groupBy(
        before.filter(({ fix }) => fix !== undefined),
        ({ fix }) => JSON.stringify(fix),
      );
      for (const entries of byFix.values()) {
        const { fix } = entries[0]!;
        // What is only placed beside pods of that plan waits for the solve after it.
        const isLate = ({ reasons }: Unplaced) => fix!.laterSolves !== undefined && reasons.some(({ code }) => code === "next-solve");
        const after = (await unplacedOf(patched(objects, fix!))).flatMap((one) => (isLate(one) ? [] : [one.pod]));
        for (const { pod } of entries) if (after.includes(pod)) throw new Error(`no place for ${pod} after: ${fix!.message}`);
        for (const pod of after) if (!known.has(pod)) throw new Error(`${pod} loses its place after: ${fix!.message}`);
        const kind = fix!.message.split(" ").slice(0, 2).join(" ");
        kinds.set(kind, (kinds.get(kind) ?? 0) + 1);
      }
    }),
    { numRuns: RUNS },
  );
  // So that the property is not about nothing.
  if (RUNS >= 100) expect(kinds.size).toBeGreaterThan(5);
  if (process.env.JOINERY_TEST_VERBOSE) console.log([...kinds].sort(([, a], [, b]) => b - a));
}, 300_000);

async function unplacedOf(objects: readonly Json[]): Promise<readonly Unplaced[]> {
  const file = join(folder, "all.json");
  writeFileSync(file, JSON.stringify({ apiVersion: "v1", kind: "List", items: objects }));
  const { out, err } = await runJoinery(["plan", file, "--catalog", catalog, "-o", "json"]);
  if (out === "") throw new Error(err);
  return JSON.parse(out).unschedulable;
}
