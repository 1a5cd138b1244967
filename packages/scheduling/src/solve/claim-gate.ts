/**
 * What a claim has to be asked beside labels and room: ports of the host, topology, minValues. Its answer tells whether a "no" may be
 * remembered: counts change with every pod, so that a claim which refuses now may take the pod later. Rules S-94, S-98, S-99, S-101.
 */
import { intersection, isEmpty, type TypeSet } from "../catalog/type-set.ts";
import type { HostPort } from "../problem.ts";
import type { MinValuesShortfall, Reason } from "../reason.ts";
import type { Requirement } from "../requirements/requirement.ts";
import { requirementsText, requirementText } from "../requirements/text.ts";
import type { HostnameGroup } from "../topology/hostname-group.ts";
import { domainsVersionOf, type TopologyDemand } from "../topology/topology.ts";
import type { TopologyGroup } from "../topology/topology-group.ts";
import { type Attachments, joined, type VolumeDemand } from "../volumes/volume-demand.ts";
import type { ClaimState, Constraint } from "./claim-state.ts";
import { variantsWithFreePorts } from "./daemon-overhead.ts";
import { haveConflict, hostPortText } from "./host-ports.ts";
import { minValuesShortfalls, relaxMinValues } from "./min-values.ts";
import type { Search } from "./pod-classes.ts";
import type { Reservations } from "./reservations.ts";
import { hasRoom, variantsWithRoom } from "./room.ts";
import type { Template } from "./template.ts";
import { narrowedBy } from "./topology-choice.ts";

export const TAKES = 0;
export const NEVER = 1;
export const NOT_NOW = 2;
export type Verdict = typeof TAKES | typeof NEVER | typeof NOT_NOW;

/** A claim as the gate sees it, open or still to be opened. */
export interface Candidate {
  readonly template: Template;
  readonly allowed: TypeSet | undefined;
  readonly hostPorts: readonly HostPort[];
  readonly attachments: Attachments;
  /** IDs of reservations that the claim may use. */
  readonly held: ReadonlySet<string>;
  /** Once for each of its pods that they will count when it is decided where the claim is; undefined = none. */
  readonly uncounted?: readonly TopologyGroup[] | undefined;
}

/** What is asked for: by the pod, and by the pods of the claim as a row within a longer array. */
export interface Load {
  readonly requests: Float64Array;
  readonly used: Float64Array;
  readonly at: number;
  /** No pod is on the claim yet: minValues may be relaxed (S-99). */
  readonly isNew: boolean;
}

const NO_RESERVATIONS: ReadonlySet<string> = new Set();

export class ClaimGate {
  /** After `TAKES`: what the claim becomes. */
  state!: ClaimState;
  allowed: TypeSet | undefined;
  isRelaxed = false;
  held: ReadonlySet<string> = NO_RESERVATIONS;
  /** After a refusal: only reservations stood in the way (S-169). */
  isDeferred = false;
  readonly #reservations: Reservations;
  /** What topology makes of a state is kept by the states, while this number and the counts that it asks stay the same. */
  #search = 0;
  #demand: TopologyDemand | undefined;
  #version = -1;
  /** Scratch, because questions are asked for every pod and claim. */
  #total = new Float64Array(0);
  #types: TypeSet = new Int32Array(0);

  constructor(reservations: Reservations) {
    this.#reservations = reservations;
  }

