/**
 * What a cluster looks like when a plan's nodes have come: every planned node as one of the machines that it may become, the nodes that
 * were there, and who runs on them.
 */
import type { ExistingNode, Plan, PlannedNode, PodShape, Problem, RequirementItem } from "@joinery/scheduling";
import { isEnough, minus, sum } from "./amounts.ts";
import type { BoundPod, KubeNode } from "./kube-scheduler.ts";
import { isSelectedBy, isToleratedBy } from "./labels.ts";
import { CAPACITY_TYPE, HOSTNAME, type Machine, machinesOf, withDriverLabels } from "./machines.ts";

export interface Newcomer {
  readonly key: string;
  readonly shape: PodShape;
  /** Where the plan has it. */
  readonly node: string;
}

export interface World {
  readonly nodes: readonly KubeNode[];
  readonly bound: readonly BoundPod[];
  readonly newcomers: readonly Newcomer[];
}

/** The cheapest machines, the dearest, and a mixture; none where some node holds its pods on no machine. */
export function worldsOf(plan: Plan, problem: Problem): readonly World[] {
  const choices = plan.newNodes.map((node) => ({ node, machines: fittingMachines(node, problem) }));
  if (choices.some(({ machines }) => machines.length === 0)) return [];
  const choosers: readonly ((machines: readonly Machine[], index: number) => Machine)[] = [
    (machines) => machines[0]!,
    (machines) => machines.at(-1)!,
    (machines, index) => machines[(7 * index + 3) % machines.length]!,
  ];
  const present = [...problem.nodes.map((node) => existingNode(node, problem)), ...leavingNodes(problem)];
  const bound = boundPods(problem, present);
  const newcomers = newcomersOf(plan, problem);
  const shapes = new Map(problem.pods.map(({ key, shape }) => [key, shape]));
  return choosers.map((choose) => {
    const fresh = choices.map(({ node, machines }, index) =>
      newNode(
        node,
        node.pods.map((key) => shapes.get(key)!),
        choose(machines, index),
        problem,
      ),
    );
    return { nodes: [...present, ...fresh], bound, newcomers };
  });
}

/** Those that hold the node's pods and DaemonSets, the cheapest first. */
export function fittingMachines(node: PlannedNode, problem: Problem): readonly Machine[] {
  const machines = node.instanceTypes.flatMap((type) => machinesOf(node, type, problem));
  return machines
    .filter(({ allocatable, daemons }) => isEnough(allocatable, sum([node.requests, ...daemons.map(({ requests }) => requests)])))
    .sort((one, other) => one.offering.priceUsdPerHour - other.offering.priceUsdPerHour);
}

function newNode(
  node: PlannedNode,
  pods: readonly PodShape[],
  { type, labels, allocatable, daemons }: Machine,
  problem: Problem,
): KubeNode {
  const { name, taints, requirements, labels: own } = node;
  const room = minus(allocatable, sum(daemons.map(({ requests }) => requests)));
  const open = [...requirements.filter(({ operator }) => operator !== "In").map(({ key }) => key), ...anyValueKeys(node)];
  const madeUp = new Set(open.filter((key) => key in own && !isListed(key, own[key]!, problem)));
  const undecided = new Set(Object.keys(labels).filter((key) => key !== HOSTNAME && !isDecided(node, key, pods)));
  return { name, labels, taints, room, volumeLimits: type.volumeLimits ?? {}, madeUp, undecided, deciders: pods };
}

/** Labels for which the NodePool lists no values: what a pod's selector names, or chance, is a domain that no spread knew of (S-131). */
function anyValueKeys({ nodePool }: PlannedNode): readonly string[] {
  const { requirements } = nodePool.spec.template.spec;
  const listed = new Set(requirements.filter(({ operator }) => operator === "In").map(({ key }) => key));
  return requirements.map(({ key }) => key).filter((key) => !listed.has(key));
}

