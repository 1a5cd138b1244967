/** What the next solve meets when a plan has been carried out: planned nodes run as their cheapest type, placed pods are bound. */
import {
  CAPACITY_TYPE_LABEL,
  HOSTNAME_LABEL,
  INSTANCE_TYPE_LABEL,
  type Resources,
  subtractResources,
  sumResources,
  ZONE_LABEL,
} from "@joinery/api";
import { allocatableOf } from "../catalog/allocatable.ts";
import type { InstanceType } from "../instance-type.ts";
import type { Plan, PlannedNode } from "../plan.ts";
import type { BoundPods, ExistingNode, PodToPlace, Problem } from "../problem.ts";
import { decidedLabels } from "../requirements/items.ts";
import { solve } from "../solve/solve.ts";

const RESERVATION_ID = "karpenter.k8s.aws/capacity-reservation-id";

/** The same cluster after the plan; pods without a place wait for the next one. */
export function afterwards(problem: Problem, plan: Plan): Problem {
  const podOf = new Map(problem.pods.map((pod) => [pod.key, pod]));
  const podsOf = (keys: readonly string[]) => keys.map((key) => podOf.get(key)!);
  const launched = plan.newNodes.map((node, at) => ({ node: runningNode(node, `n${problem.nodes.length + at}`), pods: podsOf(node.pods) }));
  const grown = problem.nodes.map((node) => ({
    node,
    pods: podsOf(plan.existingNodes.find(({ name }) => name === node.name)?.pods ?? []),
  }));
  const all = [...grown, ...launched];
  return {
    ...problem,
    pods: plan.unschedulable.map(({ pod }) => podOf.get(pod)!),
    nodes: all.map(({ node, pods }) => ({ ...node, available: subtractResources(node.available, sumOfRequests(pods)) })),
    boundPods: [...(problem.boundPods ?? []), ...all.flatMap(({ node, pods }) => pods.map((pod) => boundTo(node, pod)))],
    pools: problem.pools.map((pool) => ({ ...pool, instanceTypes: withSlotsTaken(pool.instanceTypes, plan.newNodes) })),
  };
}

/** The plans of as many solves, one after the other. */
export function plansOf(problem: Problem, solves: number): readonly Plan[] {
  const plans: Plan[] = [];
  let next = problem;
  for (let n = 0; n < solves; n++) {
    const plan = solve(next);
    plans.push(plan);
    next = afterwards(next, plan);
  }
  return plans;
}

function runningNode({ cheapest, labels, taints, instanceTypes }: PlannedNode, name: string): ExistingNode {
  const type = instanceTypes[0]!;
  const available: Resources = allocatableOf(type);
  return {
    name,
    labels: {
      ...decidedLabels(type.requirements),
      ...labels,
      [INSTANCE_TYPE_LABEL]: cheapest.instanceType,
      [ZONE_LABEL]: cheapest.zone,
      [CAPACITY_TYPE_LABEL]: cheapest.capacityType,
      [HOSTNAME_LABEL]: name,
    },
    taints,
    capacity: type.capacity,
    available,
    daemonSetRequests: {},
    isInitialized: true,
  };
}

function boundTo({ name, labels, taints }: ExistingNode, { shape }: PodToPlace): BoundPods {
  return { shape, site: { name, labels, taints }, count: 1, endingCount: 0 };
}

/** A node of capacity type `reserved` has taken a slot of the reservation that its type is in. */
function withSlotsTaken(types: readonly InstanceType[], nodes: readonly PlannedNode[]): readonly InstanceType[] {
  const taken = new Map<string, number>();
  for (const { cheapest, instanceTypes, requirements } of nodes) {
    if (cheapest.capacityType !== "reserved") continue;
    const held = requirements.find(({ key }) => key === RESERVATION_ID)?.values ?? [];
    const ids = instanceTypes[0]!.offerings.flatMap((offering) => decidedLabels(offering.requirements)[RESERVATION_ID] ?? []);
    const id = ids.find((one) => held.includes(one));
    if (id !== undefined) taken.set(id, (taken.get(id) ?? 0) + 1);
  }
  if (taken.size === 0) return types;
  return types.map((type) => ({
    ...type,
    offerings: type.offerings.map((offering) => {
      const count = taken.get(decidedLabels(offering.requirements)[RESERVATION_ID] ?? "") ?? 0;
      const { reservationCapacity: slots } = offering;
      return count === 0 || slots === undefined ? offering : { ...offering, reservationCapacity: Math.max(0, slots - count) };
    }),
  }));
}

function sumOfRequests(pods: readonly PodToPlace[]): Resources {
  return sumResources(...pods.map(({ shape }) => shape.requests));
}
