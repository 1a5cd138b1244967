/** A registered Node becomes usable. There is no time limit (L-102). Rules L-102…L-105, V-7. */
import { INITIALIZED_LABEL, isEphemeralTaint, type NodeClaim, parseResources } from "@joinery/api";
import { isSameTaint } from "@joinery/kube";
import { taintText } from "@joinery/scheduling";
import type { Rooms } from "../rooms.ts";
import { claimCondition, setClaimCondition } from "../state/conditions.ts";
import type { NodeRecord } from "../state/node-record.ts";
import { missingDraDriver } from "./dra-drivers.ts";
import { nodesOf } from "./nodes-of.ts";
import { done, type PhaseResult } from "./phase.ts";

interface Missing {
  readonly reason: string;
  readonly message: string;
}

export async function initialize(claim: NodeClaim, rooms: Rooms, signal: AbortSignal): Promise<PhaseResult> {
  const { clock, caches, writes } = rooms;
  const condition = claimCondition(claim, "Initialized");
  if (condition.status !== "Unknown") return done(setClaimCondition(claim, condition, clock.wallMs()));
  if (claimCondition(claim, "Rebooting").status === "True") return done(claim);
  if (claimCondition(claim, "Registered").status !== "True") return done(claim);
  const nodes = nodesOf(claim, caches);
  const node = nodes[0];
  const missing = node === undefined || nodes.length > 1 ? NODE_NOT_FOUND : (missingOn(node, claim) ?? missingDriver(node, claim, rooms));
  if (missing !== undefined) return done(setClaimCondition(claim, { type: "Initialized", status: "Unknown", ...missing }, clock.wallMs()));
  if (node!.metadata.labels?.[INITIALIZED_LABEL] !== "true") {
    await writes.patchNode(node!, { metadata: { labels: { [INITIALIZED_LABEL]: "true" } } }, signal);
  }
  return done(setClaimCondition(claim, { type: "Initialized", status: "True" }, clock.wallMs()));
}

const NODE_NOT_FOUND: Missing = { reason: "NodeNotFound", message: "Node not registered with cluster" };

/** The first of the checks of L-102 that fails. */
function missingOn({ ready, taints, allocatable }: NodeRecord, { spec }: NodeClaim): Missing | undefined {
  if (ready !== "True") return { reason: "NodeNotReady", message: "Node status is NotReady" };
  const startup = taints.find((taint) => spec.startupTaints?.some((other) => isSameTaint(other, taint)));
  if (startup !== undefined) return { reason: "StartupTaintsExist", message: `StartupTaint "${taintText(startup)}" still exists` };
  const ephemeral = taints.find(isEphemeralTaint);
  if (ephemeral !== undefined) {
    return { reason: "KnownEphemeralTaintsExist", message: `KnownEphemeralTaint "${taintText(ephemeral)}" still exists` };
  }
  for (const [resource, amount] of Object.entries(parseResources(spec.resources?.requests))) {
    if (amount !== 0 && !allocatable[resource]) {
      return { reason: "ResourceNotRegistered", message: `Resource "${resource}" was requested but not registered` };
    }
  }
  return undefined;
}

function missingDriver({ metadata }: NodeRecord, claim: NodeClaim, { caches, options }: Rooms): Missing | undefined {
  if (options.isDraIgnored) return undefined;
  const driver = missingDraDriver(claim, caches.resourceSlices.by("node", metadata.name));
  if (driver === undefined) return undefined;
  return { reason: "DRADriverPoolsNotPublished", message: `DRA driver "${driver}" has not published a complete resource pool` };
}
