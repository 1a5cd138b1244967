/** What a NodePool promises of all its nodes together: limits, minValues, reservations, and that heavier pools go first. */
import { parseResources } from "@joinery/api";
import type { InstanceType, Plan, PlannedNode, PodShape, PoolOffer, Problem } from "@joinery/scheduling";
import { isEnough, sum } from "./amounts.ts";
import { type Fault, fault } from "./fault.ts";
import { isSelectedBy, type Labels, meets } from "./labels.ts";
import { allocatable, CAPACITY_TYPE, canLaunch, firstValue, HOSTNAME, machinesOf } from "./machines.ts";

const INSTANCE_TYPE = "node.kubernetes.io/instance-type";
const RELAXED = "karpenter.sh/nodeclaim-min-values-relaxed";

export function poolRuleFaults(plan: Plan, problem: Problem): readonly Fault[] {
  return [
    ...limitFaults(plan, problem),
    ...plan.newNodes.flatMap((node) => minValuesFaults(node, problem)),
    ...reservationFaults(plan, problem),
    ...plan.newNodes.flatMap((node) => weightFaults(node, problem)),
  ];
}

/** S-160…S-163: even if each new node becomes the largest of its types. Pools that gain no node may be over their limits already. */
function limitFaults({ newNodes }: Plan, { pools, nodes }: Problem): readonly Fault[] {
  return pools.flatMap(({ nodePool }) => {
    const { name } = nodePool.metadata!;
    const planned = newNodes.filter((node) => node.nodePool === nodePool);
    if (planned.length === 0) return [];
    const present = nodes.filter(({ labels }) => labels["karpenter.sh/nodepool"] === name);
    return Object.entries(parseResources(nodePool.spec.limits)).flatMap(([resource, limit]) => {
      const largest = ({ instanceTypes }: PlannedNode) => Math.max(...instanceTypes.map(({ capacity }) => capacity[resource] ?? 0));
      const used =
        resource === "nodes"
          ? present.length + planned.length
          : [...present.map(({ capacity }) => capacity[resource] ?? 0), ...planned.map(largest)].reduce((total, one) => total + one, 0);
      return used <= limit ? [] : [fault("limit", name!, `${resource} is ${used} of ${limit}`)];
    });
  });
}

/** V-74: of the types that are listed, the values that the node's requirement still allows. */
function minValuesFaults(node: PlannedNode, { options }: Problem): readonly Fault[] {
  const keys = new Set(
    node.nodePool.spec.template.spec.requirements.flatMap(({ key, minValues }) => (minValues === undefined ? [] : [key])),
  );
  return Array.from(keys).flatMap((key) => {
    const own = node.nodePool.spec.template.spec.requirements.filter((item) => item.key === key);
    const asked = Math.max(...own.map(({ minValues = 0 }) => minValues));
    const left = node.requirements.filter((item) => item.key === key);
    const kept = key === INSTANCE_TYPE ? node.instanceTypeMinValues : Math.max(...left.map(({ minValues = 0 }) => minValues));
    const values = node.instanceTypes.flatMap((type) => valuesOf(type, key));
    const found = new Set(values.filter((value) => left.every((item) => meets(item, { [key]: value })))).size;
    const says = (text: string) => [fault("min-values", node.name, `${key}: ${text}`)];
    if (kept === undefined || kept > found) return says(`${found} values of ${kept ?? "none"}`);
    const mayBeLess = options.minValuesPolicy === "BestEffort" && node.annotations[RELAXED] === "true";
    return kept === asked || mayBeLess ? [] : says(`${kept} instead of ${asked}, which no annotation tells`);
  });
}

function valuesOf({ requirements }: InstanceType, key: string): readonly string[] {
  return requirements.filter((item) => item.key === key && item.operator === "In").flatMap(({ values = [] }) => values);
}

/**
 * S-166, V-52, V-62: no more nodes than slots may come to use a reservation, whichever of their types is launched. Where nobody waits
 * (`fallback`) that holds only of nodes that are pinned to reservations.
 */
