/** Instances of ours that no NodeClaim knows: the remains of a crash between a launch and the writing of its result. L-170, L-171, W-740. */
import { type NodeClaim, NodeClaims } from "@joinery/api";
import type { ListedInstance } from "../cloud-provider.ts";
import type { Rooms } from "../rooms.ts";
import { messageOf } from "../runtime/answers.ts";
import { createLoop, type Loop } from "../runtime/loop.ts";
import { once, SINGLETON } from "../runtime/source.ts";
import { again, type Step } from "../runtime/step.ts";
import { isManaged } from "../state/managed.ts";

/** W-740: after a start, when a predecessor may have crashed, looks are frequent; then rare. */
const FIRST_PERIOD_MS = 10_000;
const FIRST_PASSES = 20;
const PERIOD_MS = 120_000;
/** L-170: an instance may be that much older than the writing of its NodeClaim's status. */
const GRACE_MS = 30_000;

export function createInstanceCollector(rooms: Rooms): Loop {
  let passes = 0;
  return createLoop(
    {
      name: "instance.garbagecollection",
      find: (key) => (key === SINGLETON ? rooms : undefined),
      reconciler: {
        async reconcile(_, signal): Promise<Step> {
          await collect(rooms, signal);
          passes++;
          return again(passes < FIRST_PASSES ? FIRST_PERIOD_MS : PERIOD_MS);
        },
      },
      sources: [once],
      workers: 1,
    },
    rooms,
  );
}

/** The cloud is listed first and the NodeClaims afterwards, from the API server itself, so that no launch in between looks like a leak. */
async function collect(rooms: Rooms, signal: AbortSignal): Promise<void> {
  const { provider, clock, kube } = rooms;
  const instances = await provider.list(signal);
  const suspects = instances.filter((instance) => !instance.isTerminating && isOldEnough(instance, clock.wallMs()));
  if (suspects.every(({ providerId }) => hasClaim(providerId, rooms))) return;
  const claims: NodeClaim[] = [];
  for await (const claim of kube.listAll(NodeClaims, {}, signal)) {
    if (isManaged(claim.spec.nodeClassRef, provider.nodeClassKinds)) claims.push(claim);
  }
  const leaked = suspects.filter((instance) => isLeaked(instance, claims));
  const outcomes = await Promise.allSettled(leaked.map((instance) => remove(instance, rooms, signal)));
  const errors = outcomes.flatMap((outcome) => (outcome.status === "rejected" ? [outcome.reason] : []));
  if (errors.length > 0) throw new AggregateError(errors, errors.map(messageOf).join("; "));
}

/**
 * A NodeClaim that has not learned its instance yet (the leader died after the launch) may own any instance that carries its name, or
 * no name at all. Such an instance is not leaked: the launch will be repeated with the same token and find it.
 */
export function isLeaked({ providerId, nodeClaimName }: ListedInstance, claims: readonly NodeClaim[]): boolean {
  return !claims.some(({ metadata, status }) => {
    if (status?.providerID) return status.providerID === providerId;
    return nodeClaimName === undefined || nodeClaimName === metadata?.name;
  });
}

function isOldEnough({ createdAtMs }: ListedInstance, nowMs: number): boolean {
  return createdAtMs !== undefined && nowMs - createdAtMs > GRACE_MS;
}

function hasClaim(providerId: string, { caches }: Rooms): boolean {
  for (const _ of caches.nodeClaims.by("providerId", providerId)) return true;
  return false;
}

async function remove(instance: ListedInstance, { provider, writes, caches, log }: Rooms, signal: AbortSignal): Promise<void> {
  const { providerId, labels } = instance;
  const outcome = await provider.terminate(claimFor(instance, provider.nodeClassKinds[0]), signal);
  if (outcome === "accepted") log.info({ "provider-id": providerId, labels }, "garbage collected cloudprovider instance");
  for (const node of caches.nodes.by("providerId", providerId)) await writes.deleteNode(node, signal);
}

/** Just enough of a NodeClaim for the provider to know which instance is meant. */
function claimFor({ providerId, labels }: ListedInstance, kind: { readonly group: string; readonly kind: string } | undefined): NodeClaim {
  const nodeClassRef = { group: kind?.group ?? "", kind: kind?.kind ?? "", name: "" };
  return { metadata: { labels }, spec: { nodeClassRef, requirements: [] }, status: { providerID: providerId } };
}
