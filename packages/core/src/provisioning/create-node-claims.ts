/** Turns planned nodes into NodeClaims. Rules S-9, S-10, V-94. */
import {
  formatResources,
  MIN_VALUES_RELAXED_ANNOTATION,
  type NodeClaim,
  type NodePool,
  parseResources,
  type Resources,
} from "@joinery/api";
import { isAlreadyExists } from "@joinery/kube";
import { type PlannedNode, toNodeClaim } from "@joinery/scheduling";
import type { Rooms } from "../rooms.ts";
import { listText } from "../runtime/log-context.ts";
import type { PodRecord } from "../state/pod-record.ts";
import { nominated } from "./events.ts";
import { nodeClaimName } from "./node-claim-name.ts";

export interface PlannedClaim {
  readonly planned: PlannedNode;
  readonly pods: readonly PodRecord[];
  /** Those of virtual pods too (L-218). */
  readonly podUids: readonly string[];
}

/** Creates all of them, whatever becomes of each; then throws what went wrong, all in one. */
export async function createNodeClaims(claims: readonly PlannedClaim[], rooms: Rooms, signal: AbortSignal): Promise<void> {
  const taken = new Set<string>();
  const named = claims.map((claim) => {
    const isTaken = (name: string) => taken.has(name) || rooms.caches.nodeClaims.find(name) !== undefined;
    const name = nodeClaimName(poolNameOf(claim.planned), claim.podUids, isTaken);
    taken.add(name);
    return { ...claim, name };
  });
  const outcomes = await Promise.allSettled(named.map((claim) => createOne(claim, rooms, signal)));
  const errors = outcomes.flatMap((outcome) => (outcome.status === "rejected" ? [outcome.reason] : []));
  if (errors.length === 1) throw errors[0];
  if (errors.length > 1) throw new AggregateError(errors, errors.map((error) => String(error?.message ?? error)).join("; "));
}

async function createOne(
  { planned, pods, name }: PlannedClaim & { readonly name: string },
  rooms: Rooms,
  signal: AbortSignal,
): Promise<void> {
  const { events, log, assignments } = rooms;
  const nodepool = poolNameOf(planned);
  const created = await createNodeClaim(toNodeClaim(planned, rooms.provider.claimDefaults), { name, nodepool }, rooms, signal);
  if (created === undefined) return;
  assignments.assign(name, pods);
  for (const pod of pods) events.publish(nominated(pod, { nodeClaim: name }));
  const types = planned.instanceTypes.map((type) => type.name);
  log.info(
    { NodePool: { name: nodepool }, NodeClaim: { name }, requests: created.spec.resources?.requests, "instance-types": listText(types) },
    "created nodeclaim",
  );
}

/**
 * Creates it under a name that follows from what it is for, unless its pool is full or gone (then it throws). undefined when there is
 * one of that name already: another leader, or a request whose answer was lost, and it will arrive with the watch.
 */
export async function createNodeClaim(
  wanted: NodeClaim,
  { name, nodepool }: { readonly name: string; readonly nodepool: string },
  { caches, cluster, writes, metrics, log }: Rooms,
  signal: AbortSignal,
): Promise<NodeClaim | undefined> {
  const pool = caches.nodePools.find(nodepool);
  if (pool === undefined) throw new Error(`creating nodeclaim, nodepool "${nodepool}" not found`);
  refuseBeyondLimits(pool, cluster.poolResources(nodepool) ?? {});
  let created: NodeClaim;
  try {
    created = await writes.createNodeClaim({ ...wanted, metadata: { ...wanted.metadata, name } }, signal);
  } catch (error) {
    if (!isAlreadyExists(error)) throw error;
    log.info({ NodeClaim: { name }, NodePool: { name: nodepool } }, "nodeclaim exists already");
    return undefined;
  }
  const isRelaxed = wanted.metadata?.annotations?.[MIN_VALUES_RELAXED_ANNOTATION] === "true";
  metrics.nodeClaimsCreated.inc({ reason: "provisioned", nodepool, min_values_relaxed: String(isRelaxed) });
  return created;
}

/** S-9: what other passes created in between counts. */
function refuseBeyondLimits({ spec }: NodePool, usage: Resources): void {
  for (const [resource, limit] of Object.entries(parseResources(spec.limits))) {
    const used = usage[resource] ?? 0;
    if (used <= limit) continue;
    const text = (amount: number) => formatResources({ [resource]: amount })[resource];
    throw new Error(`resource usage exceeds limit (limit=${text(limit)}, resource-name=${resource}, usage=${text(used)})`);
  }
}

function poolNameOf({ nodePool }: PlannedNode): string {
  return nodePool.metadata?.name ?? "";
}
