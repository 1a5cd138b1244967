/** An explanation for people. */
import type { Terminal } from "../terminal/terminal.ts";
import type { Explanation } from "./explanation.ts";
import type { Patch } from "./fix-patch.ts";
import { funnelLines, stageText } from "./render-funnel.ts";
import { cheaperLines, cheaperPlanLines, launchLines, nodeLines, ownNodeLines, placeLines } from "./render-place.ts";
import { laterText, namesText, yamlLines } from "./render-text.ts";

export function renderExplanation(explanation: Explanation, { style }: Pick<Terminal, "style">): string {
  const lines = [style("bold", headline(explanation))];
  if (explanation.subject.outcome === "unschedulable") lines.push(...refusalLines(explanation, style));
  else lines.push(...placementLines(explanation));
  for (const hint of explanation.hints ?? []) lines.push("", hint);
  return `${lines.join("\n")}\n`;
}

function headline({ subject, node, existingNode }: Explanation): string {
  const { kind, name, namespace, pods, unschedulable, pod, outcome, leftOut } = subject;
  const who = `${kind} ${namespace === undefined ? name : `${namespace}/${name}`}`;
  switch (outcome) {
    case "unschedulable":
      return `${who}: ${pods === undefined ? "no place" : `${unschedulable} of ${pods} pods without a place`}`;
    case "new-node":
      return kind === "PlannedNode" ? `${who}: a new node of NodePool ${node?.nodePool}` : `${who}: goes to a new node, ${node?.name}`;
    case "existing-node":
      return kind === "Node"
        ? `${who}: exists`
        : `${who}: goes to ${existingNode?.name}, which exists and has room; that costs nothing more`;
    case "running":
      return pods === undefined || pods === 1
        ? `${who}: runs on ${existingNode?.name}`
        : `${who}: none of its ${pods} pods waits for a node; ${pod} runs on ${existingNode?.name}`;
    case "left-out":
      return `${who}: no place is looked for, as ${pods === undefined ? "the pod" : pod} is ${leftOut ?? "not waiting for one"}`;
  }
}

function refusalLines(explanation: Explanation, style: Terminal["style"]): string[] {
  const { funnel, nearest, reasons, otherPlaces } = explanation;
  const lines: string[] = [];
  // What is wrong with the pod itself is in no funnel.
  const told = reasons.filter(({ code }) => funnel.length === 0 || code === "invalid-requirement");
  lines.push(...told.map(({ code, message }) => `  ${style("yellow", code)}  ${shortLists(message.replaceAll("\n", " "))}`));
  for (const pool of funnel) lines.push("", ...funnelLines(pool));
  if (nearest !== null) {
    // Of a single pool the reason stands right above.
    const why = funnel.length === 1 || nearest.reason === undefined ? "" : `: ${nearest.reason.replaceAll("\n", " ")}`;
    lines.push("", `Nearest miss: ${nearest.nodePool}, ${stageText(nearest)}${why}`);
  }
  lines.push(
    ...placeLines("Nodes that exist", otherPlaces?.existingNodes),
    ...placeLines("Nodes planned for other pods", otherPlaces?.plannedNodes),
  );
  return [...lines, ...laterLines(explanation), "", ...fixLines(explanation, style)];
}

/** Of the labels that may be asked for the catalogue of EC2 has dozens. */
const LISTED_MAX = 8;

function shortLists(message: string): string {
  return message.replace(/\[([^\]]*)\]/g, (list, words: string) => {
    const all = words.split(" ");
    return all.length <= LISTED_MAX ? list : `[${all.slice(0, LISTED_MAX).join(" ")} and ${all.length - LISTED_MAX} more]`;
  });
}

