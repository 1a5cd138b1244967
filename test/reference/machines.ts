/** What a planned node may turn out to be: each listed type with each of its offerings that the requirements leave. */
import type { Resources } from "@joinery/api";
import type { InstanceType, Offering, PlannedNode, PodShape, Problem } from "@joinery/scheduling";
import { minus, sum } from "./amounts.ts";
import { isSelectedBy, isToleratedBy, type Labels, meets } from "./labels.ts";

export const ZONE = "topology.kubernetes.io/zone";
export const CAPACITY_TYPE = "karpenter.sh/capacity-type";
export const HOSTNAME = "kubernetes.io/hostname";
/** The EBS driver copies the zone to it. */
const EBS_ZONE = "topology.ebs.csi.aws.com/zone";

export interface Machine {
  readonly type: InstanceType;
  readonly offering: Offering;
  readonly labels: Labels;
  readonly allocatable: Resources;
  /** What DaemonSets run there. */
  readonly daemons: readonly PodShape[];
}

/** Those that can be launched. */
export function machinesOf(node: PlannedNode, type: InstanceType, problem: Problem): readonly Machine[] {
  return type.offerings.filter(canLaunch).flatMap((offering) => {
    const labels = labelsOf(node, type, offering);
    if (!node.requirements.every((item) => meets(item, labels))) return [];
    return [{ type, offering, labels, allocatable: allocatable(type, offering), daemons: daemonsOn(node, labels, problem) }];
  });
}

/** A reservation without a free slot gives nothing. */
export function canLaunch({ isAvailable, requirements, reservationCapacity = 0 }: Offering): boolean {
  return isAvailable && (reservationCapacity > 0 || firstValue(requirements, CAPACITY_TYPE) !== "reserved");
}

export function firstValue(requirements: Offering["requirements"], key: string): string | undefined {
  return requirements.find((item) => item.key === key)?.values?.[0];
}

/** Labels that components beside kubelet and Joinery put on nodes. */
export function withDriverLabels(labels: Labels): Labels {
  return labels[ZONE] === undefined ? labels : { ...labels, [EBS_ZONE]: labels[ZONE] };
}

/** What the type and the offering say, what the NodeClaim says, and what kubelet and the controller add. */
function labelsOf(node: PlannedNode, type: InstanceType, offering: Offering): Labels {
  const labels: Record<string, string> = {};
  for (const { key, operator, values = [] } of type.requirements) {
    if (operator !== "In") continue;
    const wanted = node.requirements.filter((item) => item.key === key);
    const possible = values.filter((value) => wanted.every((item) => meets(item, { [key]: value })));
    const value = possible.includes("linux") ? "linux" : possible[0];
    if (value !== undefined) labels[key] = value;
  }
  for (const { key, values = [] } of offering.requirements) labels[key] = values[0]!;
  Object.assign(labels, node.labels, { [HOSTNAME]: node.name, "karpenter.sh/registered": "true", "karpenter.sh/initialized": "true" });
  return withDriverLabels(labels);
}

/** Capacity minus what is reserved, both as the offering overrides them; huge pages are carved out of memory. */
export function allocatable({ capacity, overhead }: InstanceType, { capacityOverride, overheadOverride }: Partial<Offering>): Resources {
  const reserved = sum([overhead.kubeReserved, overhead.systemReserved, overhead.evictionThreshold]);
  const all = { ...capacity, ...capacityOverride };
  const rest = minus(all, { ...reserved, ...overheadOverride });
  const hugePages = Object.entries(all)
    .filter(([name]) => name.startsWith("hugepages-"))
    .reduce((total, [, amount]) => total + amount, 0);
  return rest.memory === undefined || hugePages === 0 ? rest : { ...rest, memory: Math.max(0, rest.memory - hugePages) };
}

/**
 * As the DaemonSet controller decides, but for labels that only the node's pods brought: a pod that excludes a value of a label which
 * the pool does not know makes one up (S-182), while DaemonSets are weighed against the pool (S-67).
 */
function daemonsOn({ nodePool, taints, labels: own }: PlannedNode, labels: Labels, { daemonSets, options }: Problem): readonly PodShape[] {
  const { metadata, spec } = nodePool.spec.template;
  const known = new Set([...Object.keys(metadata?.labels ?? {}), ...spec.requirements.map(({ key }) => key)]);
  const isBrought = (key: string) => key in own && !known.has(key) && !options.wellKnownLabels?.has(key) && !key.includes("karpenter");
  const ofPool = Object.fromEntries(Object.entries(labels).filter(([key]) => !isBrought(key)));
  return daemonSets.flatMap(({ shape }) =>
    !shape.hasResourceClaims && isToleratedBy(shape, taints) && isSelectedBy(shape, ofPool) ? [shape] : [],
  );
}
