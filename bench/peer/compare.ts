/**
 * Which pods the peer places and we leave out: `node bench/peer/compare.ts --peer PROGRAM [--problems N] [--only INDEX] [--seed N] [--optimize EFFORT] [--verbose] [--keep FOLDER] [--json]`.
 *
 * Random problems in which everything happens that files can say are written as manifests and given to both.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { cpus, tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { type Effort, type Plan, type Problem, sentence } from "@joinery/scheduling";
import fc from "fast-check";
import { anOffering, aPool, aType } from "../../packages/scheduling/src/testing/builders.ts";
import { sociableProblem } from "../../packages/scheduling/src/testing/random-problems.ts";
import { causeOf, causeText, chanceOf } from "./causes.ts";
import { type Comparison, compareFiles, placeOf } from "./comparison.ts";
import { problemManifests } from "./problem-manifests.ts";

const { values: options } = parseArgs({
  options: {
    peer: { type: "string" },
    problems: { type: "string", default: "500" },
    only: { type: "string" },
    seed: { type: "string", default: "1001" },
    optimize: { type: "string", default: "default" },
    verbose: { type: "boolean", default: false },
    keep: { type: "string" },
    json: { type: "boolean", default: false },
  },
});
if (options.peer === undefined) throw new Error("--peer PROGRAM is missing: bench/peer/build.sh makes it and prints its path");

const effort = options.optimize as Effort;
const COUNTED_AS = {
  forbidden: "forbidden",
  overtaken: "overtaken",
  "next-solve": "nextSolve",
  "min-values": "minValues",
  outranked: "outranked",
  "gave-up-terms": "gaveUpTerms",
  "borrowed-label": "borrowedLabel",
  "as-many": "asMany",
  "by-chance": "byChance",
  unexplained: "unexplained",
} as const;
const counts = {
  problems: 0,
  pods: 0,
  placedByBoth: 0,
  placedByNone: 0,
  placedByUsAlone: 0,
  placedByPeerAlone: 0,
  // Of the last:
  forbidden: 0,
  overtaken: 0,
  nextSolve: 0,
  minValues: 0,
  outranked: 0,
  gaveUpTerms: 0,
  borrowedLabel: 0,
  asMany: 0,
  byChance: 0,
  unexplained: 0,
};
const problems = fc.sample(sociableProblem, { seed: Number(options.seed), numRuns: Number(options.problems) });
for (const [index, problem] of problems.entries()) {
  if (options.only !== undefined && index !== Number(options.only)) continue;
  await compare(index, problemManifests(index % 2 === 0 ? problem : withWideDoor(problem)), options.peer);
}
process.stdout.write(`${JSON.stringify(options.json ? record() : counts)}\n`);
if (counts.unexplained > 0) process.exitCode = 1;

/** The line of a bench (formats, "Benchmarks"). */
function record() {
  const params = { problems: Number(options.problems), seed: Number(options.seed), optimize: effort };
  const machine = `${cpus()[0]?.model ?? "unknown"} x${cpus().length}, Node ${process.versions.node}`;
  return { name: "peer/random-problems", params, metrics: counts, machine };
}

/** Of single pods: beside the record, where that is read by a program. */
function tell(text: string): void {
  (options.json ? process.stderr : process.stdout).write(`${text}\n`);
}

/** Where almost nothing fits, there is little to disagree about: a last pool without limits or taints, and a type with room for everybody. */
function withWideDoor(problem: Problem): Problem {
  const offerings = ["z1", "z2", "z3"].flatMap((zone) => ["spot", "on-demand"].map((capacityType) => anOffering(capacityType, zone, 4)));
  const arches = ["amd64", "arm64"].map((arch) =>
    aType({ name: `wide-${arch}`, cpu: 16, memory: "32Gi", pods: 12, arch, offerings, resources: { "vendor-a": 2 } }),
  );
  const open = aPool({ name: "wide", requirements: [{ key: "team", operator: "Exists" }] });
  const instanceTypes = [...problem.pools[0]!.instanceTypes, ...arches];
  return { ...problem, pools: [...problem.pools.map(({ nodePool }) => nodePool), open].map((nodePool) => ({ nodePool, instanceTypes })) };
}

async function compare(index: number, { manifests, catalog }: ReturnType<typeof problemManifests>, program: string): Promise<void> {
  const folder = options.keep === undefined ? mkdtempSync(join(tmpdir(), "joinery-compare-")) : join(options.keep, String(index));
  mkdirSync(folder, { recursive: true });
  const files = { manifests: [join(folder, "problem.json")], catalog: join(folder, "catalog.json") };
  writeFileSync(files.manifests[0]!, JSON.stringify(manifests));
  writeFileSync(files.catalog, JSON.stringify(catalog));
  counts.problems++;
  const ask = () => compareFiles(files, program, effort);
  await report(index, await ask(), ask);
  if (options.keep === undefined) rmSync(folder, { recursive: true });
}

async function report(index: number, comparison: Comparison, askAgain: () => Promise<Comparison>): Promise<void> {
  const { problem, rejected, ours, theirs } = comparison;
  for (const pod of [...problem.pods.map(({ key }) => key), ...rejected]) {
    counts.pods++;
    const isOurs = placeOf(pod, ours) !== undefined;
    const place = placeOf(pod, theirs);
    if (isOurs && place !== undefined) counts.placedByBoth++;
    else if (isOurs) counts.placedByUsAlone++;
    else if (place === undefined) counts.placedByNone++;
    else {
      counts.placedByPeerAlone++;
      const first = causeOf(pod, comparison);
      const cause = first.kind === "unexplained" ? await chanceOf(pod, askAgain) : first;
      counts[COUNTED_AS[cause.kind]]++;
      tell(`problem ${index}: ${pod} is on the peer's ${place}: ${causeText(cause)}`);
      if (cause.kind === "unexplained" || options.verbose) tell(reasonLines(pod, ours));
    }
  }
}

function reasonLines(pod: string, { unschedulable }: Plan): string {
  const reasons = unschedulable.find((entry) => entry.pod === pod)?.reasons ?? [];
  return reasons.map((reason) => `  ${sentence(reason)}`).join("\n");
}
