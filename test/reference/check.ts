/**
 * The reference checker: everything that is wrong with a plan, read off the objects. It knows the formats of problems and plans and
 * how Kubernetes behaves, and nothing of how the solver thinks: no requirement algebra, no classes, no domains. Slow and obvious.
 *
 * What kube-scheduler would refuse and the specification asks for all the same is in `known-refusals.ts`, and nowhere else.
 */
import type { Plan, Problem } from "@joinery/scheduling";
import { bindingFaults } from "./binding.ts";
import { type Fault, fault } from "./fault.ts";
import { plannedNodeFaults } from "./planned-nodes.ts";
import { poolRuleFaults } from "./pool-rules.ts";

/** Empty for a sound plan. */
export function faultsOf(plan: Plan, problem: Problem): readonly Fault[] {
  const lists = listFaults(plan, problem);
  if (lists.length > 0) return lists;
  return [...plannedNodeFaults(plan, problem), ...poolRuleFaults(plan, problem), ...bindingFaults(plan, problem)];
}

/** Each pod is in exactly one list, each "no" has a reason, each node exists, and no pool that was left out has nodes. */
function listFaults({ newNodes, existingNodes, unschedulable, droppedPools }: Plan, { pods, nodes }: Problem): readonly Fault[] {
  const faults: Fault[] = [];
  const says = (subject: string, text: string) => faults.push(fault("lists", subject, text));
  const listed = [...newNodes, ...existingNodes].flatMap((node) => node.pods).concat(unschedulable.map(({ pod }) => pod));
  const times = new Map<string, number>();
  for (const key of listed) times.set(key, (times.get(key) ?? 0) + 1);
  for (const { key } of pods) if (times.get(key) !== 1) says(key, `in ${times.get(key) ?? 0} lists`);
  if (listed.length > pods.length) says("plan", "pods that are not in the problem, or twice");
  for (const { pod, reasons } of unschedulable) if (reasons.length === 0) says(pod, "unschedulable without a reason");
  const names = new Set(nodes.map(({ name }) => name));
  for (const { name, pods: gained } of existingNodes) if (!names.has(name) || gained.length === 0) says(name, "no such node, or no pods");
  const all = [...newNodes, ...existingNodes].map(({ name }) => name);
  if (new Set(all).size < all.length) says("plan", "two nodes of one name");
  for (const { name, pods: own } of newNodes) if (own.length === 0) says(name, "a new node without pods");
  for (const { nodePool } of droppedPools) {
    if (newNodes.some((node) => node.nodePool.metadata!.name === nodePool)) says(nodePool, "left out, but has new nodes");
  }
  return faults;
}
