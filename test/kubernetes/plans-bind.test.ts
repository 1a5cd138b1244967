/**
 * The real kube-scheduler binds what the solver plans: random problems of all features become nodes, pods and volumes, and every planned
 * pod, which asks for a resource that only its planned node has, is bound there. Pods come in an order in which the reference checker's own
 * kube-scheduler binds all of them, one after the other, so that nothing but the real one's verdicts is in question.
 */
import {
  CsiNodes,
  type Kind,
  type KubeObject,
  Namespaces,
  type Node,
  Nodes,
  PersistentVolumeClaims,
  PersistentVolumes,
  Pods,
} from "@joinery/api";
import type { KubeClient } from "@joinery/kube";
import { type Problem, solve } from "@joinery/scheduling";
import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { roomyProblem } from "../../packages/scheduling/src/testing/random-problems.ts";
import { strictOrder } from "../reference/binding.ts";
import { type Newcomer, type World, worldsOf } from "../reference/worlds.ts";
import { clock, connect, eventually } from "./cluster.ts";
import { type PlannedCluster, plannedCluster } from "./planned-cluster.ts";

/** As many problems as asked for, or as many as the time allows. */
const asked = Number(process.env.JOINERY_TEST_PROBLEMS ?? "0");
const BUDGET_MS = 45_000;
const seed = Number(process.env.JOINERY_TEST_SEED ?? Math.floor(clock.wallMs() / 1000) % 2 ** 31);

interface Case {
  readonly problem: Problem;
  readonly world: World;
  readonly order: readonly Newcomer[];
}

let client: KubeClient;
const figures = { problems: 0, leftOut: 0, nodes: 0, pods: 0 };

beforeAll(async () => {
  client = await connect();
});

afterAll(() => {
  const { problems, leftOut, nodes, pods } = figures;
  console.log(
    `random: ${problems} plans on the real kube-scheduler, ${nodes} nodes, ${pods} pods bound as planned, ${leftOut} plans left out, seed ${seed}`,
  );
});

test("every planned pod is bound to its planned node", { timeout: 3_600_000 }, async () => {
  const deadline = clock.monotonicMs() + BUDGET_MS;
  const count = asked > 0 ? asked : 40;
  for (const [index, problem] of fc.sample(roomyProblem, { numRuns: 4 * count, seed }).entries()) {
    if (figures.problems === count || (asked === 0 && clock.monotonicMs() > deadline)) break;
    const planned = caseOf(problem);
    if (planned === undefined) figures.leftOut++;
    else if (planned.order.length > 0) await bindAsPlanned(`b${index}`, planned);
  }
  expect(figures.problems).toBeGreaterThan(0);
});

/** undefined where a rule asks for what kube-scheduler refuses (test/reference/known-refusals.ts). */
function caseOf(problem: Problem): Case | undefined {
  const [world] = worldsOf(solve(problem), problem);
  const order = world && strictOrder(world, problem);
  return order && { problem, world, order };
}

async function bindAsPlanned(prefix: string, { problem, world, order }: Case): Promise<void> {
  const cluster = plannedCluster(prefix, world, problem);
  await createCluster(cluster);
  for (const newcomer of order) {
    const pod = cluster.podOf(newcomer);
    await client.create(Pods, pod);
    await bound(pod.metadata as { name: string; namespace: string }, cluster.nodeNameOf(newcomer), `seed ${seed}, problem ${prefix}`);
  }
  await deleteCluster(cluster);
  figures.problems++;
  figures.nodes += cluster.nodes.length;
  figures.pods += order.length;
}

async function bound(key: { readonly name: string; readonly namespace: string }, node: string, where: string): Promise<void> {
  await eventually(
    `${key.name} to be bound to ${node} (${where})`,
    30_000,
    async () => {
      const { spec, status } = await client.get(Pods, key);
      if (spec.nodeName !== undefined) {
        expect(spec.nodeName, where).toBe(node);
        return true;
      }
      return status?.conditions?.find(({ type }) => type === "PodScheduled")?.message ?? false;
    },
    20,
  );
}

async function createCluster({ namespaces, nodes, csiNodes, volumes, claims, boundPods }: PlannedCluster): Promise<void> {
  await createAll(Namespaces, namespaces);
  await createAll(PersistentVolumes, volumes);
  await Promise.all([createAll(Nodes, nodes), createAll(CsiNodes, csiNodes), createAll(PersistentVolumeClaims, claims)]);
  await Promise.all([...nodes.map(isReady), ...claims.map(isBound)]);
  await createAll(Pods, boundPods);
}

async function createAll<T extends KubeObject>(kind: Kind<T>, objects: readonly T[]): Promise<void> {
  await Promise.all(objects.map((object) => client.create(kind, object)));
}

/** The node controller has seen that it is ready, and taken its taint away. */
function isReady({ metadata, spec }: Node): Promise<void> {
  return eventually(`node ${metadata?.name} to be ready`, 30_000, async () => {
    const { spec: now } = await client.get(Nodes, { name: metadata?.name ?? "" });
    return (now?.taints?.length ?? 0) === (spec?.taints?.length ?? 0) || JSON.stringify(now?.taints);
  });
}

function isBound({ metadata }: KubeObject): Promise<void> {
  const key = { name: metadata?.name ?? "", namespace: metadata?.namespace ?? "" };
  return eventually(
    `claim ${key.name} to be bound`,
    30_000,
    async () => (await client.get(PersistentVolumeClaims, key)).status?.phase === "Bound",
  );
}

/** Pods and nodes are gone when this returns; what else there is goes in its own time and is in nobody's way. */
async function deleteCluster({ namespaces, nodes, csiNodes, volumes }: PlannedCluster): Promise<void> {
  for (const { metadata } of namespaces) {
    const { items } = await client.list(Pods, { namespace: metadata?.name ?? "" });
    await Promise.all(
      items.map(({ metadata: pod }) => client.delete(Pods, pod as { name: string; namespace: string }, { gracePeriodSeconds: 0 })),
    );
  }
  await Promise.all([
    ...nodes.map((node) => client.delete(Nodes, { name: node.metadata?.name ?? "" })),
    ...csiNodes.map((node) => client.delete(CsiNodes, { name: node.metadata?.name ?? "" })),
    ...volumes.map((volume) => client.delete(PersistentVolumes, { name: volume.metadata?.name ?? "" })),
    ...namespaces.map((namespace) => client.delete(Namespaces, { name: namespace.metadata?.name ?? "" })),
  ]);
  await eventually("pods to be gone", 30_000, async () => {
    const left = await Promise.all(namespaces.map((namespace) => client.list(Pods, { namespace: namespace.metadata?.name ?? "" })));
    return left.every(({ items }) => items.length === 0);
  });
}
