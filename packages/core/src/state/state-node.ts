/** A Node and its NodeClaim seen as one: what each of its values is while it comes up, lives and goes. Rules L-41…L-51, S-73, V-8. */
import {
  HOSTNAME_LABEL,
  INITIALIZED_LABEL,
  isConditionTrue,
  isEphemeralTaint,
  NODE_POOL_LABEL,
  type NodeClaim,
  parseResources,
  REBOOTING_TAINT,
  REGISTERED_LABEL,
  type Resources,
  type Taint,
} from "@joinery/api";
import { isSameTaint } from "@joinery/kube";
import type { PodSite } from "@joinery/scheduling";
import type { NodeRecord } from "./node-record.ts";

export interface StateNode {
  /** Provider ID, or `node/<name>` for a Node that has none. */
  readonly key: string;
  readonly node?: NodeRecord;
  /** Present on managed nodes only. */
  readonly claim?: NodeClaim;
}

/** L-41. */
function isRegistered({ node, claim }: StateNode): boolean {
  return claim === undefined || node?.metadata.labels?.[REGISTERED_LABEL] === "true";
}

/** L-42. */
export function isInitialized({ node, claim }: StateNode): boolean {
  return claim === undefined || node?.metadata.labels?.[INITIALIZED_LABEL] === "true";
}

/** L-43: labels, annotations and name come from the NodeClaim until the Node is registered. */
function speaker(state: StateNode): NodeRecord | NodeClaim | undefined {
  if (state.node === undefined) return state.claim;
  return isRegistered(state) ? state.node : state.claim;
}

export function labelsOf(state: StateNode): Readonly<Record<string, string>> {
  return speaker(state)?.metadata?.labels ?? {};
}

export function nameOf(state: StateNode): string {
  return speaker(state)?.metadata?.name ?? "";
}

export function poolOf(state: StateNode): string | undefined {
  return labelsOf(state)[NODE_POOL_LABEL];
}

/** L-44. */
export function hostnameOf(state: StateNode): string {
  return labelsOf(state)[HOSTNAME_LABEL] || nameOf(state);
}

/** L-45, V-8: the taints that count for scheduling. */
export function taintsOf(state: StateNode): readonly Taint[] {
  const { node, claim } = state;
  const taints = (node === undefined || !isRegistered(state) ? claim?.spec.taints : node.taints) ?? [];
  if (claim === undefined) return taints;
  const isRebooting = isConditionTrue(claim, "Rebooting");
  if (isInitialized(state) && !isRebooting) return taints;
  const passing = [...(claim.spec.startupTaints ?? []), ...(isRebooting ? [REBOOTING_TAINT] : [])];
  return taints.filter((taint) => !isEphemeralTaint(taint) && !passing.some((other) => isSameTaint(other, taint)));
}

const sites = new WeakMap<StateNode, PodSite>();

/** The place as pods see it. States never change, so each is asked once: 1,000 of them are in every solve. */
export function siteOf(state: StateNode): PodSite {
  const known = sites.get(state);
  if (known !== undefined) return known;
  const site = { name: nameOf(state), labels: { ...labelsOf(state), [HOSTNAME_LABEL]: hostnameOf(state) }, taints: taintsOf(state) };
  sites.set(state, site);
  return site;
}

/** L-47, with `nodes: 1`. */
export function capacityOf(state: StateNode): Resources {
  return { ...amountsOf(state, "capacity"), nodes: 1 };
}

/** L-48. */
export function allocatableOf(state: StateNode): Resources {
  return amountsOf(state, "allocatable");
}

/** L-49. */
export function isDeleted({ node, claim }: StateNode): boolean {
  if (claim === undefined) return node?.metadata.deletionTimestamp !== undefined;
  return claim.metadata?.deletionTimestamp !== undefined || isConditionTrue(claim, "InstanceTerminating");
}

function amountsOf(state: StateNode, field: "capacity" | "allocatable"): Resources {
  const { node, claim } = state;
  if (node !== undefined && isInitialized(state)) return node[field];
  const promised = parseResources(claim?.status?.[field]);
  if (node === undefined) return promised;
  const amounts: Record<string, number> = { ...node[field] };
  for (const name in promised) if (!amounts[name]) amounts[name] = promised[name]!;
  return amounts;
}
