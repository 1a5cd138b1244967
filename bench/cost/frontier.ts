/**
 * How few nodes cheap plans can have: `node bench/cost/frontier.ts --record FILE [--json] [--corpus NAME]… [--pods N]… [--nodes R] [--weight W]…`.
 *
 * FILE is a record of `run.ts` with the peer's nodes and the bounds. For each of its problems one line: what plans with at most R times the peer's
 * nodes cost at least, as percent above the plain bound; and one for all together, where only the average of R is kept. Each figure is proven by
 * the multipliers of a linear program in which a node pays a charge beside its price (`lower-bound/frontier.ts`).
 */
import { readFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { withCorpus } from "../peer/peer.ts";
import { readProblem } from "../peer/read-problem.ts";
import { SPOT_TYPES_MIN } from "./efforts.ts";
import { type ChargedProblem, chargedProblem, leastExcess, leastNodes, type Proof } from "./lower-bound/frontier.ts";
import { type Finding, print, rounded } from "./report.ts";

/** Nodes against price; 0.01: as many nodes as the peer has are worth a hundredth of the bound. */
const WEIGHTS = ["0.002", "0.005", "0.01", "0.02", "0.03", "0.05", "0.08", "0.12", "0.18", "0.27", "0.4", "0.6", "1"];
/** What the price was to be above the bound: with `default`, with `max`. */
const EXCESSES_WISHED = [0.03, 0.015];

interface Line {
  readonly name: string;
  readonly params: { readonly pods: number; readonly seed: number };
  readonly metrics: Readonly<Record<string, number>>;
}

/** What is asked of plans: nothing more, or that spot nodes list types to choose from. */
type Wish = "any" | "choice";

interface Case {
  readonly line: Line;
  readonly any: ChargedProblem;
  readonly choice: ChargedProblem;
}

const { values: options } = parseArgs({
  options: {
    record: { type: "string" },
    json: { type: "boolean", default: false },
    corpus: { type: "string", multiple: true },
    pods: { type: "string", multiple: true, default: ["2000", "5000"] },
    nodes: { type: "string", default: "1.5" },
    weight: { type: "string", multiple: true, default: WEIGHTS },
  },
});
if (options.record === undefined) throw new Error("--record is missing: a file of lines that run.ts has printed with --json and --peer");
const nodesOfPeer = Number(options.nodes);
const weights = options.weight.map(Number);

const cases: Case[] = [];
for (const line of readFileSync(options.record, "utf8")
  .trim()
  .split("\n")
  .map((text) => JSON.parse(text) as Line)) {
  if (!options.pods.includes(String(line.params.pods)) || !(options.corpus ?? [corpusOf(line)]).includes(corpusOf(line))) continue;
  const one = await caseOf(line);
  cases.push(one);
  tell(line.name.replace("cost/", "node-frontier/"), line.params, { ...known(line), ...figures([one]) });
}
if (cases.length > 1) tell("node-frontier", { problems: cases.length }, figures(cases));

async function caseOf(line: Line): Promise<Case> {
  const problem = withCorpus({ corpus: corpusOf(line), ...line.params }, readProblem);
  const charged = (spotTypesMin: number) => chargedProblem(problem, known(line), weights, spotTypesMin);
  return { line, any: await charged(1), choice: await charged(SPOT_TYPES_MIN) };
}

function known({ metrics }: Line): Pick<ChargedProblem, "boundUsdPerHour" | "peerNodes"> {
  const { peerNodes, boundUsdPerHour } = metrics;
  return { peerNodes: peerNodes!, boundUsdPerHour: boundUsdPerHour! };
}

function figures(of: readonly Case[]): Record<string, number> {
  const metrics: Record<string, number> = {};
  const note = (name: string, { value, weight }: Proof, scale: number) => {
    metrics[name] = rounded(value * scale, 2);
    metrics[`${name}Weight`] = weight;
  };
  for (const wish of ["any", "choice"] satisfies Wish[]) {
    const problems = of.map((one) => one[wish]);
    note(`${wish}LeastExcessPercent`, leastExcess(problems, nodesOfPeer), 100);
    for (const excess of EXCESSES_WISHED) note(`${wish}LeastNodesOfPeerAt${excess * 100}Percent`, leastNodes(problems, excess), 1);
  }
  return metrics;
}

function corpusOf({ name }: Line): string {
  return name.replace("cost/", "");
}

function tell(name: string, params: Finding["params"], metrics: Finding["metrics"]): void {
  print({ name, params: { ...params, nodesOfPeer }, metrics }, options.json);
}
