/** A plan for people: the nodes to come with type, zone, price and load; what has no place and why; what was left out. */
import type { PlanDocument, ReasonDocument } from "@joinery/scheduling";
import { laterText } from "../explain/render-text.ts";
import { renderTable } from "../terminal/table.ts";
import type { Terminal } from "../terminal/terminal.ts";
import type { Catalogue } from "./catalogue.ts";
import type { IgnoredObjects } from "./ignored-objects.ts";
import type { PlanResult } from "./make-plan.ts";
import type { PlanSummary } from "./plan-summary.ts";

const NAMES_SHOWN_MAX = 3;
const FIXES_SHOWN_MAX = 3;

export interface PlanView {
  readonly result: PlanResult;
  readonly catalogue: Pick<Catalogue, "source" | "estimatedCapacityTypes">;
  readonly summary: PlanSummary;
  readonly terminal: Pick<Terminal, "style">;
}

export function renderPlan(view: PlanView): string {
  const { document } = view.result;
  const sections = [newNodes(view), existingNodes(document), unplaced(view), summaryLines(view)];
  return `${sections
    .filter((lines) => lines.length > 0)
    .map((lines) => lines.join("\n"))
    .join("\n\n")}\n`;
}

function newNodes({ result, catalogue, terminal }: PlanView): string[] {
  const { newNodes: nodes } = result.document;
  if (nodes.length === 0) return [];
  const rows = nodes.map(({ name, cheapest, requests, instanceTypes, pods }) => [
    name,
    cheapest.instanceType,
    cheapest.zone,
    cheapest.capacityType,
    price(cheapest.pricePerHour, catalogue.estimatedCapacityTypes.has(cheapest.capacityType)),
    requests.cpu ?? "0",
    requests.memory ?? "0",
    String(pods.length),
    instanceTypes.length === 1 ? "-" : `+${instanceTypes.length - 1}`,
  ]);
  const heads = ["NEW NODE", "TYPE", "ZONE", "CAPACITY TYPE", "$/HOUR", "CPU", "MEMORY", "PODS", "OTHER TYPES"];
  return styledTable(heads, rows, terminal);
}

function existingNodes({ existingNodes: nodes }: PlanDocument): string[] {
  if (nodes.length === 0) return [];
  return renderTable(
    ["EXISTING NODE", "NEW PODS", "NAMES"],
    nodes.map(({ name, pods }) => [name, String(pods.length), shortList(pods)]),
  );
}

/** Pods with equal reasons share one paragraph, also where each has a claim of its own, as in a StatefulSet. */
function unplaced({ result, terminal }: PlanView): string[] {
  const { unschedulable } = result.document;
  if (unschedulable.length === 0) return [];
  const groups = Map.groupBy(unschedulable, ({ reasons }) => reasons.map((reason) => `${reason.code} ${withoutClaim(reason)}`).join("\n"));
  const later = new Set(result.document.later?.pods);
  const lines = [terminal.style("red", `${count(unschedulable.length, "pod")} without a place:`)];
  for (const group of groups.values()) {
    lines.push(`  ${shortList(group.map(({ pod }) => pod))}`);
    for (const [index, reason] of group[0]!.reasons.entries()) {
      const claims = new Set(group.map(({ reasons }) => reasons[index]!.detail.claim)).size;
      const others = claims > 1 ? ` (${count(claims - 1, "other claim")} likewise)` : "";
      lines.push(`    ${terminal.style("yellow", reason.code)}  ${withoutBreaks(reason)}${others}`);
    }
    const isWaiting = group[0]!.reasons.some(({ code }) => code === "next-solve");
    const placed = group.filter((entry) => later.has(entry.pod)).length;
    if (isWaiting)
      lines.push(`    ${terminal.style("green", "later")}  ${laterText(result.document.later?.solves ?? 0, placed, group.length)}`);
    lines.push(...fixTexts(group).map((text) => `    ${terminal.style("green", isWaiting ? "would help now" : "would help")}  ${text}`));
    lines.push(`    why: joinery explain pod ${group[0]!.pod} …`);
  }
  return lines;
}

/** Of pods of several workloads each has its own, which need not be enough for the others. */
function fixTexts(group: PlanResult["document"]["unschedulable"]): string[] {
  const fixes = group.flatMap(({ fix }) => (fix === undefined ? [] : [fix.message]));
  const counted = Array.from(
    Map.groupBy(fixes, (text) => text),
    ([text, { length }]) => ({ text, length }),
  ).sort((a, b) => b.length - a.length);
  const shown = counted
    .slice(0, FIXES_SHOWN_MAX)
    .map(({ text, length }) => (length === group.length ? text : `${text} (${length} of ${group.length} pods)`));
  return counted.length > shown.length ? [...shown, `${count(counted.length - shown.length, "more edit")} of other pods`] : shown;
}

