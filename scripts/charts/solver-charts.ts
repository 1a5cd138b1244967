/** The charts of `docs/solver.md`, drawn from the records. */
import { readFile } from "node:fs/promises";
import { type BarChart, barChart } from "./bar-chart.ts";

interface Line {
  readonly name: string;
  readonly params: Readonly<Record<string, number | string>>;
  readonly metrics: Readonly<Record<string, number>>;
}

const RECORDS = new URL("../../bench/records/", import.meta.url);
const PEER = { name: "Karpenter", color: "#b0b0b0" };
const OURS = { name: "Joinery", color: "#1f6feb" };

/** File name → SVG. */
export async function solverCharts(): Promise<ReadonlyMap<string, string>> {
  const costs = await record("2026-12-03-cost.jsonl");
  const speeds = await record("2026-12-03-scheduling-peer.jsonl");
  return new Map([
    ["solver-price-2000.svg", barChart(priceChart(costs, 2000))],
    ["solver-price-5000.svg", barChart(priceChart(costs, 5000))],
    ["solver-nodes.svg", barChart(nodesChart(costs))],
    ["solver-speed.svg", barChart(speedChart(speeds))],
    ["solver-memory.svg", barChart(memoryChart(speeds))],
  ]);
}

async function record(name: string): Promise<readonly Line[]> {
  const text = await readFile(new URL(name, RECORDS), "utf8");
  return text
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as Line);
}

function priceChart(lines: readonly Line[], pods: number): BarChart {
  const above = ({ boundUsdPerHour, ...metrics }: Line["metrics"], name: string) =>
    (metrics[`${name}UsdPerHour`]! / boundUsdPerHour! - 1) * 100;
  return {
    title: `Price of the plan for ${pods.toLocaleString("en")} pods`,
    measure: "per cent above the lower bound, shorter is cheaper",
    series: [
      PEER,
      { name: "Joinery, greedy (before)", color: "#9ec5fe" },
      { name: "Joinery, --optimize default", color: OURS.color },
      { name: "Joinery, --optimize max", color: "#0b2e6f" },
    ],
    groups: lines
      .filter(({ params }) => params.pods === pods)
      .map(({ name, metrics }) => ({
        name: corpusOf(name),
        values: ["peer", "off", "default", "max"].map((effort) => above(metrics, effort)),
      })),
    least: 0.1,
    label: (value) => `${value.toFixed(1)} %`,
  };
}

function nodesChart(lines: readonly Line[]): BarChart {
  return {
    title: "Nodes of the plan for 2,000 pods",
    measure: "nodes",
    series: [PEER, { name: "Joinery, greedy (before)", color: "#9ec5fe" }, { name: "Joinery, --optimize default", color: OURS.color }],
    groups: lines
      .filter(({ params }) => params.pods === 2000)
      .map(({ name, metrics }) => ({ name: corpusOf(name), values: [metrics.peerNodes, metrics.offNodes, metrics.defaultNodes] })),
    least: 1,
    label: (value) => String(value),
  };
}

function speedChart(lines: readonly Line[]): BarChart {
  return {
    title: "Speed of the first solve, greedy",
    measure: "pods per second, longer is faster",
    series: [PEER, OURS],
    groups: lines.map((line) => ({ name: caseOf(line), values: [line.metrics.peerPodsPerSecond, line.metrics.podsPerSecond] })),
    least: 10,
    label: (value) => Math.round(value).toLocaleString("en"),
  };
}

function memoryChart(lines: readonly Line[]): BarChart {
  return {
    title: "Memory of the solve",
    measure: "MiB: heap grown (Joinery), memory of the process with its input (Karpenter)",
    series: [PEER, OURS],
    groups: lines.map((line) => ({ name: caseOf(line), values: [line.metrics.peerMemoryMiB, line.metrics.heapGrownMiB] })),
    least: 1,
    label: (value) => value.toFixed(1),
  };
}

function corpusOf(name: string): string {
  return name.slice(name.indexOf("/") + 1);
}

function caseOf({ name, params }: Line): string {
  return `${corpusOf(name)}, ${Number(params.pods).toLocaleString("en")}`;
}