  /** Called before a search, so that the answers of one state hold for all claims in it. */
  begin({ topology }: Search): void {
    if (topology === undefined) return;
    const version = domainsVersionOf(topology);
    if (topology === this.#demand && version === this.#version) return;
    this.#demand = topology;
    this.#version = version;
    this.#search++;
  }

  /** Does the topology of the search that has begun leave the state anything? */
  admits(next: ClaimState): boolean {
    return this.#narrow(next, this.#demand!) !== null;
  }

  /** `next` is the claim's state with the pod's own requirements, which has room. */
  ask(candidate: Candidate, next: ClaimState, search: Search, load: Load): Verdict {
    const { template, allowed, hostPorts, attachments } = candidate;
    this.isDeferred = false;
    let types = allowed;
    if (search.hostPorts !== undefined) {
      if (haveConflict(hostPorts, search.hostPorts)) return NEVER;
      types = both(types, variantsWithFreePorts(template.daemonGroups, search.hostPorts, template.catalog.variantCount));
      if (types !== undefined && isEmpty(types)) return NEVER;
    }
    if (search.volumes !== undefined) {
      types = both(types, variantsThatAttach(template, joined(attachments, search.volumes.attachments)));
      if (types !== undefined && isEmpty(types)) return NEVER;
    }
    const alternatives = search.volumes?.alternatives;
    if (alternatives === undefined) return this.#fits(candidate, next, types, search, load);
    for (const alternative of alternatives) {
      const reachable = next.after(alternative);
      if (reachable !== null && this.#fits(candidate, reachable, types, search, load) === TAKES) return TAKES;
    }
    return NOT_NOW;
  }

  #fits(candidate: Candidate, next: ClaimState, types: TypeSet | undefined, { topology, volumes }: Search, load: Load): Verdict {
    const { template } = candidate;
    const narrowed =
      topology === undefined
        ? next
        : load.isNew
          ? narrowedBy(topology.domains, next, isRoomy(template, types, load), this.#keepsChoice(template, types, load))
          : this.#narrow(next, topology);
    if (narrowed === null) return NOT_NOW;
    if (candidate.uncounted !== undefined && topology !== undefined && !keepsSkew(narrowed, topology, candidate.uncounted)) return NOT_NOW;
    const refusal: Verdict = narrowed === next ? NEVER : NOT_NOW;
    const isDoubtful = narrowed !== next || types !== candidate.allowed || volumes !== undefined;
    if (isDoubtful && !hasRoom(narrowed, template, types, load.used, load.at, load.requests)) return refusal;
    this.state = narrowed;
    this.allowed = types;
    this.isRelaxed = false;
    this.held = NO_RESERVATIONS;
    if (template.hasMinValues && !this.#keepsMinValues(template, load)) return refusal;
    return this.#reservations.isEmpty || this.#mayReserve(candidate, load) ? TAKES : NOT_NOW;
  }

  #mayReserve({ template, held }: Candidate, load: Load): boolean {
    const outcome = this.#reservations.outcome(this.state, template.catalog, this.#typesFor(template, load), held);
    this.isDeferred = outcome.kind === "deferred";
    if (outcome.kind !== "free") return false;
    this.held = outcome.ids;
    return true;
  }

  /** Valid until the next such question. */
  #typesFor(template: Template, { requests, used, at }: Load, state = this.state, allowed = this.allowed): TypeSet {
    if (this.#total.length !== requests.length) this.#total = new Float64Array(requests.length);
    for (let position = 0; position < requests.length; position++) this.#total[position] = used[at + position]! + requests[position]!;
    if (this.#types.length !== state.variants.length) this.#types = new Int32Array(state.variants.length);
    return variantsWithRoom(state, template, allowed, this.#total, this.#types);
  }

  /** For an open claim the search asks once per state, so labels alone tell what is to be had. */
  #narrow(state: ClaimState, topology: TopologyDemand): ClaimState | null {
    if (topology.domains.length === 0) return state;
    if (state.narrowedBySearch === this.#search) return state.narrowed;
    const next = narrowedBy(topology.domains, state, isThere);
    state.narrowedBySearch = this.#search;
    state.narrowed = next;
    return next;
  }

  /** What minValues asks of the one domain that is chosen; undefined = nothing. */
  #keepsChoice(template: Template, types: TypeSet | undefined, load: Load): ((state: ClaimState) => boolean) | undefined {
    if (!template.hasMinValues || template.minValuesPolicy !== "Strict") return undefined;
    return (state) => minValuesShortfalls(state, template.catalog, this.#typesFor(template, load, state, types)).length === 0;
  }

  #keepsMinValues(template: Template, load: Load): boolean {
    const types = this.#typesFor(template, load);
    const shortfalls = minValuesShortfalls(this.state, template.catalog, types);
    if (shortfalls.length === 0) return true;
    if (!load.isNew || template.minValuesPolicy === "Strict") return false;
    this.state = relaxMinValues(this.state, shortfalls);
    this.isRelaxed = true;
    return true;
  }
}

/** Some type is left that at least holds its DaemonSets. */
function isThere({ mostRoom }: ClaimState): boolean {
  return mostRoom[0] !== Number.NEGATIVE_INFINITY;
}

function isRoomy(template: Template, types: TypeSet | undefined, { used, at, requests }: Load): (state: ClaimState) => boolean {
  return (state) => hasRoom(state, template, types, used, at, requests);
}

/** Does each spread hold if the domain that it has chosen also gets the pods of the claim which were not counted so far? */
function keepsSkew({ requirements }: ClaimState, { domains }: TopologyDemand, uncounted: readonly TopologyGroup[]): boolean {
  return domains.every(({ group, asking }) => {
    if (group.identity.kind !== "topology-spread" || !uncounted.includes(group)) return true;
    const values = requirements.find(group.identity.key)?.listedValues ?? [];
    return values.every((value) => group.allowsAt(asking, value, uncounted.filter((other) => other === group).length));
  });
}

/** Why a new claim of the template is refused beyond labels and room; called for pods that are left over. */
export function gateRefusal({ template, allowed }: Candidate, next: ClaimState, search: Search, requests: Float64Array): Reason {
  const { hostPorts, topology } = search;
  const nodePool = template.name;
  const free = hostPorts && variantsWithFreePorts(template.daemonGroups, hostPorts, template.catalog.variantCount);
  const types = both(allowed, free);
  if (hostPorts !== undefined && types !== undefined && types !== allowed && isEmpty(variantsWithRoom(next, template, types, requests)))
    return { kind: "host-port", nodePool, ports: hostPorts.map(hostPortText) };
  const volumes = search.volumes && volumeRefusal(template, types, next, search.volumes, requests);
  if (volumes !== undefined) return volumes;
  for (const { group, isCounted } of topology?.hosts ?? []) {
    if (!group.allowsNewClaim(isCounted)) return hostnameRefusal(group, nodePool);
  }
  let state = next;
  for (const demand of topology?.domains ?? []) {
    const { group, asking } = demand;
    const node = next.requirements.find(group.identity.key);
    const left = narrowedBy([demand], state, (there) => !isEmpty(variantsWithRoom(there, template, types, requests)));
    if (left === null || isEmpty(variantsWithRoom(left, template, types, requests)))
      return domainRefusal(group, asking.pod, node, nodePool);
    state = left;
  }
  const left = variantsWithRoom(state, template, types, requests);
  const labels: readonly MinValuesShortfall[] = minValuesShortfalls(state, template.catalog, left);
  if (labels.length === 0 && template.catalog.kinds.some(({ capacityType }) => capacityType === "reserved")) {
    return { kind: "reserved-capacity", nodePool };
  }
  if (labels.length > 0 || search.volumes?.alternatives === undefined) return { kind: "min-values", nodePool, labels };
  // Each of the constraints can be met, but not where the volumes are.
  return { kind: "volume-topology", nodePool, wanted: placesText(search.volumes.alternatives) };
}

/** undefined where the volumes have nothing against it. */
function volumeRefusal(
  template: Template,
  types: TypeSet | undefined,
  next: ClaimState,
  { alternatives, attachments }: VolumeDemand,
  requests: Float64Array,
): Reason | undefined {
  const nodePool = template.name;
  const left = both(types, variantsThatAttach(template, attachments));
  if (left !== types && isEmpty(variantsWithRoom(next, template, left, requests))) {
    for (const [driver, { size: count }] of attachments) {
      const limit = template.catalog.attachmentColumn(driver).greatestIn(next.variants);
      if (limit < count) return { kind: "volume-limit", nodePool, driver, count, limit };
    }
    return { kind: "volume-limit", nodePool };
  }
  const isReachable = (alternative: Constraint) => {
    const state = next.after(alternative);
    return state !== null && !isEmpty(variantsWithRoom(state, template, left, requests));
  };
  if (alternatives === undefined || alternatives.some(isReachable)) return undefined;
  return { kind: "volume-topology", nodePool, wanted: placesText(alternatives) };
}

function placesText(alternatives: readonly Constraint[]): string {
  if (alternatives.length === 0) return "places that no two of its volumes share";
  return alternatives.map(({ requirements }) => requirementsText(requirements)).join(" or ");
}

/** Variants that can attach so many of each driver; undefined = all (V-71). */
export function variantsThatAttach({ catalog }: Template, attachments: Attachments): TypeSet | undefined {
  let left: TypeSet | undefined;
  for (const [driver, claims] of attachments) {
    const column = catalog.attachmentColumn(driver);
    const row = column.rowAtLeast(claims.size);
    if (row > 0) left = both(left, column.setOf(row));
  }
  return left;
}

/** S-143. */
const DOMAINS_SHOWN_MAX = 25;

function domainRefusal(
  { identity, counts, undecided }: TopologyGroup,
  pod: Requirement | undefined,
  node: Requirement | undefined,
  nodePool: string,
): Reason {
  if (undecided > 0 && identity.kind !== "topology-spread") return { kind: "next-solve", waitsFor: "other-pods" };
  return {
    kind: identity.kind,
    nodePool,
    key: identity.key,
    counts: Object.fromEntries([...counts].slice(0, DOMAINS_SHOWN_MAX)),
    podDomains: domainsText(identity.key, pod),
    nodeDomains: domainsText(identity.key, node),
  };
}

function hostnameRefusal({ identity: { kind, key } }: HostnameGroup, nodePool: string): Reason {
  return { kind, nodePool, key, counts: {}, podDomains: domainsText(key, undefined), nodeDomains: "a new node" };
}

function domainsText(key: string, requirement: Requirement | undefined): string {
  return requirement === undefined ? `${key} Exists` : requirementText(requirement);
}

function both(one: TypeSet | undefined, other: TypeSet | undefined): TypeSet | undefined {
  if (one === undefined || other === undefined) return one ?? other;
  return intersection(one, other);
}
