/**
 * Pods that get no place for the sake of other pods. Those whom one has to be with are where nobody can be with them: on a node without the
 * label, in a domain that is not for it, on a node that is full. Those whom one has to be apart from are in every domain, though some of
 * these could be elsewhere. Rules S-82, S-142, S-149…S-154.
 */
import { HOSTNAME_LABEL } from "@joinery/api";
import type { PodShape, PodToPlace } from "../problem.ts";
import { meetsRequirements } from "../requirements/node-labels.ts";
import { Requirement } from "../requirements/requirement.ts";
import { Requirements } from "../requirements/requirements.ts";
import type { Group } from "../topology/topology.ts";
import { TopologyGroup } from "../topology/topology-group.ts";
import type { ClaimState } from "./claim-state.ts";
import { classOf, type PodClasses, type Search } from "./pod-classes.ts";
import type { SolverView } from "./solver-view.ts";

/** A pod that is tried before its time; with pins only on nodes that meet these too, and not on claims that are open. */
export interface Turn {
  readonly pod: number;
  readonly pins?: Requirements;
}

/** The same search where pods also have to meet the pins, of which nothing that is found out holds without them; undefined where they cannot. */
export function pinnedTo(pins: Requirements, { constraint, ...search }: Search): Search | undefined {
  // What both want of a label and cannot have would be a node without it.
  if (!constraint.requirements.intersects(pins)) return undefined;
  return {
    ...search,
    constraint: { ...constraint, requirements: constraint.requirements.and(pins) },
    refusals: { claims: undefined, wasAsked: false },
    nextNode: 0,
    refusedNodes: new Int32Array(0),
    searchedAt: -1,
    isDeferred: false,
    closed: [],
    reasons: undefined,
  };
}

/** What is worth trying for late pods, beyond being first: something for each of them, then the next for each. */
export function* pinnedTurns(
  late: readonly number[],
  order: Uint32Array,
  view: SolverView,
  pods: readonly PodToPlace[],
): Generator<readonly Turn[]> {
  const { classes, nodes, claims } = view;
  const isElsewhere = placesIn(view);
  const placed = new Set([...nodes.list, ...claims.list].flatMap((place) => place.pods.map((pod) => classes.classOfPod[pod]!)));
  yield* alternating(
    late.map(function* (pod) {
      yield* withCompany(pod, { order, classes, pods, isElsewhere });
      yield* inOneDomain(pod, classes, placed);
    }),
  );
}

function* alternating<T>(sources: readonly Iterator<T, unknown>[]): Generator<T> {
  for (let left = sources; left.length > 0; ) {
    const more: Iterator<T, unknown>[] = [];
    for (const source of left) {
      const { value, done } = source.next();
      if (done) continue;
      more.push(source);
      yield value;
    }
    left = more;
  }
}

interface Company {
  readonly order: Uint32Array;
  readonly classes: PodClasses;
  readonly pods: readonly PodToPlace[];
  readonly isElsewhere: (pod: number, pins: Requirements) => boolean;
}

/** The late pod after one of those that it has to be with, where it could follow; of equal ones the first in the order of the queue. */
function* withCompany(pod: number, { order, classes, pods, isElsewhere }: Company): Generator<readonly Turn[]> {
  const { searches } = classOf(pod, classes);
  // Only what is required is left in the last search, and required terms all mean the same pods.
  const wanted = companyIn(searches.at(-1)!);
  const [first] = wanted;
  if (first === undefined) return;
  const shapes = new Set<PodShape>();
  const companions = order.filter((other) => {
    const { shape } = pods[other]!;
    const isMeant = other !== pod && first.selectsIn(shape.namespace) && first.identity.selector.selects(shape.labels);
    return isMeant && classOf(other, classes).unsupported.length === 0 && !shapes.has(shape) && shapes.add(shape);
  });
  const isSameNode = wanted.some(({ identity }) => identity.key === HOSTNAME_LABEL);
  const places = searches.flatMap(({ constraint }) => meetingPlaces(wanted, isSameNode, constraint.requirements));
  const byText = new Map(places.map((pins) => [pins.canonicalText, pins]));
  for (const pins of [...byText.values()].reverse()) {
    for (const other of companions) {
      if (isSameNode || isElsewhere(other, pins)) yield [{ pod: other, pins }, { pod }];
    }
  }
}

