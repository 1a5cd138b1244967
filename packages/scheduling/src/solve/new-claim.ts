/** Nodes that could be opened for a pod. */
import type { TypeSet } from "../catalog/type-set.ts";
import type { HostPort } from "../problem.ts";
import type { TopologyDemand } from "../topology/topology.ts";
import type { Attachments } from "../volumes/volume-demand.ts";
import type { Candidate } from "./claim-gate.ts";
import type { ClaimState } from "./claim-state.ts";
import type { Charge, PoolLimits } from "./pool-limits.ts";
import { variantsWithRoom } from "./room.ts";
import type { Template } from "./template.ts";

export const NO_PORTS: readonly HostPort[] = [];
export const NO_ATTACHMENTS: Attachments = new Map();
export const NO_RESERVATIONS: ReadonlySet<string> = new Set();

/** A node that could be opened: nothing is on it yet. */
export function newCandidate(template: Template, allowed: TypeSet | undefined): Candidate {
  return { template, allowed, hostPorts: NO_PORTS, attachments: NO_ATTACHMENTS, held: NO_RESERVATIONS, uncounted: undefined };
}

/** What a new claim counts for that could become any type with room; worked out once for equal pods and states. */
export function chargeOf(
  template: Template,
  limits: PoolLimits,
  state: ClaimState,
  allowed: TypeSet | undefined,
  requests: Float64Array,
): Charge {
  const known = limits.knownCharge(state, allowed, requests);
  if (known !== undefined) return known;
  const charge = limits.chargeOf(variantsWithRoom(state, template, allowed, requests));
  limits.rememberCharge(state, allowed, requests, charge);
  return charge;
}

export function allowsNewHost({ hosts }: TopologyDemand): boolean {
  for (let index = 0; index < hosts.length; index++) if (!hosts[index]!.group.allowsNewClaim(hosts[index]!.isCounted)) return false;
  return true;
}
