import type { NodeClaim, NodePool } from "@joinery/api";
import type { PlannedNode } from "@joinery/scheduling";
import { expect, test } from "vitest";
import type { Rooms } from "../rooms.ts";
import { createNodeClaims } from "./create-node-claims.ts";

const aPool = (name: string, limits?: Record<string, string>) =>
  ({
    metadata: { name, uid: name },
    spec: { limits, template: { spec: { nodeClassRef: { group: "g", kind: "K", name: "n" }, requirements: [] } } },
  }) as NodePool;

/** Only what a creation reads. */
function roomsWith(pools: readonly NodePool[], usage: Record<string, number>): { rooms: Rooms; created: string[] } {
  const created: string[] = [];
  const createNodeClaim = async (claim: NodeClaim) => {
    created.push(claim.metadata!.name!);
    return claim;
  };
  const rooms = {
    caches: {
      nodePools: { find: (name: string) => pools.find(({ metadata }) => metadata?.name === name) },
      nodeClaims: { find: () => undefined },
    },
    cluster: { poolResources: () => usage },
    provider: {},
    writes: { createNodeClaim },
    metrics: { nodeClaimsCreated: { inc() {} } },
    assignments: { assign() {} },
    log: { info() {} },
    events: { publish() {} },
  };
  return { rooms: rooms as unknown as Rooms, created };
}

const planned = (nodePool: NodePool) => {
  const node: Partial<PlannedNode> = { nodePool, requirements: [], labels: {}, annotations: {}, taints: [], startupTaints: [] };
  return { planned: { ...node, instanceTypes: [], requests: {}, daemonSetRequests: {} } as unknown as PlannedNode, pods: [], podUids: [] };
};

const signal = new AbortController().signal;

test.each([
  { what: "more than the limit", limit: "1500m", refused: true },
  { what: "as much as the limit", limit: "2", refused: false },
])("S-9: a pool that holds $what: refused $refused", async ({ limit, refused }) => {
  const pool = aPool("a", { cpu: limit });
  const { rooms, created } = roomsWith([pool], { cpu: 2000 });
  const creating = createNodeClaims([planned(pool)], rooms, signal);
  if (refused) await expect(creating).rejects.toThrow("resource usage exceeds limit (limit=1500m, resource-name=cpu, usage=2)");
  else await creating;
  expect(created).toHaveLength(refused ? 0 : 1);
});

test("S-9: a pool that is gone by now fails its own NodeClaims only", async () => {
  const { rooms, created } = roomsWith([aPool("stays")], {});
  await expect(createNodeClaims([planned(aPool("gone")), planned(aPool("stays"))], rooms, signal)).rejects.toThrow(
    'nodepool "gone" not found',
  );
  expect(created).toEqual([expect.stringMatching(/^stays-/)]);
});