function reservationFaults({ newNodes }: Plan, problem: Problem): readonly Fault[] {
  const { reservedCapacity = "strict", reservationIdLabel = "karpenter.k8s.aws/capacity-reservation-id" } = problem.options;
  if (reservedCapacity === "ignored") return [];
  const users = new Map<string, Set<string>>();
  for (const node of newNodes) {
    if (reservedCapacity === "fallback" && !node.requirements.some(({ key }) => key === reservationIdLabel)) continue;
    for (const { labels } of node.instanceTypes.flatMap((type) => machinesOf(node, type, problem))) {
      const id = labels[reservationIdLabel];
      if (id !== undefined) users.set(id, (users.get(id) ?? new Set()).add(node.name));
    }
  }
  return Array.from(users).flatMap(([id, nodes]) => {
    const slots = slotsOf(id, reservationIdLabel, problem);
    return nodes.size <= slots ? [] : [fault("reservation", id, `${nodes.size} nodes for ${slots} slots`)];
  });
}

function slotsOf(id: string, label: string, { pools, options }: Problem): number {
  const offerings = pools.flatMap(({ instanceTypes }) => instanceTypes.flatMap((type) => type.offerings));
  const own = offerings.filter(({ requirements, isAvailable }) => isAvailable && firstValue(requirements, label) === id);
  return Math.min(...own.map(({ reservationCapacity = 0 }) => reservationCapacity)) + (options.reservationCredits?.[id] ?? 0);
}

/**
 * S-60, S-91: a node is opened by one of its pods, for which no heavier pool would do. Looked at where that is plain: nothing but requests,
 * a node selector and tolerations in the pods, and neither limits nor minValues nor reservations in the heavier pool.
 */
function weightFaults(node: PlannedNode, problem: Problem): readonly Fault[] {
  const shapes = new Map(problem.pods.map(({ key, shape }) => [key, shape]));
  const pods = node.pods.map((key) => shapes.get(key)!);
  const heavier = problem.pools.filter(({ nodePool }) => weightOf(nodePool) > weightOf(node.nodePool));
  const passedOver = heavier.find((offer) => isPlainPool(offer) && pods.every((shape) => isPlain(shape) && hasHome(shape, offer, problem)));
  return passedOver === undefined ? [] : [fault("weight", node.name, `${passedOver.nodePool.metadata!.name} would do for all its pods`)];
}

function weightOf({ spec }: PoolOffer["nodePool"]): number {
  return spec.weight ?? 0;
}

function isPlainPool({ nodePool, instanceTypes }: PoolOffer): boolean {
  return (
    Object.keys(nodePool.spec.limits ?? {}).length === 0 &&
    nodePool.spec.template.spec.requirements.every(({ minValues }) => minValues === undefined) &&
    instanceTypes.every(({ offerings }) => offerings.every(({ requirements }) => firstValue(requirements, CAPACITY_TYPE) !== "reserved"))
  );
}

function isPlain({ affinity = {}, topologySpreadConstraints, hostPorts, claimNames, labels }: PodShape): boolean {
  const { nodeAffinity = {}, podAffinity = {}, podAntiAffinity = {} } = affinity;
  const isAlone = [nodeAffinity, podAffinity, podAntiAffinity].every((part) => Object.keys(part).length === 0);
  return (
    isAlone && Object.keys(labels).length === 0 && [topologySpreadConstraints, hostPorts, claimNames].every((list) => list === undefined)
  );
}

/** Some type and offering of the pool with room for the pod beside every DaemonSet that there is. */
function hasHome(shape: PodShape, { nodePool, instanceTypes }: PoolOffer, { daemonSets }: Problem): boolean {
  const { metadata, spec } = nodePool.spec.template;
  const tolerated = (spec.taints ?? []).every(
    (taint) =>
      shape.tolerations.some(({ key, operator, effect }) => operator === "Exists" && key === undefined && effect === undefined) ||
      taint === undefined,
  );
  if (!tolerated) return false;
  const needed = sum([shape, ...daemonSets.map((one) => one.shape)].map(({ requests }) => requests));
  return instanceTypes.some((type) =>
    type.offerings.some((offering) => {
      if (!canLaunch(offering) || !isEnough(allocatable(type, offering), needed)) return false;
      const single = [...type.requirements.filter(({ values }) => values?.length === 1), ...offering.requirements];
      const labels: Labels = {
        ...Object.fromEntries(single.map(({ key, values }) => [key, values![0]!])),
        ...metadata?.labels,
        "karpenter.sh/nodepool": nodePool.metadata!.name!,
        [HOSTNAME]: "new",
      };
      return spec.requirements.every((item) => meets(item, labels)) && isSelectedBy(shape, labels);
    }),
  );
}