/** Where no edit is proposed: what has to change instead, as far as that can be said. */
function nothingHelps({ reasons, funnel, nearest }: Explanation): string {
  const nothing = "No edit of the pod's template or of a NodePool helps";
  if (reasons.length > 0 && reasons.every(({ code }) => code === "invalid-volume"))
    return `${nothing}: its claims and their volumes have to be in order first.`;
  if (nearest?.stage === "volume-topology")
    return `${nothing}: the volumes have to be where a node can be made that reaches them, for instance as a snapshot that is restored there.`;
  if (funnel.length > 0 && funnel.every(({ stages }) => stages[0]?.in === 0))
    return "No edit of the pod's template helps before a NodePool can be used.";
  if (funnel.length === 0 && reasons.some(({ code }) => code === "no-node-pool"))
    return "It needs a NodePool: the input has none that may grow.";
  return "No edit of the pod's template or of a NodePool was found that gives it a place, nor a few of them together.";
}

function laterLines({ later, subject: { unschedulable = 1 } }: Explanation): string[] {
  return later === undefined ? [] : ["", `Left to later solves: ${laterText(later.solves, later.placed, unschedulable)}.`];
}

function fixLines(explanation: Explanation, style: Terminal["style"]): string[] {
  const {
    fix,
    later,
    subject: { unschedulable = 1 },
  } = explanation;
  if (fix !== null) {
    const { message, patch, secondPatch, morePatches = [], laterSolves = 0 } = fix;
    const when =
      laterSolves === 0
        ? ""
        : laterSolves === 1
          ? "; the solve after it places the pods"
          : `; ${laterSolves} solves after it have placed the pods`;
    const title = `${style("green", "What would help")} (solved again with it${when}): ${message}`;
    const others = secondPatch === undefined ? [] : [secondPatch, ...morePatches];
    return [title, ...patchLines(patch), ...others.flatMap((one) => ["  ---", ...patchLines(one)])];
  }
  if (later !== undefined && later.placed === unschedulable) return ["Nothing has to be edited for that."];
  return [nothingHelps(explanation)];
}

/** The patch, which may be copied as it stands, under what it is for. */
function patchLines(patch: Patch): string[] {
  const { kind, metadata } = patch as { readonly kind: string; readonly metadata: { readonly name: string; readonly namespace?: string } };
  const namespace = metadata.namespace === undefined ? "" : ` -n ${metadata.namespace}`;
  const use = UNCHANGEABLE.has(kind)
    ? `for the file: a ${kind} that exists has to be made anew`
    : `kubectl patch ${kind.toLowerCase()} ${metadata.name}${namespace} --type merge --patch-file FILE`;
  return [`  # ${use}`, ...yamlLines(patch)];
}

/** A server lets almost nothing of their pods be changed. */
const UNCHANGEABLE = new Set(["Pod", "Job"]);

function placementLines({
  subject,
  node,
  launch,
  cheaper,
  funnel,
  existingNode,
  otherPlaces,
  ownNode,
  givenUp = 0,
  joins,
  cheaperPlan,
}: Explanation): string[] {
  const lines: string[] = [];
  if (node !== undefined) lines.push(...nodeLines(node, subject.kind === "PlannedNode"));
  if (launch !== undefined) lines.push(...launchLines(launch));
  if (cheaper !== undefined) lines.push(...cheaperLines(cheaper, subject.kind === "PlannedNode"));
  if (joins === true) lines.push("  joins a node that other pods have opened: of those that take it, the one with the fewest pods");
  if (joins === false) lines.push("  opens the node: no node that exists, and none that was planned before, takes it");
  if (givenUp > 0) lines.push(`  given up for it: ${givenUp} of its preferences or terms of node affinity, for which there was no place`);
  if (cheaperPlan !== undefined) lines.push(...cheaperPlanLines(cheaperPlan));
  lines.push(...ownNodeLines(ownNode, node, subject.outcome));
  lines.push(...placeLines("Nodes that exist and were asked before", otherPlaces?.existingNodes));
  lines.push(...placeLines("Nodes planned before that did not take it", otherPlaces?.plannedNodes));
  if (subject.outcome === "new-node") for (const pool of funnel) lines.push("", ...funnelLines(pool));
  if (existingNode !== undefined && subject.kind === "Node") {
    lines.push(`  pods that run there: ${namesText(existingNode.pods)}`, `  pods that the plan adds: ${namesText(existingNode.newPods)}`);
  }
  return lines;
}
