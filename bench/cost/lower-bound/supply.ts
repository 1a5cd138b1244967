/** What pods can run on: every offering of every pool, less its DaemonSets, and the room of nodes that exist. */
import { CAPACITY_TYPE_LABEL, fits, type Resources, subtractResources, sumResources, type Taint, ZONE_LABEL } from "@joinery/api";
import {
  allocatableOf,
  type InstanceType,
  isLaunchable,
  type Offering,
  type PodShape,
  type Problem,
  Requirements,
  untoleratedTaints,
} from "@joinery/scheduling";

export interface Supply {
  /** For people. */
  readonly name: string;
  /** Of one node; 0 for a node that exists, of which there is one. */
  readonly usdPerHour: number;
  readonly isThere: boolean;
  /** Of a node that exists: empty. */
  readonly nodePool: string;
  readonly instanceType: string;
  readonly isSpot: boolean;
  readonly zone: string;
  /** What pods can have of one node. */
  readonly room: Resources;
  readonly requirements: Requirements;
  readonly taints: readonly Taint[];
}

/** Offerings that differ in price alone are one, the cheapest. */
export function suppliesOf({ pools, nodes, daemonSets, options }: Problem): readonly Supply[] {
  const wellKnown = options.wellKnownLabels ?? new Set();
  const supplies: Supply[] = nodes.map(({ name, labels, taints, available }) => {
    const requirements = Requirements.fromLabels(labels);
    const zone = labels[ZONE_LABEL] ?? "";
    return {
      name,
      usdPerHour: 0,
      isThere: true,
      nodePool: "",
      instanceType: "",
      isSpot: false,
      zone,
      room: available,
      requirements,
      taints,
    };
  });
  for (const { nodePool, instanceTypes } of pools) {
    const { metadata, spec } = nodePool.spec.template;
    const poolLabels = { ...metadata?.labels, "karpenter.sh/nodepool": nodePool.metadata!.name! };
    const wanted = Requirements.fromItems(spec.requirements).and(Requirements.fromLabels(poolLabels));
    const taints = spec.taints ?? [];
    for (const type of instanceTypes) {
      for (const offering of type.offerings.filter(isLaunchable)) {
        const offered = Requirements.fromItems(type.requirements).and(Requirements.fromItems(offering.requirements));
        if (!wanted.intersects(offered)) continue;
        const requirements = wanted.and(offered);
        const zone = requirements.find(ZONE_LABEL)?.anyValue() ?? "";
        const site = { requirements, taints };
        const daemons = daemonSets.filter(({ shape }) => admits(site, shape, wellKnown)).map(({ shape }) => shape.requests);
        const room = subtractResources(allocatableOf(altered(type, offering)), sumResources(...daemons));
        const name = `${nodePool.metadata!.name} ${type.name} ${zone}`;
        const isSpot = requirements.find(CAPACITY_TYPE_LABEL)?.has("spot") ?? false;
        const origin = { nodePool: nodePool.metadata!.name!, instanceType: type.name, isSpot };
        supplies.push({ name, ...origin, usdPerHour: offering.priceUsdPerHour, isThere: false, zone, room, requirements, taints });
      }
    }
  }
  return supplies;
}

/** S-53: the type as this offering has it. */
function altered(type: InstanceType, { capacityOverride, overheadOverride }: Offering): InstanceType {
  const { kubeReserved, systemReserved, evictionThreshold } = type.overhead;
  const reserved = { ...sumResources(kubeReserved, systemReserved, evictionThreshold), ...overheadOverride };
  return {
    ...type,
    capacity: { ...type.capacity, ...capacityOverride },
    overhead: { kubeReserved: reserved, systemReserved: {}, evictionThreshold: {} },
  };
}

/** Taints, node selector and required node affinity: what no relaxation of a pod's constraints can leave out. */
export function admits(
  { requirements, taints }: Pick<Supply, "requirements" | "taints">,
  { tolerations, nodeSelector, affinity }: PodShape,
  wellKnown: ReadonlySet<string>,
): boolean {
  if (untoleratedTaints(taints, tolerations).some(({ effect }) => effect !== "PreferNoSchedule")) return false;
  const selected = Requirements.fromLabels(nodeSelector);
  if (!requirements.isCompatible(selected, wellKnown)) return false;
  const terms = affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms;
  if (terms === undefined) return true;
  return terms.some(({ matchExpressions = [] }) => requirements.isCompatible(Requirements.fromItems(matchExpressions), wellKnown));
}

export function holdsOne({ room }: Supply, requests: Resources): boolean {
  return fits(requests, room);
}
