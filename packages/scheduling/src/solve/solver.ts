/** One run through all pods: onto nodes that exist, onto nodes that are planned, onto new ones. Rules S-8, S-64, S-65, S-82…S-86, S-91…S-100. */
import { CORE_WELL_KNOWN_LABELS } from "@joinery/api";
import { remembered } from "../memo.ts";
import { compareTexts } from "../plan/names.ts";
import type { Plan } from "../plan.ts";
import { distinctShapes } from "../pods/distinct-shapes.ts";
import type { Problem } from "../problem.ts";
import type { Reason } from "../reason.ts";
import type { Requirement } from "../requirements/requirement.ts";
import type { Requirements } from "../requirements/requirements.ts";
import { DomainUniverse } from "../topology/domain-universe.ts";
import { Topology, versionOf } from "../topology/topology.ts";
import { joined, VolumeDemands } from "../volumes/volume-demand.ts";
import { type Candidate, ClaimGate, gateRefusal, NEVER, NOT_NOW, TAKES } from "./claim-gate.ts";
import type { ClaimState } from "./claim-state.ts";
import { pinnedTo, pinnedTurns, type Turn } from "./company.ts";
import { ExistingNodes } from "./existing-nodes.ts";
import { couldBeFirst, refusalsOf } from "./leftovers.ts";
import { allowsNewHost, chargeOf, NO_ATTACHMENTS, NO_PORTS, NO_RESERVATIONS, newCandidate } from "./new-claim.ts";
import { OpenClaims } from "./open-claims.ts";
import { dropped, placesOf, planNothing } from "./plan-parts.ts";
import { classifyPods, classOf, type PodClass, type PodClasses, type Search } from "./pod-classes.ts";
import { inQueueOrder, PodQueue } from "./pod-queue.ts";
import { refusalOf } from "./refusal.ts";
import { Reservations } from "./reservations.ts";
import { ResourceAxis } from "./resource-axis.ts";
import { hasRoom } from "./room.ts";
import type { SolverView } from "./solver-view.ts";
import { createTemplate, domainSource, inPoolOrder, isUsable, type Template } from "./template.ts";
import { decidedOn } from "./topology-choice.ts";

const NO_KEYS: readonly string[] = [];
const NEXT_SOLVE: readonly Reason[] = [{ kind: "next-solve" }];
const WAITS_FOR_RESERVATION: readonly Reason[] = [{ kind: "next-solve", waitsFor: "reservation" }];
const NO_NODE_POOL: readonly Reason[] = [{ kind: "no-node-pool" }];

/**
 * A solve in steps. `run` alone is the greedy solve. Before it, pods may be offered places by somebody who knows better (`offer…`):
 * they get them only where every rule allows it, and `run` then looks for places for the others.
 */
export class Solver {
  readonly #problem: Problem;
  /** Indexes of pods in the order in which they got their places. */
  readonly sequence: number[] = [];
  /** By pod: which of its class's searches found its place; −1 = none. */
  readonly searchOfPod: Int16Array;
  readonly axis: ResourceAxis;
  readonly allTemplates: readonly Template[];
  readonly #templates: readonly Template[];
  readonly #droppedPools: Plan["droppedPools"];
  readonly #classes: PodClasses;
  readonly #nodes: ExistingNodes;
  readonly #claims: OpenClaims;
  readonly #topology: Topology;
  readonly #reservations: Reservations;
  readonly #gate: ClaimGate;
  /** Some pool has minValues, or there are reservations: then every pod has to be weighed. */
  readonly #isAlwaysGated: boolean;
  /** What the pods of a claim without pods ask for. */
  readonly #noUse: Float64Array;
  /** Of pods that are not placed (yet), by index. */
  readonly #reasons: (readonly Reason[] | undefined)[];
  /** By pod: 1 when it was tried in vain. */
  readonly #isLeftOver: Uint8Array;
  /** Grows whenever a claim may take pods that had no claim before: a search in vain at the same count need not be repeated. */
  #changes = 1;
  /** Grows when a claim loses domains: a spread may then choose another one on it, where there is room. */
  #narrowings = 0;

