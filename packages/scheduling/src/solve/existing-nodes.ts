/** Nodes that are there or on their way, as places for pods. Rules S-77, S-78, S-92, S-93. */
import { INSTANCE_TYPE_LABEL, NODE_POOL_LABEL, type Resources, subtractResources } from "@joinery/api";
import type { InstanceType } from "../instance-type.ts";
import { remembered } from "../memo.ts";
import { compareTexts } from "../plan/names.ts";
import { podRequirements } from "../pods/pod-variants.ts";
import type { BoundPods, DaemonSetShape, ExistingNode, HostPort, Problem } from "../problem.ts";
import { meetsRequirements } from "../requirements/node-labels.ts";
import type { Requirements } from "../requirements/requirements.ts";
import { keepingAway, untoleratedTaints } from "../taints.ts";
import type { TopologyDemand } from "../topology/topology.ts";
import { type Attachments, attachmentsOf, joined, type VolumeDemand } from "../volumes/volume-demand.ts";
import type { Constraint } from "./claim-state.ts";
import { haveConflict } from "./host-ports.ts";
import type { Search } from "./pod-classes.ts";
import type { ResourceAxis } from "./resource-axis.ts";

export interface Place {
  readonly node: ExistingNode;
  readonly pods: number[];
  /** Of what runs there and what is placed there. */
  hostPorts: readonly HostPort[];
  attachments: Attachments;
  /** Attachments that the node's type is made for, where its drivers have not said so themselves (V-72). */
  readonly typeLimits: InstanceType["volumeLimits"];
}

export class ExistingNodes {
  /** In the order of S-78: initialized first, then by name. */
  readonly list: readonly Place[];
  readonly #width: number;
  /** Row i: what is left of node i. −1 in the first position where the node takes no pod at all. */
  readonly #remaining: Float64Array;
  /** The same before anybody was placed. */
  readonly #remainingAtFirst: Float64Array;

  constructor(problem: Problem, axis: ResourceAxis) {
    const { nodes, daemonSets, boundPods = [], claims = new Map() } = problem;
    const sorted = [...nodes].sort((a, b) => Number(b.isInitialized) - Number(a.isInitialized) || compareTexts(a.name, b.name));
    const ports = portsByNode(boundPods);
    const attachments = attachmentsByNode(boundPods, claims);
    const limits = new TypeLimits(problem);
    this.list = sorted.map((node) => ({
      node,
      pods: [],
      hostPorts: ports.get(node.name) ?? NO_PORTS,
      attachments: attachments.get(node.name) ?? NO_ATTACHMENTS,
      typeLimits: limits.of(node),
    }));
    this.#width = axis.length;
    this.#remaining = new Float64Array(this.list.length * this.#width);
    const daemons = daemonSets
      .filter(({ shape }) => !shape.hasResourceClaims)
      .map(({ shape }) => ({ shape, wanted: podRequirements(shape)[0]! }));
    for (const [index, { node }] of this.list.entries()) {
      const expected = daemons.filter(({ shape, wanted }) => isExpected(node, shape.tolerations, wanted));
      const remaining = remainingOf(
        node,
        expected.map(({ shape }) => shape.requests),
      );
      const isUsable = Object.values(remaining).every((amount) => amount >= 0);
      this.#remaining.set(isUsable ? axis.rowOf(remaining) : axis.names.map(() => -1), index * this.#width);
    }
    this.#remainingAtFirst = this.#remaining.slice();
  }

