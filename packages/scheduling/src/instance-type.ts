/** What a cloud sells, as plain data. The solver compiles it once per catalogue. Rules S-52…S-56, V-60, V-70. */
import type { NodeSelectorRequirement, Resources } from "@joinery/api";

/** A requirement as it stands in a NodePool or NodeClaim. */
export interface RequirementItem extends NodeSelectorRequirement {
  readonly minValues?: number;
}

export interface Overhead {
  readonly kubeReserved: Resources;
  readonly systemReserved: Resources;
  readonly evictionThreshold: Resources;
}

export interface Offering {
  /**
   * Single-valued; holds at least `karpenter.sh/capacity-type` and `topology.kubernetes.io/zone`, on AWS also the zone id and
   * the reservation labels.
   */
  readonly requirements: readonly RequirementItem[];
  readonly priceUsdPerHour: number;
  /** Health alone; a full reservation is available with `reservationCapacity` 0 (V-60). */
  readonly isAvailable: boolean;
  /** Free slots; only for capacity type `reserved`. */
  readonly reservationCapacity?: number;
  readonly capacityOverride?: Resources;
  readonly overheadOverride?: Resources;
}

/**
 * Immutable. Providers hand out the same array (and the same type objects) for all pools that see the same types, so that
 * compiling and memory are paid once.
 */
export interface InstanceType {
  readonly name: string;
  /** For every well-known key that the type defines; zone and capacity type list all offered values. */
  readonly requirements: readonly RequirementItem[];
  readonly capacity: Resources;
  readonly overhead: Overhead;
  readonly offerings: readonly Offering[];
  /** CSI driver name → attachments; absent = unlimited (V-70). */
  readonly volumeLimits?: Readonly<Record<string, number>>;
  /** What NodeOverlays have changed of it; NodeClaims that may become it say so (S-183). */
  readonly overlaid?: { readonly price: boolean; readonly capacity: boolean };
}
