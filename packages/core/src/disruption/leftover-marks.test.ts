import type { Node } from "@joinery/api";
import { expect, test } from "vitest";
import { createWorldWithNode, NODE_CLAIMS, NODES, type World } from "../testing/world.ts";

const MINUTE_MS = 60_000;
const DISRUPTED = { key: "karpenter.sh/disrupted", effect: "NoSchedule" } as const;
const FOREIGN = { key: "team", value: "a", effect: "NoSchedule" } as const;

interface Mark {
  readonly taint?: boolean;
  readonly condition?: string;
  readonly rebooting?: boolean;
  readonly isNodeLeaving?: boolean;
  readonly isClaimLeaving?: boolean;
}

/** A node that a process which is gone had chosen, and what the next one makes of it. */
async function found({ taint, condition, rebooting, isNodeLeaving, isClaimLeaving }: Mark) {
  const { world, node, kill } = await createWorldWithNode();
  await kill();
  const [claim] = world.claims();
  const deletionTimestamp = new Date(world.clock.wallMs()).toISOString();
  const hold = { deletionTimestamp, finalizers: ["karpenter.sh/termination", "example.com/hold"] };
  world.api.put("/api/v1/namespaces/default/pods/a", { metadata: { annotations: { "karpenter.sh/do-not-disrupt": "true" } } });
  world.api.put(`${NODES}/${node}`, {
    ...(isNodeLeaving && { metadata: hold }),
    spec: { taints: [FOREIGN, ...(taint ? [DISRUPTED] : [])] },
  });
  const lastTransitionTime = deletionTimestamp;
  const added = [
    ...(condition ? [{ type: "DisruptionReason", status: "True", reason: condition, message: "", lastTransitionTime }] : []),
    ...(rebooting ? [{ type: "Rebooting", status: "True", reason: "RebootRequested", message: "", lastTransitionTime }] : []),
  ];
  world.api.put(`${NODE_CLAIMS}/${claim!.metadata!.name}`, {
    ...(isClaimLeaving && { metadata: hold }),
    status: { ...claim!.status, conditions: [...claim!.status!.conditions!, ...added] },
  });
  return { world, node };
}

const left = (world: World, node: string) => ({
  taints: (world.api.find<Node>(`${NODES}/${node}`)?.spec?.taints ?? []).map(({ key }) => key),
  hasReason: world.claims()[0]!.status!.conditions!.some(({ type }) => type === "DisruptionReason"),
});

test.each<{ what: string; mark: Mark; taints: readonly string[]; hasReason: boolean }>([
  { what: "both", mark: { taint: true, condition: "Underutilized" }, taints: ["team"], hasReason: false },
  { what: "the taint alone", mark: { taint: true }, taints: ["team"], hasReason: false },
  { what: "the condition alone", mark: { condition: "Drifted" }, taints: ["team"], hasReason: false },
  { what: "nothing", mark: {}, taints: ["team"], hasReason: false },
  {
    what: "both of a Node that goes",
    mark: { taint: true, condition: "Drifted", isNodeLeaving: true },
    taints: ["team", "karpenter.sh/disrupted"],
    hasReason: true,
  },
  {
    what: "both of a NodeClaim that goes",
    mark: { taint: true, condition: "Drifted", isClaimLeaving: true },
    taints: ["team", "karpenter.sh/disrupted"],
    hasReason: true,
  },
  {
    what: "both of a node that reboots (V-31)",
    mark: { taint: true, condition: "Unhealthy", rebooting: true },
    taints: ["team", "karpenter.sh/disrupted"],
    hasReason: true,
  },
])("L-68, L-69, O-280: a new leader finds $what", async ({ mark, taints, hasReason }) => {
  const { world, node } = await found(mark);
  world.start();
  await world.clock.advance(MINUTE_MS);
  expect(left(world, node)).toEqual({ taints, hasReason });
});

test.each([409, 500])("L-68: what is refused with %i is tried again, onto the version that is there then", async (status) => {
  const { world, node } = await found({ taint: true, condition: "Empty" });
  let refusals = 0;
  world.api.faults.before = ({ method, path, body }) => {
    if (method !== "PATCH" || !path.startsWith(`${NODES}/`)) return undefined;
    expect((body as Node).metadata?.resourceVersion).toMatch(/^\d+$/);
    if (++refusals > 3) return undefined;
    world.api.put(`${NODES}/${node}`, { metadata: { labels: { changed: String(refusals) } } });
    return { status, body: { code: status, reason: "No", message: "no" } };
  };
  world.start();
  await world.clock.advance(MINUTE_MS);
  expect(refusals).toBeGreaterThan(3);
  expect(left(world, node)).toEqual({ taints: ["team"], hasReason: false });
  expect(world.api.find<Node>(`${NODES}/${node}`)?.metadata?.labels?.changed).toBe("3");
});

test("L-68: what is marked later is not this loop's", async () => {
  const { world, node } = await createWorldWithNode();
  world.api.put(`${NODES}/${node}`, { spec: { taints: [DISRUPTED] } });
  await world.clock.advance(10 * MINUTE_MS);
  expect(left(world, node).taints).toEqual(["karpenter.sh/disrupted"]);
});