  /**
   * The first node that takes the pod, or −1. Labels of nodes are what they are: unlike a claim's, a node's requirements do not
   * narrow, so that a pod which excludes a value does not make the node look as if it had the label.
   */
  find(search: Search, requests: Float64Array): number {
    const { topology } = search;
    for (let index = search.nextNode; index < this.list.length; index++) {
      const bit = 1 << (index & 31);
      if ((search.refusedNodes[index >>> 5]! & bit) !== 0) continue;
      const isPossible = this.#isPossible(index, search, requests);
      if (isPossible && (topology === undefined || this.#isAllowed(index, topology))) return index;
      if (isPossible) continue;
      search.refusedNodes[index >>> 5] = search.refusedNodes[index >>> 5]! | bit;
      if (index === search.nextNode) search.nextNode++;
    }
    return -1;
  }

  /** Does this node take the pod? */
  takes(index: number, search: Search, requests: Float64Array): boolean {
    return this.#isPossible(index, search, requests) && (search.topology === undefined || this.#isAllowed(index, search.topology));
  }

  /** Without topology, whose answers change. */
  #isPossible(index: number, { constraint, hostPorts, volumes, isMoving }: Search, requests: Float64Array): boolean {
    return (
      hasRoom(this.#remaining, index, requests) &&
      this.#isWelcome(index, constraint) &&
      !(isMoving && this.list[index]!.node.isSettling) &&
      (hostPorts === undefined || !haveConflict(hostPorts, this.list[index]!.hostPorts)) &&
      (volumes === undefined || this.#canAttach(index, volumes))
    );
  }

  add(index: number, pod: number, requests: Float64Array, { hostPorts, volumes }: Search): void {
    const place = this.list[index]!;
    place.pods.push(pod);
    if (hostPorts !== undefined) place.hostPorts = [...place.hostPorts, ...hostPorts];
    if (volumes !== undefined) place.attachments = joined(place.attachments, volumes.attachments);
    const at = index * this.#width;
    for (let r = 0; r < this.#width; r++) this.#remaining[at + r] = this.#remaining[at + r]! - requests[r]!;
  }

  /** What is left of a node along the resource axis; −1 first where it takes no pod at all. */
  remainingOf(index: number): Float64Array {
    return this.#remaining.subarray(index * this.#width, (index + 1) * this.#width);
  }

  /** Was there a node whose labels, taints and room go with this before anybody was placed? */
  couldTake(constraint: Constraint, requests: Float64Array): boolean {
    return this.list.some((_, index) => hasRoom(this.#remainingAtFirst, index, requests) && this.#isWelcome(index, constraint));
  }

  #isWelcome(index: number, { requirements, tolerations }: Constraint): boolean {
    const { node } = this.list[index]!;
    return untoleratedTaints(node.taints, tolerations).length === 0 && meetsRequirements(node.labels, requirements);
  }

  /** S-92, S-127. */
  #canAttach(index: number, { alternatives, attachments }: VolumeDemand): boolean {
    const place = this.list[index]!;
    if (alternatives?.every(({ requirements }) => !meetsRequirements(place.node.labels, requirements))) return false;
    for (const [driver, claims] of joined(place.attachments, attachments)) {
      const limit = place.node.volumeLimits?.[driver] ?? place.typeLimits?.[driver] ?? Number.POSITIVE_INFINITY;
      if (attachments.has(driver) && claims.size > limit) return false;
    }
    return true;
  }

  #isAllowed(index: number, { domains, hosts }: TopologyDemand): boolean {
    for (const { group, isCounted } of hosts) if (!group.allowsNode(index, isCounted)) return false;
    const { labels } = this.list[index]!.node;
    for (const { group, asking } of domains) if (!group.allowsNode(asking, labels)) return false;
    return true;
  }
}

/** Each row as wide as the requests. */
function hasRoom(remaining: Float64Array, row: number, requests: Float64Array): boolean {
  const at = row * requests.length;
  for (let r = 0; r < requests.length; r++) if (requests[r]! > remaining[at + r]!) return false;
  return true;
}

const NO_PORTS: readonly HostPort[] = [];

function portsByNode(bound: readonly BoundPods[]): ReadonlyMap<string, readonly HostPort[]> {
  const ports = new Map<string, HostPort[]>();
  for (const { shape, site } of bound) {
    if (shape.hostPorts !== undefined) remembered(ports, site.name, () => []).push(...shape.hostPorts);
  }
  return ports;
}

const NO_ATTACHMENTS: Attachments = new Map();

function attachmentsByNode(bound: readonly BoundPods[], claims: NonNullable<Problem["claims"]>): ReadonlyMap<string, Attachments> {
  const byNode = new Map<string, Attachments>();
  for (const { shape, site } of bound) {
    if (shape.claimNames !== undefined)
      byNode.set(site.name, joined(byNode.get(site.name) ?? NO_ATTACHMENTS, attachmentsOf(shape, claims)));
  }
  return byNode;
}

/** V-72: of the types of usable pools. */
class TypeLimits {
  readonly #byPool = new Map<string, ReadonlyMap<string, InstanceType["volumeLimits"]>>();

  constructor({ pools }: Problem) {
    for (const { nodePool, instanceTypes } of pools) {
      const limited = instanceTypes.filter(({ volumeLimits }) => volumeLimits !== undefined);
      this.#byPool.set(nodePool.metadata?.name ?? "", new Map(limited.map(({ name, volumeLimits }) => [name, volumeLimits])));
    }
  }

  of({ labels }: ExistingNode): InstanceType["volumeLimits"] {
    return this.#byPool.get(labels[NODE_POOL_LABEL] ?? "")?.get(labels[INSTANCE_TYPE_LABEL] ?? "");
  }
}

/** S-77: which DaemonSets will have a pod there. A taint that only prefers them away keeps none, here as on new nodes (S-67). */
function isExpected({ taints, labels }: ExistingNode, tolerations: DaemonSetShape["shape"]["tolerations"], wanted: Requirements): boolean {
  return keepingAway(taints, tolerations).length === 0 && meetsRequirements(labels, wanted);
}

/** S-77: what expected DaemonSet pods still have to get is not available; more than expected of them never adds room. */
function remainingOf({ available, daemonSetRequests }: ExistingNode, expected: readonly Resources[]): Resources {
  const due: Record<string, number> = {};
  for (const requests of expected) for (const name in requests) due[name] = (due[name] ?? 0) + requests[name]!;
  for (const name in due) due[name] = Math.max(0, due[name]! - (daemonSetRequests[name] ?? 0));
  return subtractResources(available, due);
}
