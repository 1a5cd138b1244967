/**
 * How fast the solver is, and what it needs: `node bench/scheduling/run.ts --json [--corpus NAME]… [--pods N]… [--types N] [--seed N] [--runs N]`,
 * with `--limit` also in a control group of 256 MiB and a quarter of a core (as root), with `--peer PROGRAM` beside Karpenter's own
 * scheduler on the same files, by default the shapes of its own benchmark (`bench/peer/build.sh` prints PROGRAM; `--peer-pods-max N`,
 * because it takes minutes for thousands of pods);
 * or, for a problem from files, `--manifests FILE… [--catalog FILE]`.
 *
 * Each case runs in processes of its own, and the median is told, with the best beside it: the first solve of a process is what a
 * controller that has just become leader does. Where sizes double, a line `growth` says how the figures grow; a line `pool-memory` says
 * what a NodePool adds.
 */
import { cpus, loadavg } from "node:os";
import { parseArgs } from "node:util";
import { type PeerFigures, peerFigures } from "../peer/peer.ts";
import { CORPORA } from "./corpora.ts";
import { type Summary, summaryOf } from "./fresh-process.ts";
import { planManifests } from "./manifests.ts";
import type { Case } from "./measure.ts";
import { SHARED_CORPORA, withProblemFiles } from "./problem-files.ts";

const WARM_SOLVES = 5;
const LIMITED_PODS = 1000;

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    json: { type: "boolean", default: false },
    corpus: { type: "string", multiple: true },
    pods: { type: "string", multiple: true, default: ["1000", "10000"] },
    types: { type: "string", default: "400" },
    seed: { type: "string", default: "1" },
    runs: { type: "string", default: "3" },
    limit: { type: "boolean", default: false },
    peer: { type: "string" },
    "peer-pods-max": { type: "string", default: "2000" },
    manifests: { type: "string", multiple: true, default: [] },
    catalog: { type: "string" },
  },
});

if (options.manifests.length > 0) measureManifests([...options.manifests, ...positionals], options.catalog);
else await measureCorpora();

async function measureCorpora(): Promise<void> {
  const summaries = new Map<string, Summary>();
  const known = (corpus: string, pods: number) => summaries.get(`${corpus} ${pods}`);
  const sizes = options.pods.map(Number).sort((a, b) => a - b);
  for (const corpus of options.corpus ?? (options.peer === undefined ? Object.keys(CORPORA) : SHARED_CORPORA)) {
    for (const pods of sizes) {
      const wish = { corpus, pods, types: Number(options.types), seed: Number(options.seed), warmSolves: WARM_SOLVES };
      const { summary, peer } = await measured(wish);
      summaries.set(`${corpus} ${pods}`, summary);
      printCase(corpus, wish, summary, peer);
      const half = known(corpus, pods / 2);
      if (half !== undefined) print(`growth/${corpus}`, { from: pods / 2, to: pods }, growth(half, summary));
    }
    if (options.limit && corpus === "diverse") measureLimited(corpus);
  }
  for (const pods of sizes) {
    const one = known("ec2-pools-1", pods);
    for (const corpus of ["ec2-pools-20", "ec2-classes-20"]) {
      const twenty = known(corpus, pods);
      if (one !== undefined && twenty !== undefined) print("pool-memory", { corpus, pods, pools: 20 }, poolMemory(one, twenty));
    }
  }
}

async function measured(wish: Case): Promise<{ readonly summary: Summary; readonly peer: PeerFigures | undefined }> {
  const wanted = { runs: Number(options.runs), isLimited: false };
  const { peer } = options;
  if (peer === undefined || wish.pods > Number(options["peer-pods-max"])) return { summary: summaryOf(wish, wanted), peer: undefined };
  return await withProblemFiles(wish, (files) => ({ summary: summaryOf({ ...wish, files }, wanted), peer: peerFigures(peer, files) }));
}