  constructor(problem: Problem) {
    const shapes = distinctShapes(problem.pods);
    const wellKnown = new Set([...CORE_WELL_KNOWN_LABELS, ...(problem.options.wellKnownLabels ?? [])]);
    this.#problem = problem;
    this.#reasons = new Array<readonly Reason[] | undefined>(problem.pods.length).fill(undefined);
    this.searchOfPod = new Int16Array(problem.pods.length).fill(-1);
    this.#isLeftOver = new Uint8Array(problem.pods.length);
    this.axis = new ResourceAxis(shapes.list);
    const context = { problem, axis: this.axis, wellKnown };
    const templates = inPoolOrder(problem.pools).map((offer, index) => createTemplate(offer, index, context));
    this.allTemplates = templates;
    this.#templates = templates.filter(isUsable);
    this.#droppedPools = templates.filter((template) => !isUsable(template)).map(dropped);
    this.#nodes = new ExistingNodes(problem, this.axis);
    const nodes = this.#nodes.list.map(({ node }) => node);
    this.#topology = new Topology(problem, nodes, new DomainUniverse(templates.map(domainSource)));
    const bound = problem.boundPods ?? [];
    for (const { shape } of bound) this.#topology.announceInverse(shape);
    const mayPreferNot = templates.some(({ taints }) => taints.some(({ effect }) => effect === "PreferNoSchedule"));
    const { preferencePolicy } = problem.options;
    this.#classes = classifyPods(shapes, {
      axis: this.axis,
      topology: this.#topology,
      volumes: new VolumeDemands(problem),
      mayPreferNot,
      preferencePolicy,
    });
    this.#topology.countBound(bound);
    this.#reservations = new Reservations(problem);
    this.#gate = new ClaimGate(this.#reservations);
    this.#isAlwaysGated = !this.#reservations.isEmpty || this.#templates.some(({ hasMinValues }) => hasMinValues);
    this.#noUse = new Float64Array(this.axis.length);
    this.#claims = new OpenClaims(this.#classes.requestRows, this.#classes.constraints, this.axis.length);
  }

  get view(): SolverView {
    return {
      templates: this.allTemplates,
      axis: this.axis,
      nodes: this.#nodes,
      claims: this.#claims,
      reservations: this.#reservations,
      classes: this.#classes,
      topology: this.#topology,
    };
  }

  /** These have their turn before everybody else, once; who is refused has it again where the queue has it. How many got a place. */
  placeFirst(turns: readonly Turn[], onTurn?: (pod: number) => void): number {
    for (const { pod, pins } of turns) {
      onTurn?.(pod);
      this.#place(pod, classOf(pod, this.#classes), pins);
    }
    return this.sequence.length;
  }

  run(onTurn?: (pod: number) => void): Plan {
    const { pods, pools, options } = this.#problem;
    if (pools.length === 0) return planNothing(this.#problem, NO_NODE_POOL);
    const order = this.#queueOrder();
    for (let place = 0; place < order.length; place++) this.#reasons[order[place]!] = NEXT_SOLVE;
    const queue = new PodQueue(order, pods.length);
    for (let pod = queue.pop(); pod >= 0; pod = queue.pop()) {
      if (options.isOverdue?.()) break;
      onTurn?.(pod);
      if (!this.#place(pod, classOf(pod, this.#classes))) queue.push(pod);
    }
    return this.#plan();
  }

  /** Pods that cannot be weighed at all do not take part. */
  #queueOrder(): Uint32Array {
    const { list } = this.#classes;
    const order = inQueueOrder(this.#problem.pods, this.#classes);
    if (this.sequence.length === 0 && !list.some(({ unsupported }) => unsupported.length > 0)) return order;
    return order.filter((pod) => {
      if (this.searchOfPod[pod]! >= 0) return false;
      const { unsupported } = classOf(pod, this.#classes);
      if (unsupported.length > 0) this.#reasons[pod] = unsupported;
      return unsupported.length === 0;
    });
  }

  /** S-85: one constraint after the other, each through all three stages; with pins not through that of open claims. */
  #place(pod: number, podClass: PodClass, pins?: Requirements): boolean {
    for (let index = 0; index < podClass.searches.length; index++) {
      const own = podClass.searches[index]!;
      const search = pins === undefined ? own : pinnedTo(pins, own);
      if (search === undefined) continue;
      if (this.#isKnownInVain(search)) {
        if (search.isDeferred) break;
        continue;
      }
      if (
        this.#placeOnNode(pod, podClass, search) ||
        (pins === undefined && this.#placeOnClaim(pod, podClass, search)) ||
        this.#placeOnNew(pod, podClass, search)
      ) {
        this.#settle(pod, index);
        return true;
      }
      search.searchedAt = this.#stampOf(search);
      if (search.isDeferred) break;
    }
    this.#reasons[pod] = undefined;
    this.#isLeftOver[pod] = 1;
    return false;
  }

  /** Left out, though they might have had a place before everybody else: in the order of the queue. */
  latePods(): readonly number[] {
    const couldBe = (podClass: PodClass) => couldBeFirst(podClass, this.#templates, this.#nodes);
    const verdicts = new Map<PodClass, boolean>();
    return [...inQueueOrder(this.#problem.pods, this.#classes)].filter((pod) => {
      const podClass = classOf(pod, this.#classes);
      return this.#reasonsOf(pod) !== undefined && remembered(verdicts, podClass, () => couldBe(podClass));
    });
  }

  /** For late pods: each after one of those that it has to be with, then each apart from those that keep it away. */
  pinnedTurns(late: readonly number[]): Generator<readonly Turn[]> {
    return pinnedTurns(late, inQueueOrder(this.#problem.pods, this.#classes), this.view, this.#problem.pods);
  }

  #settle(pod: number, searchIndex: number): void {
    this.#reasons[pod] = undefined;
    this.#isLeftOver[pod] = 0;
    this.searchOfPod[pod] = searchIndex;
    this.sequence.push(pod);
  }

  /** The pod goes to this existing node if every rule allows it. */
  offerNode(pod: number, searchIndex: number, node: number): boolean {
    const podClass = classOf(pod, this.#classes);
    const search = podClass.searches[searchIndex]!;
    if (!this.#nodes.takes(node, search, podClass.requests)) return false;
    this.#nodes.add(node, pod, podClass.requests, search);
    this.#topology.recordOnNode(podClass.marks, node);
    this.#settle(pod, searchIndex);
    return true;
  }

  /** The same for a claim that is open. */
  offerClaim(pod: number, searchIndex: number, claim: number): boolean {
    const podClass = classOf(pod, this.#classes);
    const search = podClass.searches[searchIndex]!;
    const gate = this.#gateFor(search);
    gate?.begin(search);
    if (!this.#claims.takes(claim, search, podClass.requests, gate)) return false;
    this.#commit(claim, pod, podClass, search, gate?.state ?? this.#claims.list[claim]!.state.after(search.constraint)!);
    this.#settle(pod, searchIndex);
    return true;
  }

  /**
   * The same for a new node of this one of all templates, which moreover has to meet `pins`. The claim, or −1 where a rule forbids it. Whether a
   * heavier pool would take the pod is for the caller to know.
   */
  offerNew(pod: number, searchIndex: number, templateIndex: number, pins: readonly Requirement[]): number {
    const podClass = classOf(pod, this.#classes);
    const search = podClass.searches[searchIndex]!;
    const template = this.allTemplates[templateIndex]!;
    const allowed = template.limits?.allowed();
    let state = template.root.after(search.constraint);
    for (const pin of pins) state = state?.within(pin) ?? null;
    if (state === null || !hasRoom(state, template, allowed, this.#noUse, 0, podClass.requests)) return -1;
    const candidate = newCandidate(template, allowed);
    const gate = this.#gateFor(search);
    gate?.begin(search);
    if (gate !== undefined) {
      const isAlone = search.topology === undefined || allowsNewHost(search.topology);
      const load = { requests: podClass.requests, used: this.#noUse, at: 0, isNew: true };
      if (!isAlone || gate.ask(candidate, state, search, load) !== TAKES) return -1;
    }
    this.#open(pod, podClass, search, candidate, gate?.state ?? state);
    this.#settle(pod, searchIndex);
    return this.#claims.list.length - 1;
  }

  /** Nothing has happened since that could help: claims and nodes only fill up, and what topology counts is unchanged. */
  #isKnownInVain(search: Search): boolean {
    return search.searchedAt >= 0 && search.searchedAt === this.#stampOf(search);
  }

  #stampOf({ topology }: Search): number {
    const changes = this.#changes + this.#reservations.version;
    return topology === undefined ? changes : changes + this.#narrowings + versionOf(topology);
  }

  #placeOnNode(pod: number, podClass: PodClass, search: Search): boolean {
    const { length } = this.#nodes.list;
    if (search.nextNode === length) return false;
    if (search.refusedNodes.length === 0) search.refusedNodes = new Int32Array((length + 31) >>> 5);
    const node = this.#nodes.find(search, podClass.requests);
    if (node < 0) return false;
    this.#nodes.add(node, pod, podClass.requests, search);
    this.#topology.recordOnNode(podClass.marks, node);
    return true;
  }

  #placeOnClaim(pod: number, podClass: PodClass, search: Search): boolean {
    const gate = this.#gateFor(search);
    gate?.begin(search);
    const claim = this.#claims.find(search, podClass.requests, gate);
    if (claim < 0) return false;
    this.#commit(claim, pod, podClass, search, gate?.state ?? this.#claims.list[claim]!.state.after(search.constraint)!);
    return true;
  }

  /** S-98: the first template that takes the pod. What labels and room refuse once they refuse for good, because limits only shrink. */
  #placeOnNew(pod: number, podClass: PodClass, search: Search): boolean {
    const { shape, requests } = podClass;
    const { constraint, closed } = search;
    const gate = this.#gateFor(search);
    gate?.begin(search);
    search.isDeferred = false;
    for (let index = 0; index < this.#templates.length; index++) {
      const template = this.#templates[index]!;
      if (closed[index] !== undefined) continue;
      const allowed = template.limits?.allowed();
      const state = template.root.after(constraint);
      if (state === null || !hasRoom(state, template, allowed, this.#noUse, 0, requests)) {
        closed[index] = refusalOf(template, { shape, constraint, requests });
        continue;
      }
      const candidate = newCandidate(template, allowed);
      if (gate !== undefined) {
        const isAlone = search.topology === undefined || allowsNewHost(search.topology);
        const verdict = isAlone ? gate.ask(candidate, state, search, { requests, used: this.#noUse, at: 0, isNew: true }) : NOT_NOW;
        if (verdict === NEVER) closed[index] = [gateRefusal(candidate, state, search, requests)];
        if (verdict !== TAKES && isAlone && gate.isDeferred) {
          // S-170: lighter pools are not for a pod that a heavier one would take later.
          search.isDeferred = true;
          return false;
        }
        if (verdict !== TAKES) continue;
      }
      this.#open(pod, podClass, search, candidate, gate?.state ?? state);
      return true;
    }
    return false;
  }

  #open(pod: number, podClass: PodClass, search: Search, candidate: Candidate, state: ClaimState): void {
    const { template, allowed } = candidate;
    const { requests } = podClass;
    const isGated = this.#gateFor(search) !== undefined;
    const types = isGated ? this.#gate.allowed : allowed;
    if (template.limits !== undefined) template.limits.charge(chargeOf(template, template.limits, state, types, requests));
    const isRelaxed = isGated && this.#gate.isRelaxed;
    const claim = this.#claims.open({
      template,
      allowed: types,
      state: template.root,
      hostPorts: NO_PORTS,
      attachments: NO_ATTACHMENTS,
      held: NO_RESERVATIONS,
      uncounted: undefined,
      openKeys: NO_KEYS,
      isRelaxed,
      pods: [],
    });
    this.#commit(claim, pod, podClass, search, state);
    this.#changes++;
  }

  /** undefined when labels and room decide alone. */
  #gateFor({ topology, hostPorts, volumes }: Search): ClaimGate | undefined {
    return topology === undefined && hostPorts === undefined && volumes === undefined && !this.#isAlwaysGated ? undefined : this.#gate;
  }

  #commit(claim: number, pod: number, { requests, marks }: PodClass, search: Search, admitted: ClaimState): void {
    const entry = this.#claims.list[claim]!;
    const before = entry.state;
    if (search.hostPorts !== undefined) entry.hostPorts = [...entry.hostPorts, ...search.hostPorts];
    if (search.volumes !== undefined) entry.attachments = joined(entry.attachments, search.volumes.attachments);
    if (this.#gateFor(search) !== undefined) {
      entry.allowed = this.#gate.allowed;
      if (this.#isAlwaysGated) this.#reservations.hold(this.#gate.held, entry.held);
      entry.held = this.#gate.held;
    }
    const state = decidedOn(entry, this.#claims.usedBy(claim), marks.keys, requests, admitted);
    this.#claims.add(claim, pod, requests, state);
    const { taints } = entry.template;
    const waiting = this.#topology.recordOnClaim(marks, claim, state.requirements, taints);
    if (waiting !== undefined) entry.uncounted = entry.uncounted === undefined ? waiting : [...entry.uncounted, ...waiting];
    if (state === before) return;
    if (entry.uncounted !== undefined) entry.uncounted = this.#topology.decideOnClaim(entry.uncounted, state.requirements, taints);
    this.#narrowings++;
    this.#admitUndefined(claim, before, state);
  }

  /**
   * A pod that excludes a value of a label defines that label on its claim, and pods that ask for it may now join (S-40): the one
   * way in which a claim comes to take what it has refused.
   */
  #admitUndefined(claim: number, before: ClaimState, after: ClaimState): void {
    const defined = after.keysDefinedSince(before);
    if (defined.length === 0) return;
    for (const constraint of this.#classes.constraints) {
      if (defined.some((key) => constraint.requirements.find(key) !== undefined)) this.#claims.readmit(claim, constraint);
    }
    this.#changes++;
  }

  /** undefined for a pod that has a place. */
  #reasonsOf(pod: number): readonly Reason[] | undefined {
    if (this.#isLeftOver[pod] === 0) return this.#reasons[pod];
    const podClass = classOf(pod, this.#classes);
    if (podClass.searches.some(({ isDeferred }) => isDeferred)) return WAITS_FOR_RESERVATION;
    const search = podClass.searches.at(-1)!;
    search.reasons ??=
      this.#templates.length === 0 ? this.#droppedPools.map(({ reason }) => reason) : refusalsOf(podClass, search, this.#templates);
    return search.reasons;
  }

  #plan(): Plan {
    const { pods, options } = this.#problem;
    const { newNodes, existingNodes, dropped } = placesOf(this.view, pods, options.instanceTypesMax);
    for (const [pod, reason] of dropped) this.#reasons[pod] = [reason];
    const unschedulable: Plan["unschedulable"][number][] = [];
    for (let pod = 0; pod < pods.length; pod++) {
      const reasons = this.#reasonsOf(pod);
      if (reasons !== undefined) unschedulable.push({ pod: pods[pod]!.key, reasons });
    }
    unschedulable.sort((a, b) => compareTexts(a.pod, b.pod));
    return { newNodes, existingNodes, unschedulable, droppedPools: this.#droppedPools };
  }
}
