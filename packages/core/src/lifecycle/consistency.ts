/** Is a node what its NodeClaim promised? Looked at when either changes, at most every ten minutes. Rules L-173…L-175. */
import { formatAmount, type NodeClaim, parseResources } from "@joinery/api";
import type { Rooms } from "../rooms.ts";
import { workersFor } from "../runtime/concurrency.ts";
import { createLoop, type Loop } from "../runtime/loop.ts";
import { changesOf } from "../runtime/source.ts";
import { again, asleep, type Reconciler } from "../runtime/step.ts";
import { claimCondition, setClaimCondition } from "../state/conditions.ts";
import { isManaged } from "../state/managed.ts";
import type { NodeRecord } from "../state/node-record.ts";
import { failedConsistencyCheck } from "./events.ts";
import { claimsOf, nodesOf } from "./nodes-of.ts";

/** L-173. */
const PERIOD_MS = 10 * 60_000;
/** L-174: less than this part of what was promised is worth telling. */
const PART_MIN = 0.9;

function createConsistency(rooms: Rooms): { readonly reconciler: Reconciler<NodeClaim>; readonly forget: (name: string) => void } {
  const { caches, clock, provider, writes, events, log } = rooms;
  const looks = new Map<string, { readonly uid: string; readonly atMs: number }>();

  /** How long the NodeClaim may still rest; 0 takes its turn. */
  function turn({ metadata }: NodeClaim): number {
    const { name = "", uid = "" } = metadata ?? {};
    const last = looks.get(name);
    const nowMs = clock.monotonicMs();
    if (last?.uid === uid && last.atMs + PERIOD_MS > nowMs) return last.atMs + PERIOD_MS - nowMs;
    looks.set(name, { uid, atMs: nowMs });
    return 0;
  }

  return {
    forget: (name) => void looks.delete(name),
    reconciler: {
      async reconcile(claim, signal) {
        if (!isManaged(claim.spec.nodeClassRef, provider.nodeClassKinds) || !claim.status?.providerID) return asleep;
        const waitMs = turn(claim);
        if (waitMs > 0) return again(waitMs);
        const [node, ...others] = nodesOf(claim, caches);
        if (node === undefined || others.length > 0) return asleep;
        const issues = shapeIssues(claim, node);
        for (const issue of issues) {
          log.info({ NodeClaim: { name: claim.metadata?.name }, Node: { name: node.metadata.name }, issue }, "failed consistency check");
          events.publish(failedConsistencyCheck(claim, issue));
        }
        const type = "ConsistentStateFound";
        const wished =
          issues.length === 0
            ? ({ type, status: "True" } as const)
            : ({ type, status: "False", reason: "ConsistencyCheckFailed", message: "Consistency Check Failed" } as const);
        await writes.saveNodeClaim(claim, setClaimCondition(claim, wished, clock.wallMs()), signal);
        return issues.length === 0 ? asleep : again(PERIOD_MS);
      },
    },
  };
}

/** L-174: what was asked for and is not there as promised. */
export function shapeIssues(claim: NodeClaim, node: NodeRecord): readonly string[] {
  if (claim.metadata?.deletionTimestamp !== undefined || claimCondition(claim, "Initialized").status !== "True") return [];
  const promised = parseResources(claim.status?.capacity);
  return Object.entries(parseResources(claim.spec.resources?.requests)).flatMap(([resource, request]) => {
    const expected = promised[resource] ?? 0;
    const found = node.capacity[resource] ?? 0;
    if (request === 0 || expected === 0 || found / expected >= PART_MIN) return [];
    const text = (amount: number) => formatAmount(resource, amount);
    const percentage = ((100 * found) / expected).toFixed(1);
    return [`expected ${text(expected)} of resource ${resource}, but found ${text(found)} (${percentage}% of expected)`];
  });
}

/** The loop of `nodeclaim.consistency`. */
export function createConsistencyLoop(rooms: Rooms): Loop {
  const { caches, writes, options } = rooms;
  const { reconciler, forget } = createConsistency(rooms);
  return createLoop(
    {
      name: "nodeclaim.consistency",
      find: caches.nodeClaims.find,
      reconciler,
      gone: forget,
      sources: [
        changesOf(caches.nodeClaims, undefined, writes.isOwn),
        changesOf(caches.nodes, (node) => claimsOf(node, caches).map(({ metadata }) => metadata?.name ?? "")),
      ],
      workers: workersFor({ min: 10, max: 1000 }, options.cpuRequestsMillicores),
    },
    rooms,
  );
}
