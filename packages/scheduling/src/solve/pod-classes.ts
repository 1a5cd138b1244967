/**
 * Pods that scheduling cannot tell apart. A solve works on classes: what is found out for one pod holds for all of its class, and
 * 15,000 pods of 300 workloads are 300 classes. Rules S-82, S-85, S-108, S-110.
 */
import type { Toleration } from "@joinery/api";
import type { ClaimSet } from "../claim-set.ts";
import { remembered } from "../memo.ts";
import type { DistinctShapes } from "../pods/distinct-shapes.ts";
import { unsupportedFeatures } from "../pods/pod-constraints.ts";
import { type PodVariant, podVariants, type VariantOptions } from "../pods/pod-variants.ts";
import type { HostPort, PodShape } from "../problem.ts";
import type { Reason } from "../reason.ts";
import type { Requirements } from "../requirements/requirements.ts";
import { LabelSets } from "../topology/label-sets.ts";
import { demandOf, type Group, labelsKey, marksOf, type Topology, type TopologyDemand, type TopologyMarks } from "../topology/topology.ts";
import type { VolumeDemand, VolumeDemands } from "../volumes/volume-demand.ts";
import type { Constraint } from "./claim-state.ts";
import { type Requests, RequestTable } from "./request-table.ts";
import type { ResourceAxis } from "./resource-axis.ts";

/** What has refused, among all searches for equal requests by the same constraint. */
interface Refusals {
  /** The claims that never will take such a pod; kept from the second search on, since most requests that are rare come once. */
  claims: ClaimSet | undefined;
  wasAsked: boolean;
}

/** How far the search for one constraint has got; what refused once refuses for the rest of the solve. */
export interface Search {
  readonly constraint: Constraint;
  /** Asked after labels and room, because the answers change from pod to pod; undefined = nothing. */
  readonly topology: TopologyDemand | undefined;
  readonly hostPorts: readonly HostPort[] | undefined;
  readonly volumes: VolumeDemand | undefined;
  /** Settling nodes are not for it (S-81). */
  readonly isMoving: boolean;
  readonly refusals: Refusals;
  /** Existing nodes before this one take no pod of the class. */
  nextNode: number;
  /** Bits of the nodes that never will. */
  refusedNodes: Int32Array;
  /** `Solver` at the last search in vain. */
  searchedAt: number;
  /** That search failed for want of a reservation alone: nothing is given up for that (S-171). */
  isDeferred: boolean;
  /** By template: why no claim can be opened. */
  readonly closed: (readonly Reason[] | undefined)[];
  /** Of all templates, once all are closed. */
  reasons: readonly Reason[] | undefined;
}

export interface PodClass {
  readonly shape: PodShape;
  /** Equal requests are one row. */
  readonly requests: Float64Array;
  /** Constraints that are tried in this order; a later one only when nothing takes the earlier ones. */
  readonly searches: readonly Search[];
  readonly marks: TopologyMarks;
  readonly unsupported: readonly Reason[];
}

export interface PodClasses {
  readonly list: readonly PodClass[];
  readonly constraints: readonly Constraint[];
  /** Each different row of requests. */
  readonly requestRows: readonly Float64Array[];
  /** Index of the class of each pod of the problem. */
  readonly classOfPod: Uint32Array;
}

/** @param pod index of a pod of the problem */
export function classOf(pod: number, { list, classOfPod }: PodClasses): PodClass {
  return list[classOfPod[pod]!]!;
}

export interface ClassContext extends VariantOptions {
  readonly axis: ResourceAxis;
  readonly topology: Topology;
  readonly volumes: VolumeDemands;
}

/** All that matters of a shape but its labels and requests. */
interface Wish {
  readonly variants: readonly { readonly variant: PodVariant; readonly groups: readonly Group[] }[];
  readonly kinds: Map<Profile, Kind>;
}

/** All that matters of a shape but its requests. */
interface Kind {
  readonly searches: readonly Pick<Search, "constraint" | "topology" | "hostPorts" | "volumes">[];
  readonly marks: TopologyMarks;
  readonly unsupported: readonly Reason[];
  /** By requests: index of the class. */
  readonly classes: Map<Requests, number>;
}