/** Does some pool, type or node that exists name the value? Then every spread knows it as a domain. */
function isListed(key: string, value: string, { pools, nodes }: Problem): boolean {
  const isIn = (items: readonly RequirementItem[]) =>
    items.some((item) => item.key === key && item.operator === "In" && item.values?.includes(value));
  return (
    nodes.some(({ labels }) => labels[key] === value) ||
    pools.some(
      ({ nodePool: { spec }, instanceTypes }) =>
        spec.template.metadata?.labels?.[key] === value ||
        isIn(spec.template.spec.requirements) ||
        instanceTypes.some(({ requirements }) => isIn(requirements)),
    )
  );
}

/**
 * Does the plan say which value the node will have? The capacity type is narrowed once more when the solve is over (S-181), so that it
 * was decided before only where the NodePool or a pod decides it.
 */
function isDecided({ requirements, nodePool }: PlannedNode, key: string, pods: readonly PodShape[]): boolean {
  const isOne = (items: PlannedNode["requirements"]) =>
    items.some((item) => item.key === key && item.operator === "In" && item.values?.length === 1);
  if (key !== CAPACITY_TYPE) return isOne(requirements);
  const isAskedFor = ({ nodeSelector = {}, topologySpreadConstraints = [] }: PodShape) =>
    key in nodeSelector || topologySpreadConstraints.some(({ topologyKey }) => topologyKey === key);
  return isOne(nodePool.spec.template.spec.requirements) || (isOne(requirements) && pods.some(isAskedFor));
}

/** What DaemonSets are still to take there is kept for them (S-77); drivers that have not published limits have the type's (V-72). */
function existingNode(node: ExistingNode, { daemonSets, pools }: Problem): KubeNode {
  const labels = withDriverLabels(node.labels);
  const expected = daemonSets.filter(({ shape }) => isToleratedBy(shape, node.taints) && isSelectedBy(firstTermOnly(shape), labels));
  const due = minus(sum(expected.map(({ shape }) => shape.requests)), node.daemonSetRequests);
  const kept = Object.fromEntries(Object.entries(due).map(([name, amount]) => [name, Math.max(0, amount)]));
  const pool = pools.find(({ nodePool }) => nodePool.metadata!.name === labels["karpenter.sh/nodepool"]);
  const type = pool?.instanceTypes.find(({ name }) => name === labels["node.kubernetes.io/instance-type"]);
  return {
    name: node.name,
    labels,
    taints: node.taints,
    room: minus(node.available, kept),
    volumeLimits: { ...type?.volumeLimits, ...node.volumeLimits },
  };
}

function firstTermOnly(shape: PodShape): PodShape {
  const [term] = shape.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms ?? [];
  if (term === undefined) return shape;
  return { ...shape, affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [term] } } } };
}

function newcomersOf({ newNodes, existingNodes }: Plan, { pods }: Problem): readonly Newcomer[] {
  const shapes = new Map(pods.map(({ key, shape }) => [key, shape]));
  return [...newNodes, ...existingNodes].flatMap(({ name, pods: keys }) =>
    keys.map((key) => ({ key, shape: shapes.get(key)!, node: name })),
  );
}

function leavingNodes({ nodes, boundPods: bound = [] }: Problem): readonly KubeNode[] {
  const known = new Set(nodes.map(({ name }) => name));
  const sites = new Map(bound.filter(({ site }) => !known.has(site.name)).map(({ site }) => [site.name, site]));
  return Array.from(sites.values(), ({ name, labels, taints }) => ({
    name,
    labels: withDriverLabels(labels),
    taints,
    room: {},
    volumeLimits: {},
    isLeaving: true,
  }));
}

function boundPods({ boundPods: bound = [] }: Problem, places: readonly KubeNode[]): readonly BoundPod[] {
  const byName = new Map(places.map((node) => [node.name, node]));
  return bound.flatMap(({ shape, site, count, endingCount }, group) =>
    Array.from({ length: count + endingCount }, (_, index) => ({
      key: `bound-${group}-${index}`,
      shape,
      node: byName.get(site.name)!,
      isNew: false,
      isEnding: index >= count,
    })),
  );
}
