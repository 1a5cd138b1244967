/** The NodeOverlays in force, and instance types as they make them. Rules L-236, L-238. */
import type { NodePool } from "@joinery/api";
import type { InstanceType, OverlaySet } from "@joinery/scheduling";
import type { CloudProvider } from "../cloud-provider.ts";

/** L-238: nobody has looked yet what overlays say of this pool's types. */
class UnevaluatedNodePoolError extends Error {
  override readonly name = "UnevaluatedNodePoolError";
}

export interface OverlayStore {
  /** Takes the place of what was in force, for exactly these pools (by UID). */
  replace(overlays: OverlaySet, pools: ReadonlySet<string>): void;
  hasEvaluated(pool: NodePool): boolean;
  /** Throws `UnevaluatedNodePoolError` for a pool that no evaluation has seen. */
  typesFor(pool: NodePool, types: readonly InstanceType[]): readonly InstanceType[];
}

export function createOverlayStore(): OverlayStore {
  let inForce: OverlaySet | undefined;
  let evaluated: ReadonlySet<string> = new Set();
  const hasEvaluated = ({ metadata }: NodePool) => evaluated.has(metadata?.uid ?? "");
  return {
    replace(overlays, pools) {
      inForce = overlays;
      evaluated = pools;
    },
    hasEvaluated,
    typesFor(pool, types) {
      if (inForce !== undefined && hasEvaluated(pool)) return inForce.typesFor(pool, types);
      throw new UnevaluatedNodePoolError(`node overlays have not been evaluated for nodepool "${pool.metadata?.name}" yet`);
    },
  };
}

/** The provider as everybody but the evaluation sees it. */
export function withOverlays(provider: CloudProvider, store: OverlayStore): CloudProvider {
  return {
    ...provider,
    async instanceTypes(pool, signal) {
      return store.typesFor(pool, await provider.instanceTypes(pool, signal));
    },
  };
}
