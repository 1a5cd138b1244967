/**
 * What plans cost: `node bench/cost/run.ts --json [--corpus NAME]… [--pods N]… [--seed N]… [--optimize EFFORT]… [--peer PROGRAM] [--no-bound]`.
 *
 * For each corpus, size and seed one line: the price of the instances per effort, the peer's price of the same files, and lower bounds
 * from a linear program. PROGRAM is what `bench/peer/build.sh` prints. Seeds up to 100 are for tuning; figures that are compared are of others.
 */
import { parseArgs } from "node:util";
import { type Plan, type Problem, solve } from "@joinery/scheduling";
import { peerPlan, withCorpus } from "../peer/peer.ts";
import { readProblem } from "../peer/read-problem.ts";
import { EFFORTS, NODE_CHARGE, SPOT_TYPES_MIN } from "./efforts.ts";
import { lowerBoundUsdPerHour } from "./lower-bound/lower-bound.ts";
import { wholePodsBoundUsdPerHour } from "./lower-bound/whole-pods.ts";
import { priceUsdPerHour } from "./price.ts";
import { print, rounded } from "./report.ts";

const CORPORA = [
  "homogeneous",
  "odd-ratio",
  "bimodal",
  "heavy-tail",
  "gpu",
  "web-tier",
  "databases",
  "pools",
  "spot-and-on-demand",
  "two-architectures",
  "daemonsets",
  "existing",
];

const { values: options } = parseArgs({
  options: {
    json: { type: "boolean", default: false },
    corpus: { type: "string", multiple: true, default: CORPORA },
    pods: { type: "string", multiple: true, default: ["500", "2000", "5000"] },
    seed: { type: "string", multiple: true, default: ["1001"] },
    optimize: { type: "string", multiple: true, default: Object.keys(EFFORTS) },
    peer: { type: "string" },
    "no-bound": { type: "boolean", default: false },
  },
});

for (const corpus of options.corpus) {
  for (const pods of options.pods) for (const seed of options.seed) await compare({ corpus, pods: Number(pods), seed: Number(seed) });
}

/** All prices of one problem. */
async function compare(wish: { readonly corpus: string; readonly pods: number; readonly seed: number }): Promise<void> {
  const { problem, peer } = withCorpus(wish, (files) => ({
    problem: readProblem(files),
    peer: options.peer === undefined ? undefined : peerPlan(options.peer, files),
  }));
  const catalogue = problem.pools[0]!.instanceTypes;
  const metrics: Record<string, number> = {};
  for (const effort of options.optimize) Object.assign(metrics, measured(effort, problem));
  if (peer !== undefined) {
    metrics.peerUsdPerHour = rounded(priceUsdPerHour(peer.newNodes, catalogue), 5);
    metrics.peerNodes = peer.newNodes.length;
    metrics.peerUnschedulable = peer.unschedulable.length;
    metrics.peerMilliseconds = rounded((peer.stats.buildSeconds + peer.stats.solveSeconds) * 1000, 1);
  }
  if (!options["no-bound"]) Object.assign(metrics, await bounds(problem));
  const { corpus, ...params } = wish;
  print({ name: `cost/${corpus}`, params, metrics }, options.json, (name, amount) => withExcess(name, amount, metrics.boundUsdPerHour));
}

async function bounds(problem: Problem): Promise<Record<string, number>> {
  // What plans with a choice for each spot node cannot cost less than; and that with what a node costs beside its instance, a sum of which our
  // solver looks for the least.
  const choice = { spotTypesMin: SPOT_TYPES_MIN };
  const charged = { ...choice, nodeChargeUsdPerHour: NODE_CHARGE };
  const found = {
    boundUsdPerHour: await lowerBoundUsdPerHour(problem),
    choiceBoundUsdPerHour: await lowerBoundUsdPerHour(problem, choice),
    chargedBoundUsdPerHour: await lowerBoundUsdPerHour(problem, charged),
    wholePodsBoundUsdPerHour: await wholePodsBoundUsdPerHour(problem),
    wholePodsChoiceBoundUsdPerHour: await wholePodsBoundUsdPerHour(problem, choice),
    wholePodsChargedBoundUsdPerHour: await wholePodsBoundUsdPerHour(problem, charged),
  };
  return Object.fromEntries(Object.entries(found).flatMap(([name, bound]) => (bound === undefined ? [] : [[name, rounded(bound, 5)]])));
}

function withExcess(name: string, amount: number, bound: number | undefined): string {
  const isCompared = name.endsWith("UsdPerHour") && name !== "boundUsdPerHour" && bound !== undefined;
  return `${name} ${amount}${isCompared ? ` (+${rounded((amount / bound - 1) * 100, 1)} %)` : ""}`;
}

function measured(effort: string, problem: Problem): Record<string, number> {
  const more = EFFORTS[effort];
  if (more === undefined) throw new Error(`unknown effort ${effort}: choose among ${Object.keys(EFFORTS).join(", ")}`);
  const before = process.threadCpuUsage();
  const plan = solve({ ...problem, options: { ...problem.options, ...more } });
  const { user, system } = process.threadCpuUsage(before);
  return {
    [`${effort}UsdPerHour`]: rounded(planPrice(plan, problem), 5),
    [`${effort}Nodes`]: plan.newNodes.length,
    [`${effort}Unschedulable`]: plan.unschedulable.length,
    [`${effort}CpuMilliseconds`]: rounded((user + system) / 1000, 1),
  };
}

function planPrice({ newNodes }: Plan, { pools }: Problem): number {
  const nodes = newNodes.map(({ requirements, instanceTypes }) => ({ requirements, instanceTypes: instanceTypes.map(({ name }) => name) }));
  return priceUsdPerHour(nodes, pools[0]!.instanceTypes);
}
