/** Each planned node by itself: is it what its NodePool describes, and does each of its types hold its pods and DaemonSets? */
import type { Resources } from "@joinery/api";
import type { InstanceType, Plan, PlannedNode, PodShape, Problem } from "@joinery/scheduling";
import { areEqual, isEnough, sum } from "./amounts.ts";
import { type Fault, type FaultKind, fault } from "./fault.ts";
import { doPortsClash } from "./kube-scheduler.ts";
import { isSelectedBy, isToleratedBy, meets } from "./labels.ts";
import { allocatable, CAPACITY_TYPE, firstValue, type Machine, machinesOf, ZONE } from "./machines.ts";
import { areReachable, isWithinVolumeLimits } from "./volumes.ts";

const TYPES_MAX = 600;

export function plannedNodeFaults({ newNodes }: Plan, problem: Problem): readonly Fault[] {
  const shapes = new Map(problem.pods.map(({ key, shape }) => [key, shape]));
  return newNodes.flatMap((node) => {
    const pods = node.pods.map((key) => shapes.get(key)!);
    const machines = node.instanceTypes.map((type) => machinesOf(node, type, problem));
    return [
      ...poolFaults(node, problem),
      ...typeFaults(node, pods, machines, problem),
      ...priceFaults(node, machines),
      ...requestFaults(node, pods),
    ];
  });
}

/** Taints, labels and requirements are the NodePool's own, narrowed at most; pods tolerate the taints. */
function poolFaults(node: PlannedNode, { pools }: Problem): readonly Fault[] {
  const says = (text: string) => fault("pool", node.name, text);
  const offer = pools.find(({ nodePool }) => nodePool === node.nodePool);
  if (offer === undefined) return [says("no such NodePool")];
  const { metadata, spec } = node.nodePool.spec.template;
  const faults: Fault[] = [];
  if (JSON.stringify(node.taints) !== JSON.stringify(spec.taints ?? [])) faults.push(says("other taints"));
  if (JSON.stringify(node.startupTaints) !== JSON.stringify(spec.startupTaints ?? [])) faults.push(says("other startup taints"));
  const labels = { ...metadata?.labels, "karpenter.sh/nodepool": node.nodePool.metadata!.name! };
  for (const [key, value] of Object.entries(labels)) if (node.labels[key] !== value) faults.push(says(`label ${key} is not ${value}`));
  if (node.instanceTypes.some((type) => !offer.instanceTypes.includes(type))) faults.push(says("a type that the pool is not offered"));
  return faults;
}

/** Whichever type is launched in whichever zone that the requirements leave, pods and pool agree; and each type has room in one of them. */
function typeFaults(
  node: PlannedNode,
  pods: readonly PodShape[],
  machines: readonly (readonly Machine[])[],
  problem: Problem,
): readonly Fault[] {
  const names = node.instanceTypes.map(({ name }) => name);
  const faults: Fault[] = [];
  const says = (kind: FaultKind, text: string) => faults.push(fault(kind, node.name, text));
  if (names.length === 0 || names.length > TYPES_MAX || new Set(names).size < names.length) says("types", "not 1 to 600 distinct types");
  if (!pods.every((shape) => isToleratedBy(shape, node.taints))) says("taints", "a pod does not tolerate the NodePool");
  const own = node.nodePool.spec.template.spec.requirements;
  const total = sum(pods.map(({ requests }) => requests));
  for (const [index, type] of node.instanceTypes.entries()) {
    const possible = machines[index]!;
    if (possible.length === 0 && !own.some(({ minValues }) => minValues !== undefined)) says("types", `${type.name} cannot be launched`);
    for (const { labels } of possible) {
      if (!own.every((item) => meets(item, labels))) says("pool", `${type.name} in ${labels[ZONE]} is not what the NodePool asks for`);
      if (!pods.every((shape) => isSelectedBy(shape, labels)))
        says("node-selector", `${type.name} in ${labels[ZONE]} is not what a pod asks for`);
      if (!pods.every((shape) => areReachable(shape, labels, problem))) says("volume-place", `${labels[ZONE]} is out of reach of a volume`);
    }
    const isRoomy = possible.some(({ allocatable: room, daemons }) =>
      isEnough(room, sum([total, ...daemons.map(({ requests }) => requests)])),
    );
    if (possible.length > 0 && !isRoomy && !isCountedAlone(node, type, total))
      says("resources", `${type.name} does not hold the pods and DaemonSets`);
    const hasPorts = possible.some(
      ({ daemons }) => !daemons.some((daemon) => pods.some((pod) => doPortsClash(daemon.hostPorts, pod.hostPorts))),
    );
    if (possible.length > 0 && !hasPorts) says("host-port", `on ${type.name} a DaemonSet has the port`);
    if (!isWithinVolumeLimits(pods, pods, type.volumeLimits ?? {}, problem))
      says("volume-limit", `${type.name} cannot attach as many volumes`);
  }
  return faults;
}

/**
 * minValues counts a type that has room only in an offering which the node does not use, because it is pinned to a reservation or the
 * reservation is full or another's: it is listed, but not meant to be launched (V-61, V-74).
 */
function isCountedAlone({ nodePool }: PlannedNode, type: InstanceType, total: Resources): boolean {
  return (
    nodePool.spec.template.spec.requirements.some(({ minValues }) => minValues !== undefined) &&
    type.offerings.some((offering) => offering.isAvailable && isEnough(allocatable(type, offering), total))
  );
}

/** Types by their cheapest offering with room for the pods, and the cheapest of all named; what cannot be launched comes last. */
function priceFaults(
  { name, cheapest, instanceTypes, requests }: PlannedNode,
  machines: readonly (readonly Machine[])[],
): readonly Fault[] {
  const roomy = machines.map((possible) =>
    possible.filter(({ allocatable: room, daemons }) => isEnough(room, sum([requests, ...daemons.map((daemon) => daemon.requests)]))),
  );
  const prices = roomy.map((possible) => Math.min(...possible.map(({ offering }) => offering.priceUsdPerHour)));
  const isSorted = prices.every((price, index) => index === 0 || prices[index - 1]! <= price);
  const isNamed = roomy
    .flat()
    .some(
      ({ type, offering: { requirements, priceUsdPerHour } }) =>
        type.name === cheapest.instanceType &&
        firstValue(requirements, ZONE) === cheapest.zone &&
        firstValue(requirements, CAPACITY_TYPE) === cheapest.capacityType &&
        priceUsdPerHour === cheapest.priceUsdPerHour,
    );
  const isCheapest = isNamed && cheapest.instanceType === instanceTypes[0]!.name && cheapest.priceUsdPerHour === Math.min(...prices);
  return [
    ...(isSorted ? [] : [fault("price", name, "types are not in the order of their prices")]),
    ...(isCheapest ? [] : [fault("price", name, "what is named the cheapest is not")]),
  ];
}

/** What the NodeClaim asks for on top of DaemonSets. */
function requestFaults(node: PlannedNode, pods: readonly PodShape[]): readonly Fault[] {
  return areEqual(node.requests, sum(pods.map(({ requests }) => requests))) ? [] : [fault("requests", node.name, "not the pods' sum")];
}
