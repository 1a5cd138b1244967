/** What the nodes that are there already cost, as far as the catalogue knows their type and offering. */
import {
  CAPACITY_TYPE_LABEL,
  INSTANCE_TYPE_LABEL,
  NODE_POOL_LABEL,
  type Node,
  type NodeClaim,
  REGISTERED_LABEL,
  ZONE_LABEL,
} from "@joinery/api";
import type { InstanceType } from "@joinery/scheduling";

export interface ExistingCost {
  readonly usdPerHour: number;
  readonly knownNodes: number;
  readonly unknownNodes: number;
}

type Labels = Readonly<Record<string, string>>;

/**
 * @param nodes each with its provider ID
 * @param typesOf types of a NodePool, with the prices that count there
 */
export function existingCost(
  nodes: readonly Node[],
  claims: readonly NodeClaim[],
  typesOf: (nodePool: string | undefined) => readonly InstanceType[],
): ExistingCost {
  const byName = new Map<readonly InstanceType[], ReadonlyMap<string, InstanceType>>();
  const typeOf = (labels: Labels) => {
    const types = typesOf(labels[NODE_POOL_LABEL]);
    const named = byName.get(types) ?? new Map(types.map((type) => [type.name, type]));
    byName.set(types, named);
    return named.get(labels[INSTANCE_TYPE_LABEL] ?? "");
  };
  const machines = labelsOfMachines(nodes, claims);
  let usdPerHour = 0;
  let knownNodes = 0;
  for (const labels of machines) {
    const price = priceOf(typeOf(labels), labels);
    if (price === undefined) continue;
    usdPerHour += price;
    knownNodes++;
  }
  return { usdPerHour, knownNodes, unknownNodes: machines.length - knownNodes };
}

/** L-43: a machine's labels are those of its NodeClaim until its Node is there and registered. */
function labelsOfMachines(nodes: readonly Node[], claims: readonly NodeClaim[]): readonly Labels[] {
  const launched = new Map(claims.flatMap((claim) => (claim.status?.providerID ? [[claim.status.providerID, claim] as const] : [])));
  const ofNodes = nodes.map(({ metadata, spec }) => {
    const claim = launched.get(spec?.providerID ?? "");
    launched.delete(spec?.providerID ?? "");
    const isRegistered = metadata?.labels?.[REGISTERED_LABEL] === "true";
    return (claim === undefined || isRegistered ? metadata?.labels : claim.metadata?.labels) ?? {};
  });
  return [...ofNodes, ...[...launched.values()].map(({ metadata }) => metadata?.labels ?? {})];
}

/** An offering counts by zone and capacity type, whether or not it could be bought again now. */
function priceOf(type: InstanceType | undefined, labels: Labels): number | undefined {
  const offering = type?.offerings.find(({ requirements }) =>
    [ZONE_LABEL, CAPACITY_TYPE_LABEL].every((key) => requirements.some((item) => item.key === key && item.values?.[0] === labels[key])),
  );
  return offering?.priceUsdPerHour;
}
