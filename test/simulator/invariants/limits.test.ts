/** What takes a pool beyond its limit is told; what may not be known yet is not. */
import type { Node, NodeClaim, NodePool } from "@joinery/api";
import { createVirtualClock } from "@joinery/kube";
import { expect, test } from "vitest";
import type { Truth } from "../truth.ts";
import { createLimits } from "./limits.ts";

const MINUTE_MS = 60_000;

interface Wish {
  readonly limits: Readonly<Record<string, string>>;
  readonly isStatic?: boolean;
  readonly claims: number;
  readonly leaving?: number;
  /** What the Nodes have, where it is not what their NodeClaims promised. */
  readonly nodeMemory?: string;
  /** Whether the pool had no limit until so many minutes ago. */
  readonly limitedForMinutes?: number;
}

async function judged({ limits, isStatic, claims, leaving = 0, nodeMemory, limitedForMinutes }: Wish): Promise<() => void> {
  const clock = createVirtualClock({ startMs: Date.parse("2026-12-01T00:00:00Z") });
  const pool = (spec: object) => ({ metadata: { name: "p" }, spec: { ...spec, ...(isStatic && { replicas: 9 }) } }) as NodePool;
  const made = Array.from({ length: claims }, (_, n) => ({
    metadata: {
      name: `c${n}`,
      labels: { "karpenter.sh/nodepool": "p" },
      creationTimestamp: "2026-12-01T01:00:00Z",
      ...(n < leaving && { deletionTimestamp: "2026-12-01T01:00:00Z" }),
    },
    status: { providerID: `i${n}`, capacity: { cpu: "4", memory: "8Gi" } },
  })) as unknown as NodeClaim[];
  const nodes = nodeMemory === undefined ? [] : made.map(({ status }) => nodeOf(status!.providerID!, nodeMemory));
  const truth = { claims: () => made, nodes: () => nodes, pools: () => [pool({ limits })] } as unknown as Truth;
  const watched = createLimits(truth, clock);
  if (limitedForMinutes !== undefined) watched.poolChanged(pool({}));
  await clock.advance(60 * MINUTE_MS - (limitedForMinutes ?? 60) * MINUTE_MS);
  watched.poolChanged(pool({ limits }));
  await clock.advance((limitedForMinutes ?? 60) * MINUTE_MS);
  return () => (isStatic ? watched.created : watched.launched)(made.at(-1)!);
}

const nodeOf = (providerID: string, memory: string) =>
  ({ spec: { providerID }, status: { capacity: { cpu: "4", memory } } }) as unknown as Node;

test.each<{ rule: string; wish: Wish; told?: string }>([
  { rule: "S-161: just enough", wish: { limits: { cpu: "8", memory: "16Gi", nodes: "2" }, claims: 2 } },
  { rule: "S-161: CPU", wish: { limits: { cpu: "8" }, claims: 3 }, told: "NodePool p has 12000 of 8000 cpu since NodeClaim c2" },
  { rule: "S-161: memory", wish: { limits: { memory: "15Gi" }, claims: 2 }, told: "of 16106127360 memory" },
  { rule: "S-163: nodes", wish: { limits: { nodes: "2" }, claims: 3 }, told: "3 of 2 nodes" },
  { rule: "S-160: what goes does not count", wish: { limits: { nodes: "2", cpu: "8" }, claims: 3, leaving: 1 } },
  { rule: "S-160: what its Nodes have counts, if less", wish: { limits: { memory: "15Gi" }, claims: 2, nodeMemory: "7Gi" } },
  { rule: "a limit that may not be known yet", wish: { limits: { cpu: "4" }, claims: 2, limitedForMinutes: 10 } },
  { rule: "a limit that must be known", wish: { limits: { cpu: "4" }, claims: 2, limitedForMinutes: 12 }, told: "8000 of 4000 cpu" },
  { rule: "L-198: a static pool", wish: { limits: { nodes: "2" }, isStatic: true, claims: 2 } },
  {
    rule: "L-195: what goes counts in a static pool",
    wish: { limits: { nodes: "2" }, isStatic: true, claims: 3, leaving: 1 },
    told: "3 nodes of 2",
  },
])("$rule", async ({ wish, told }) => {
  const judge = await judged(wish);
  if (told === undefined) expect(judge).not.toThrow();
  else expect(judge).toThrow(told);
});
