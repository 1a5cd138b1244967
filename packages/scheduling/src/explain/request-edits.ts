/** Edits of what a pod asks of a node's resources: a name or a unit that was mistyped, an amount that is too large. Rules S-47, S-101. */
import { intersection } from "../catalog/type-set.ts";
import type { InstanceType } from "../instance-type.ts";
import { remembered } from "../memo.ts";
import type { PodShape } from "../problem.ts";
import type { ResourceAxis } from "../solve/resource-axis.ts";
import type { AskedPool } from "./candidate-edits.ts";
import type { PodEdit } from "./edit.ts";
import { withRoom } from "./funnel.ts";
import { nearWord } from "./near-word.ts";

type LowerRequest = Extract<PodEdit, { kind: "lower-request" }>;

const MEBIBYTE = 1024 * 1024;
/** A cut that leaves so much of a request asks less of people than another NodePool would. */
const SLIGHT_CUT_MIN = 0.8;
/** `cpu: 1000` where `1000m` was meant; who asks for fewer cores may mean them. */
const MILLI = 1000;
const CORES_MEANT_MAX = 99;

/** Resources that no instance type has, and cores that were meant to be millicores. */
export function requestCorrections(pools: readonly AskedPool[], { requests }: PodShape): PodEdit[] {
  const sold = new Map<string, number>();
  for (const { template } of pools)
    for (const [resource, most] of mostSold(template.catalog.types)) sold.set(resource, Math.max(most, sold.get(resource) ?? 0));
  const renamed = Object.keys(requests).flatMap((resource): PodEdit[] => {
    const to = sold.has(resource) ? undefined : nearWord(resource, sold.keys());
    return to === undefined || requests[to] !== undefined ? [] : [{ kind: "rename-resource", from: resource, to }];
  });
  const { cpu = 0 } = requests;
  const to = cpu / MILLI;
  const isMilli = to > CORES_MEANT_MAX && cpu > (sold.get("cpu") ?? Number.POSITIVE_INFINITY) && Number.isInteger(to);
  return isMilli ? [...renamed, { kind: "lower-request", resource: "cpu", from: cpu, to }] : renamed;
}

const sales = new WeakMap<readonly InstanceType[], ReadonlyMap<string, number>>();

/** By resource, the most that a type has. */
function mostSold(types: readonly InstanceType[]): ReadonlyMap<string, number> {
  return remembered(sales, types, () => {
    const most = new Map<string, number>();
    for (const { capacity } of types)
      for (const [resource, amount] of Object.entries(capacity)) if (amount > (most.get(resource) ?? 0)) most.set(resource, amount);
    return most;
  });
}

/** To the largest amount that some type has left beside everything else that the pod asks for; the least cut first. */
export function lowerRequests(pools: readonly AskedPool[], axis: ResourceAxis, shape: PodShape): LowerRequest[] {
  const requests = axis.rowOf(shape.requests);
  const cuts = axis.names.flatMap((resource, position): LowerRequest[] => {
    if (resource === "pods" || requests[position] === 0) return [];
    const most = Math.max(...pools.map((pool) => mostFor(pool, position, requests)));
    const to = resource === "memory" || resource === "ephemeral-storage" ? Math.floor(most / MEBIBYTE) * MEBIBYTE : Math.floor(most);
    return to > 0 && to < requests[position]! ? [{ kind: "lower-request", resource, from: requests[position]!, to }] : [];
  });
  return cuts.sort((one, other) => one.from / one.to - other.from / other.to);
}

export function isSlight({ from, to }: LowerRequest): boolean {
  return to >= SLIGHT_CUT_MIN * from;
}

function mostFor({ template, answer: { compatible } }: AskedPool, position: number, requests: Float64Array): number {
  const { catalog, root, limits, room } = template;
  const among = intersection(withRoom(template, compatible, requests, position), catalog.offeringAny(root.kinds));
  const allowed = limits === undefined ? among : intersection(among, limits.allowed());
  return room[position]!.greatestIn(allowed);
}