/** Wishes come first, all of them, because only then it is known which pods others want to meet or to avoid. */
export function classifyPods({ list: shapes, ofPod }: DistinctShapes, context: ClassContext): PodClasses {
  const wishes = new WishTable(context);
  const wishOf = shapes.map((shape) => wishes.of(shape));
  const requests = new RequestTable(context.axis);
  const constraints = new ConstraintTable();
  const profiles = new Profiles(context.topology);
  const list: PodClass[] = [];
  const classOfShape = new Uint32Array(shapes.length);
  for (let index = 0; index < shapes.length; index++) {
    const shape = shapes[index]!;
    const wish = wishOf[index]!;
    const profile = profiles.of(shape);
    let kind = wish.kinds.get(profile);
    if (kind === undefined) {
      kind = newKind(shape, wish, profile, context, constraints);
      wish.kinds.set(profile, kind);
    }
    const requested = requests.of(shape.requests);
    let found = kind.classes.get(requested);
    if (found === undefined) {
      found = list.push(newClass(shape, kind, requested, constraints)) - 1;
      kind.classes.set(requested, found);
    }
    classOfShape[index] = found;
  }
  const classOfPod = new Uint32Array(ofPod.length);
  for (let pod = 0; pod < ofPod.length; pod++) classOfPod[pod] = classOfShape[ofPod[pod]!]!;
  return { list, constraints: constraints.list, requestRows: requests.rows, classOfPod };
}

function newKind(shape: PodShape, wish: Wish, profile: Profile, context: ClassContext, constraints: ConstraintTable): Kind {
  const { topology } = context;
  const volumes = context.volumes.of(shape);
  const searches: Kind["searches"][number][] = [];
  for (const { variant, groups } of wish.variants) {
    const constraint = constraints.of(variant.requirements, variant.tolerations);
    const demand = demandOf([...groups, ...profile.keptAwayBy], shape, variant);
    if (searches.some((other) => other.constraint === constraint && isSameDemand(other.topology, demand))) continue;
    searches.push({ constraint, topology: demand, hostPorts: shape.hostPorts, volumes });
  }
  const marks = marksOf([...profile.countedIn, ...topology.announceInverse(shape)]);
  return { searches, marks, unsupported: unsupportedFeatures(shape), classes: new Map() };
}

function newClass(shape: PodShape, { searches, marks, unsupported }: Kind, requests: Requests, constraints: ConstraintTable): PodClass {
  return {
    shape,
    requests: requests.row,
    searches: searches.map(({ constraint, topology, hostPorts, volumes }) => ({
      constraint,
      topology,
      hostPorts,
      volumes,
      isMoving: shape.isMoving === true,
      // Ports and volumes refuse too, and not for all alike.
      refusals: hostPorts === undefined && volumes === undefined ? constraints.refusalsOf(constraint, requests) : newRefusals(),
      nextNode: 0,
      refusedNodes: NO_BITS,
      searchedAt: -1,
      isDeferred: false,
      closed: [],
      reasons: undefined,
    })),
    marks,
    unsupported,
  };
}

const NO_BITS = new Int32Array(0);

function newRefusals(): Refusals {
  return { claims: undefined, wasAsked: false };
}

/** A relaxation that changes nothing need not be tried. */
function isSameDemand(one: TopologyDemand | undefined, other: TopologyDemand | undefined): boolean {
  if (one === undefined || other === undefined) return one === other;
  return (
    one.hosts.length === other.hosts.length &&
    one.domains.length === other.domains.length &&
    one.hosts.every(({ group }, index) => other.hosts[index]!.group === group) &&
    one.domains.every(
      ({ group, asking }, index) => other.domains[index]!.group === group && asking.pod === other.domains[index]!.asking.pod,
    )
  );
}

class WishTable {
  readonly #context: ClassContext;
  readonly #byKey = new Map<string, Wish>();

  constructor(context: ClassContext) {
    this.#context = context;
  }