/**
 * The late pod in one domain of those that others keep it away from, so that the rest is left to these; not where one of its equals is.
 * @param placed classes of pods that have a place
 */
function* inOneDomain(pod: number, classes: PodClasses, placed: ReadonlySet<number>): Generator<readonly Turn[]> {
  const { shape, searches } = classOf(pod, classes);
  const groups = (searches.at(-1)!.topology?.domains ?? [])
    .map(({ group }) => group)
    .filter(({ identity }) => identity.kind === "pod-anti-affinity");
  const isOfEquals = (group: TopologyGroup) =>
    !group.identity.isInverse && group.selectsIn(shape.namespace) && group.identity.selector.selects(shape.labels);
  const ofEquals = new Set(placed.has(classes.classOfPod[pod]!) ? groups.filter(isOfEquals).map(({ identity }) => identity.key) : []);
  for (const key of [...new Set(groups.map(({ identity }) => identity.key))].filter((one) => !ofEquals.has(one)).sort()) {
    const domains = groups.filter(({ identity }) => identity.key === key).flatMap(({ counts }) => [...counts.keys()]);
    for (const domain of [...new Set(domains)].sort()) {
      const isForPod = searches.some(({ constraint }) => constraint.requirements.find(key)?.has(domain) ?? true);
      if (isForPod) yield [{ pod, pins: Requirements.of(Requirement.in(key, domain)) }];
    }
  }
}

function companyIn({ topology }: Search): readonly Group[] {
  const asked = topology === undefined ? [] : [...topology.domains, ...topology.hosts];
  return asked.map(({ group }) => group).filter(({ identity }) => identity.kind === "pod-affinity");
}

/** What a node has to be so that the late pod can be in its domains; on the node itself, if it wants to be on the same. */
function meetingPlaces(wanted: readonly Group[], isSameNode: boolean, requirements: Requirements): readonly Requirements[] {
  const groups = wanted.filter((group) => group instanceof TopologyGroup);
  const keys = groups.map(({ identity }) => identity.key);
  const own = Requirements.of(...[...requirements].filter(({ key }) => isSameNode || keys.includes(key)));
  if (!isSameNode) return [own.and(keys.map((key) => Requirement.of({ key, operator: "Exists" })))];
  // Before the node is there, the late pod would be with nobody where the domain is still open (S-141).
  let places: readonly Requirements[] = [own];
  for (const { identity, counts } of groups) {
    const domains = [...counts.keys()].map((domain) => Requirements.of(Requirement.in(identity.key, domain)));
    places = places.flatMap((place) => domains.filter((domain) => place.intersects(domain)).map((domain) => place.and(domain)));
  }
  return places;
}

/** Has the pod a place which does not meet the pins, or might not yet? */
function placesIn({ nodes, claims }: SolverView): (pod: number, pins: Requirements) => boolean {
  const places = new Map<number, (pins: Requirements) => boolean>();
  for (const { node, pods } of nodes.list) for (const pod of pods) places.set(pod, (pins) => meetsRequirements(node.labels, pins));
  for (const { state, pods } of claims.list) for (const pod of pods) places.set(pod, (pins) => keeps(state, pins));
  return (pod, pins) => places.get(pod)?.(pins) === false;
}

/** A well-known label that is not mentioned is one that the node will have. */
function keeps(state: ClaimState, pins: Requirements): boolean {
  return [...pins].every((pin) => {
    const own = state.requirements.find(pin.key);
    return own === undefined ? pin.operator === "Exists" && state.within(pin) !== null : own.intersect(pin) === own;
  });
}
