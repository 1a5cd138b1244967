/** Which pods a group of topology counts, and where they are: those that run already, and those that the solve has placed. S-136, S-140, S-153. */
import { HOSTNAME_LABEL } from "@joinery/api";
import { remembered } from "../memo.ts";
import type { Plan } from "../plan.ts";
import type { Problem } from "../problem.ts";
import { nodeLabel } from "../requirements/node-labels.ts";
import type { SolverView } from "../solve/solve.ts";
import type { Group } from "../topology/topology.ts";

export interface DomainFact {
  readonly domain: string;
  readonly pods: number;
  /** At most three, as `namespace/name`, or as `2 on node-a` of those that run already. */
  readonly who: readonly string[];
}

/** Of a solve that is looked at, maybe in the midst of it: what it was asked, and what it ends with. */
export interface Surroundings {
  readonly problem: Problem;
  readonly view: SolverView;
  /** The one that is explained: its names are those that people see. */
  readonly plan: Plan;
}

const NAMES_MAX = 3;

/** As the plan names the node with the claim's pods. A claim that the plan drops in the end (S-178) has no number. */
export function claimNames({ problem, view: { claims }, plan }: Surroundings): readonly string[] {
  const byPod = remembered(namesByPod, plan, () => new Map(plan.newNodes.flatMap(({ name, pods }) => pods.map((pod) => [pod, name]))));
  return claims.list.map(({ template, pods: [first] }) => {
    const name = first === undefined ? undefined : byPod.get(problem.pods[first]!.key);
    return name ?? `a node of ${template.name} that the plan drops`;
  });
}

const namesByPod = new WeakMap<Plan, ReadonlyMap<string, string>>();

/** By domain, sorted by name. Pods whose node may still be in several domains are in each of them. */
export function residentsOf(group: Group, { problem, view, plan }: Surroundings): readonly DomainFact[] {
  const found = new Map<string, { pods: number; who: string[] }>();
  const add = (domain: string | undefined, pods: number, who: string) => {
    if (domain === undefined) return;
    const entry = found.get(domain) ?? { pods: 0, who: [] };
    entry.pods += pods;
    if (entry.who.length < NAMES_MAX) entry.who.push(who);
    found.set(domain, entry);
  };
  const { key, isInverse, selector, filter } = group.identity;
  for (const { shape, site, count, endingCount } of problem.boundPods ?? []) {
    const isMeant = isInverse
      ? view.topology.announceInverse(shape).includes(group)
      : count > 0 && group.selectsIn(shape.namespace) && selector.lists(shape.labels) && filter?.acceptsNode(site) !== false;
    const pods = isInverse ? count + endingCount : count;
    if (isMeant && pods > 0) add(nodeLabel(site.labels, key), pods, `${pods} on ${site.name}`);
  }
  const isMarked = view.classes.list.map(({ marks }) => marks.groups.includes(group));
  const isMeant = (pod: number) => isMarked[view.classes.classOfPod[pod]!]!;
  for (const { node, pods } of view.nodes.list) {
    if (filter?.acceptsNode(node) === false) continue;
    for (const pod of pods) if (isMeant(pod)) add(nodeLabel(node.labels, key), 1, problem.pods[pod]!.key);
  }
  const names = claimNames({ problem, view, plan });
  const isHostname = key === HOSTNAME_LABEL;
  for (const [index, { pods, state, template }] of view.claims.list.entries()) {
    const mine = pods.filter(isMeant);
    if (mine.length === 0 || filter?.acceptsClaim(state.requirements, template.taints) === false) continue;
    const domains = isHostname ? [names[index]!] : (state.requirements.find(key)?.listedValues ?? []);
    for (const domain of domains) for (const pod of mine) add(domain, 1, problem.pods[pod]!.key);
  }
  return [...found].sort(([a], [b]) => (a < b ? -1 : 1)).map(([domain, { pods, who }]) => ({ domain, pods, who }));
}