  of(shape: PodShape): Wish {
    return remembered(this.#byKey, wishKey(shape), () => {
      const { topology } = this.#context;
      topology.announceInverse(shape);
      const variants = podVariants(shape, this.#context).map((variant) => ({ variant, groups: topology.announce(shape, variant) }));
      return { variants, kinds: new Map() };
    });
  }
}

function wishKey({
  namespace,
  labels,
  nodeSelector,
  affinity,
  tolerations,
  topologySpreadConstraints,
  hostPorts,
  claimNames,
  hasResourceClaims,
  isMoving,
}: PodShape): string {
  const isBetweenPods =
    topologySpreadConstraints !== undefined || affinity?.podAffinity !== undefined || affinity?.podAntiAffinity !== undefined;
  let key = "";
  if (isBetweenPods) key = JSON.stringify([nodeSelector, affinity, tolerations, namespace, topologySpreadConstraints]);
  else if (nodeSelector !== undefined || affinity !== undefined || tolerations.length > 0)
    key = JSON.stringify([nodeSelector, affinity, tolerations]);
  // The labels that matchLabelKeys name are part of the selector (S-138).
  if (topologySpreadConstraints?.some(({ matchLabelKeys }) => matchLabelKeys !== undefined)) key += `\n${labelsKey(labels)}`;
  if (hostPorts !== undefined) key += `\nports ${JSON.stringify(hostPorts)}`;
  if (claimNames !== undefined) key += `\nclaims ${namespace} ${claimNames.join()}`;
  if (isMoving) key += "\nmoving";
  return hasResourceClaims ? `${key}\ndevices` : key;
}

/** What other pods' constraints make of a pod's labels. */
interface Profile {
  readonly countedIn: readonly Group[];
  readonly keptAwayBy: readonly Group[];
}

class Profiles {
  readonly #topology: Topology;
  readonly #labels = new LabelSets();
  /** By number of the label set. */
  readonly #byLabels: Profile[] = [];
  readonly #byGroups = new Map<string, Profile>();
  readonly #numbers = new Map<Group, number>();

  constructor(topology: Topology) {
    this.#topology = topology;
  }

  of(shape: PodShape): Profile {
    if (this.#topology.isEmpty) return NO_PROFILE;
    const labels = this.#labels.numberOf(shape.namespace, shape.labels);
    const known = this.#byLabels[labels];
    if (known !== undefined) return known;
    const countedIn = this.#topology.selecting(shape, false);
    const keptAwayBy = this.#topology.selecting(shape, true);
    const text = `${this.#text(countedIn)} ${this.#text(keptAwayBy)}`;
    const profile = remembered(this.#byGroups, text, () => ({ countedIn, keptAwayBy }));
    this.#byLabels[labels] = profile;
    return profile;
  }

  #text(groups: readonly Group[]): string {
    return groups.map((group) => remembered(this.#numbers, group, () => this.#numbers.size)).join();
  }
}

const NO_PROFILE: Profile = { countedIn: [], keptAwayBy: [] };

/** Makes equal constraints one object, because states of claims remember their verdicts by it. */
class ConstraintTable {
  readonly list: Constraint[] = [];
  readonly #byKey = new Map<string, Constraint>();
  /** By constraint, then by requests. */
  readonly #refusals: Map<Requests, Refusals>[] = [];

  of(requirements: Requirements, tolerations: readonly Toleration[]): Constraint {
    const key = tolerations.length === 0 ? requirements.canonicalText : requirements.canonicalText + JSON.stringify(tolerations);
    return remembered(this.#byKey, key, () => {
      const constraint = { index: this.list.length, requirements, tolerations };
      this.list.push(constraint);
      this.#refusals.push(new Map());
      return constraint;
    });
  }

  refusalsOf({ index }: Constraint, requests: Requests): Refusals {
    const ofConstraint = this.#refusals[index]!;
    let refusals = ofConstraint.get(requests);
    if (refusals === undefined) {
      refusals = newRefusals();
      ofConstraint.set(requests, refusals);
    }
    return refusals;
  }
}