function summaryLines({ result, summary, catalogue, terminal }: PlanView): string[] {
  const { document, existing, plan } = result;
  const { skippedNodePools = [], hints = [], unlaunchedNodeClaims = [], leftOutPods = [], ignoredObjects = [], notes = [] } = summary;
  const { newNodes: nodes, unschedulable, stats, cost } = document;
  const isEstimated = summary.estimatedPrices !== undefined;
  const placed = stats.pods - unschedulable.length;
  const lines = [
    terminal.style(
      "bold",
      `${placed} of ${count(stats.pods, "pod")} placed, ${count(nodes.length, "new node")}: ${price(cost.newPerHour, isEstimated)} $ per hour`,
    ),
  ];
  if (plan.improvement?.isImproved) {
    const { greedyUsdPerHour, greedyNodes } = plan.improvement;
    const saving = Math.round((1 - cost.newPerHour / greedyUsdPerHour) * 100);
    lines.push(
      `One pod after the other would make ${count(greedyNodes, "new node")}: ${price(greedyUsdPerHour, isEstimated)} $ per hour; this plan saves ${saving} %`,
    );
  }
  if ((cost.flexibilityPerHour ?? 0) > 0)
    lines.push(
      `That spot nodes can be launched as one of several types costs ${price(cost.flexibilityPerHour!, isEstimated)} $ per hour of it`,
    );
  if (existing.knownNodes > 0)
    lines.push(`Existing nodes: ${cost.existingPerHour.toFixed(4)} $ per hour (${count(existing.knownNodes, "node")})`);
  if (summary.nodesWithoutPrice !== undefined)
    lines.push(`Existing nodes that the catalogue has no price for: ${summary.nodesWithoutPrice}`);
  if (isEstimated) lines.push("~ spot prices are estimates of a model, not quotes");
  for (const { nodePool, message } of skippedNodePools) lines.push(`NodePool ${nodePool} is left out: ${message}`);
  lines.push(...hints);
  for (const name of unlaunchedNodeClaims)
    lines.push(`NodeClaim ${name} has no instance yet; the controller would wait for it, here it does not count`);
  for (const { overlay, message } of document.overlays ?? []) lines.push(`NodeOverlay ${overlay}: ${message}`);
  for (const { buffer, replicas, provisioning } of document.buffers ?? [])
    lines.push(`CapacityBuffer ${buffer} (${count(replicas, "pod")}): ${provisioning?.reason ?? "-"}, ${provisioning?.message ?? ""}`);
  if (leftOutPods.length > 0) lines.push(`Pods left out: ${leftOutPods.map(({ count, why }) => `${count} ${why}`).join(", ")}`);
  lines.push(...notes);
  if (ignoredObjects.length > 0) lines.push(`Not looked at: ${ignoredObjects.map(ignoredText).join(", ")}`);
  lines.push(`${stats.instanceTypes} instance types from ${catalogue.source}, solved in ${stats.solveMilliseconds.toFixed(1)} ms`);
  return lines;
}

function ignoredText({ kind, count, why }: IgnoredObjects): string {
  return `${count} ${kind}${why === undefined ? "" : ` (${why})`}`;
}

function styledTable(heads: readonly string[], rows: readonly (readonly string[])[], terminal: PlanView["terminal"]): string[] {
  const [head = "", ...lines] = renderTable(heads, rows);
  return [terminal.style("bold", head), ...lines];
}

function price(usdPerHour: number, isEstimated: boolean): string {
  return `${isEstimated ? "~" : ""}${usdPerHour.toFixed(4)}`;
}

function withoutClaim({ message, detail: { claim } }: ReasonDocument): string {
  return typeof claim === "string" ? message.replaceAll(claim, "") : message;
}

function withoutBreaks({ message }: ReasonDocument): string {
  return message.replaceAll("\n", " ");
}

function shortList(names: readonly string[]): string {
  const shown = names.slice(0, NAMES_SHOWN_MAX).join(", ");
  return names.length > NAMES_SHOWN_MAX ? `${shown} and ${names.length - NAMES_SHOWN_MAX} more` : shown;
}

function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? "" : "s"}`;
}
