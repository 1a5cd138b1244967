/** Which NodePools a plan may use, and what they offer. Rules S-59, S-61, L-191. */
import type { Kind, NodePool } from "@joinery/api";
import type { PoolOffer } from "@joinery/scheduling";
import type { CloudProvider } from "../cloud-provider.ts";
import type { Logger } from "../logger.ts";
import { messageOf } from "../runtime/answers.ts";
import { isManaged } from "../state/managed.ts";

/** S-59: ours, dynamic, ready and staying. */
export function isUsable(pool: NodePool, nodeClassKinds: readonly Kind[]): boolean {
  const { metadata, spec } = pool;
  if (metadata?.deletionTimestamp !== undefined || spec.replicas !== undefined) return false;
  return isManaged(spec.template.spec.nodeClassRef, nodeClassKinds) && isReady(pool);
}

/** L-191. */
export function isReady({ status }: NodePool): boolean {
  return status?.conditions?.some(({ type, status: value }) => type === "Ready" && value === "True") ?? false;
}

/** One object, so that a pool without types looks the same in every pass. */
const NO_TYPES: PoolOffer["instanceTypes"] = [];

/**
 * S-61: a pool whose types cannot be had offers none; it drops out of the solve, the others and the nodes that exist do not (S-65).
 * Sorted by name, so that equal worlds give equal plans.
 */
export async function offersOf(
  pools: Iterable<NodePool>,
  provider: CloudProvider,
  log: Logger,
  signal: AbortSignal,
): Promise<readonly PoolOffer[]> {
  const usable = [...pools].filter((pool) => isUsable(pool, provider.nodeClassKinds));
  usable.sort((one, other) => ((one.metadata?.name ?? "") < (other.metadata?.name ?? "") ? -1 : 1));
  const offers: PoolOffer[] = [];
  for (const nodePool of usable) {
    try {
      const instanceTypes = await provider.instanceTypes(nodePool, signal);
      if (instanceTypes.length === 0) log.error({ NodePool: nodePool.metadata?.name }, "skipping, no resolved instance types found");
      offers.push({ nodePool, instanceTypes: instanceTypes.length === 0 ? NO_TYPES : instanceTypes });
    } catch (error) {
      signal.throwIfAborted();
      log.error({ NodePool: nodePool.metadata?.name, error: messageOf(error) }, "skipping, unable to resolve instance types");
      offers.push({ nodePool, instanceTypes: NO_TYPES });
    }
  }
  return offers;
}