function measureLimited(corpus: string): void {
  const wish = { corpus, pods: LIMITED_PODS, types: Number(options.types), seed: Number(options.seed), warmSolves: 0 };
  printCase(`limited/${corpus}`, wish, summaryOf(wish, { runs: Number(options.runs), isLimited: true }), undefined);
}

function printCase(name: string, { pods, seed }: Case, summary: Summary, peer: PeerFigures | undefined): void {
  const { types, solveMilliseconds, ...figures } = summary.median;
  const { median, ...best } = summary;
  print(
    name,
    { pods, types, seed, runs: Number(options.runs) },
    {
      podsPerSecond: Math.round((pods * 1000) / solveMilliseconds),
      podsPerCpuSecond: Math.round((pods * 1000) / summary.bestCpuMilliseconds),
      solveMilliseconds,
      ...figures,
      ...best,
      ...(peer && againstPeer(solveMilliseconds, pods, peer)),
    },
    peer === undefined ? "scheduling" : "scheduling-peer",
  );
}

/** Its own benchmark counts `Solve` alone; what it does before is part of our solve too. Its memory is that of the process, files included. */
function againstPeer(ourMs: number, pods: number, peer: PeerFigures): Record<string, number> {
  const peerMs = (peer.buildSeconds + peer.solveSeconds) * 1000;
  return {
    peerPodsPerSecond: Math.round((pods * 1000) / peerMs),
    peerSolveMilliseconds: peerMs,
    peerSolveAloneMilliseconds: peer.solveSeconds * 1000,
    peerMemoryMiB: peer.sysMiB,
    peerNewNodes: peer.newNodes,
    peerUnschedulable: peer.unschedulable,
    peerUsdPerHour: peer.pricePerHour,
    timesAsFast: peerMs / ourMs,
  };
}

function growth(one: Summary, two: Summary): Record<string, number> {
  return {
    timeRatio: two.median.solveMilliseconds / one.median.solveMilliseconds,
    bestTimeRatio: two.bestSolveMilliseconds / one.bestSolveMilliseconds,
    cpuRatio: two.bestCpuMilliseconds / one.bestCpuMilliseconds,
    heapRatio: two.median.heapGrownMiB / one.median.heapGrownMiB,
  };
}

function poolMemory(one: Summary, twenty: Summary): Record<string, number> {
  return {
    grownMiBPerPool: (twenty.median.heapGrownMiB - one.median.heapGrownMiB) / 19,
    keptMiBPerPool: (twenty.median.heapKeptMiB - one.median.heapKeptMiB) / 19,
  };
}

function measureManifests(files: readonly string[], catalog: string | undefined): void {
  const { stats, newNodes, unschedulable, cost } = planManifests(files, catalog);
  print(
    "manifests",
    { pods: stats.pods, types: stats.instanceTypes, files: files.join(" ") },
    {
      podsPerSecond: Math.round((stats.pods * 1000) / stats.solveMilliseconds),
      solveMilliseconds: stats.solveMilliseconds,
      newNodes: newNodes.length,
      unschedulable: unschedulable.length,
      usdPerHour: cost.newPerHour,
    },
  );
}

function print(
  name: string,
  params: Readonly<Record<string, number | string>>,
  figures: Readonly<Record<string, number>>,
  bench = "scheduling",
): void {
  const metrics = Object.fromEntries(Object.entries(figures).map(([figure, amount]) => [figure, Math.round(amount * 100) / 100]));
  if (options.json) {
    const machine = `${cpus()[0]?.model ?? "unknown"} x${cpus().length}, Node ${process.versions.node}`;
    const line = { name: `${bench}/${name}`, params, metrics: { ...metrics, machineLoad: Math.round(loadavg()[0]! * 10) / 10 }, machine };
    process.stdout.write(`${JSON.stringify(line)}\n`);
    return;
  }
  const list = (entries: Readonly<Record<string, number | string>>) => Object.entries(entries).map(([key, value]) => `${key} ${value}`);
  process.stdout.write(`${name} (${list(params).join(", ")}): ${list(metrics).join(", ")}\n`);
}
