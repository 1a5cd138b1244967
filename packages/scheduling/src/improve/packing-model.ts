/**
 * What of a problem decides its price, as numbers: groups of equal pods, and spaces in which they can be together. A space is a pool
 * in one state of its requirements, a node that exists, or a node that keeps some pods of the greedy plan. Groups are admitted to a
 * space only where they leave its state as it is, so that whatever is put together there can be together.
 */
import type { TypeSet } from "../catalog/type-set.ts";
import { remembered } from "../memo.ts";
import type { Problem } from "../problem.ts";
import { nodeLabel } from "../requirements/node-labels.ts";
import type { ClaimState } from "../solve/claim-state.ts";
import { hasRoom } from "../solve/room.ts";
import type { Solver } from "../solve/solve.ts";
import { isUsable, type Template } from "../solve/template.ts";
import { type Columns, columnsOf, Offer, TYPES_COUNTED_MAX } from "./columns.ts";
import type { Improvement } from "./improvement.ts";
import { type HostBond, isBound, type PodGroup } from "./pod-groups.ts";
import type { Refillable } from "./refillable.ts";

type SpaceSite =
  | { readonly kind: "pool"; readonly template: Template }
  /** With `least` no pod has to stay there, but as much (`refillable.ts`). */
  | { readonly kind: "claim"; readonly template: Template; readonly least: Float64Array | undefined }
  | { readonly kind: "node"; readonly index: number };

interface Space {
  readonly site: SpaceSite;
  readonly columns: Columns;
  /** Groups that may come in, ascending. */
  readonly groups: Int32Array;
}

export interface PackingModel {
  /** Resources. */
  readonly width: number;
  readonly groups: readonly PodGroup[];
  /** Row i: what a pod of group i asks for. */
  readonly requests: Float64Array;
  readonly sizes: Int32Array;
  /** By resource: what all pods ask for. */
  readonly totals: Float64Array;
  /** Spot types that a node with a pod of the group has to list: as many as are wanted, or 0 where not even the pod alone allows so many. */
  readonly spotTypesNeeded: Uint8Array;
  readonly bonds: readonly (readonly HostBond[])[];
  readonly spaces: readonly Space[];
  /** Nodes that are there from the beginning: those that exist, and those that keep pods. */
  readonly givenBins: readonly { readonly space: number; readonly groups: readonly number[] }[];
}

/** More spaces per pool are not combined from those that single groups need. */
const COMBINED_SPACES_MAX = 32;
/** With more pairs of groups and spaces, a space admits only its own groups and those without any wish. */
const PAIRS_MAX = 20_000;

/** @param pristine a solver of the same problem that has not placed anything */
export function packingModel(
  problem: Problem,
  greedy: Solver,
  pristine: Solver,
  groups: readonly PodGroup[],
  improvement: Improvement,
  open: readonly Refillable[] = [],
): PackingModel {
  return new ModelBuilder(problem, greedy, pristine, groups, improvement).build(open);
}

/** Groups that any space admits or refuses alike. */
interface Ask {
  readonly group: PodGroup;
  readonly members: number[];
}

class ModelBuilder {
  readonly #greedy: Solver;
  readonly #pristine: Solver;
  readonly #groups: readonly PodGroup[];
  readonly #improvement: Improvement;
  readonly #width: number;
  /** Those that can have nodes. */
  readonly #templates: readonly Template[];
  readonly #asks: Ask[] = [];
  readonly #askOfGroup: Ask[] = [];
  readonly #templatesOfGroup: readonly Template[][];
  readonly #columns = new Map<string, { readonly columns: Columns; readonly offer: Offer }>();
  readonly #numbers = new Map<object, number>();
  readonly #nodeUsdPerHour: ReadonlyMap<string, number>;
  readonly #spaces: Space[] = [];
  readonly #needed: Uint8Array;
  readonly #givenBins: { space: number; groups: number[] }[] = [];

  constructor(problem: Problem, greedy: Solver, pristine: Solver, groups: readonly PodGroup[], improvement: Improvement) {
    this.#greedy = greedy;
    this.#pristine = pristine;
    this.#groups = groups;
    this.#improvement = improvement;
    this.#templates = pristine.allTemplates.filter(isUsable);
    this.#width = pristine.axis.length;
    this.#nodeUsdPerHour = new Map(problem.pools.map((offer) => [offer.nodePool.metadata?.name ?? "", nodeUsdPerHour(offer, improvement)]));
    const asks = new Map<string, Ask>();
    for (const [index, group] of groups.entries()) {
      const text = `${group.search.constraint.index} ${pinsText(group)} ${group.undecidedKeys.join()}`;
      const ask = remembered(asks, text, () => ({ group, members: [] }));
      ask.members.push(index);
      this.#askOfGroup.push(ask);
    }
    this.#asks = [...asks.values()];
    this.#templatesOfGroup = groups.map((group) => this.#poolsFor(group));
    this.#needed = Uint8Array.from(groups, (group, index) => this.#spotTypesNeeded(group, index));
  }

  build(open: readonly Refillable[]): PackingModel {
    for (const template of this.#templates) this.#addPoolSpaces(template);
    for (const refillable of open) this.#addRefillable(refillable);
    this.#addClaims();
    this.#addNodes();
    const requests = new Float64Array(this.#groups.length * this.#width);
    for (const [index, { podClass }] of this.#groups.entries()) requests.set(podClass.requests, index * this.#width);
    const totals = new Float64Array(this.#width);
    for (const { podClass, pods } of this.#groups)
      for (let r = 0; r < this.#width; r++) totals[r] = totals[r]! + podClass.requests[r]! * pods.length;
    return {
      totals,
      width: this.#width,
      groups: this.#groups,
      requests,
      sizes: Int32Array.from(this.#groups, ({ pods }) => pods.length),
      spotTypesNeeded: this.#needed,
      bonds: this.#groups.map(({ bonds }) => bonds),
      spaces: this.#spaces,
      givenBins: this.#givenBins,
    };
  }

  /** The heaviest pools that take a pod of the group and whose limits do not bind; pools of one weight are equally good. */
  #poolsFor(group: PodGroup): Template[] {
    const pools: Template[] = [];
    let weight: number | undefined;
    for (const template of this.#templates) {
      const ownWeight = template.nodePool.spec.weight ?? 0;
      if (weight !== undefined && ownWeight < weight) break;
      const state = stateFor(group, template.root);
      const noUse = new Float64Array(this.#width);
      if (state === undefined || !hasRoom(state, template, template.limits?.allowed(), noUse, 0, group.podClass.requests)) continue;
      pools.push(template);
      if (!this.#isBound(template)) weight = ownWeight;
    }
    return pools;
  }

  #isBound({ index }: Template): boolean {
    return isBound(this.#greedy.allTemplates[index]!);
  }

  #spotTypesNeeded({ podClass }: PodGroup, index: number): number {
    const { spotTypesMin } = this.#improvement;
    for (const template of this.#templatesOfGroup[index]!) {
      const state = stateFor(this.#groups[index]!, template.root);
      const { offer } = this.#columnsFor(state!, template, undefined);
      // To list all of a few types, every node would have to be the smallest.
      if (offer.hasSpot && offer.spotTypesWith(podClass.requests, 0) < spotTypesMin) return 0;
    }
    return spotTypesMin;
  }

  #addPoolSpaces(template: Template): void {
    if (this.#isBound(template)) return;
    const asks = this.#asks.filter(({ members }) =>
      members.some((index) => this.#groups[index]!.home === undefined && this.#templatesOfGroup[index]!.includes(template)),
    );
    const states = new Set<ClaimState>();
    for (const { group } of asks) {
      const state = stateFor(group, template.root);
      if (state !== undefined) states.add(state);
    }
    const areFew = states.size * asks.length <= PAIRS_MAX;
    if (areFew) combine(states, asks);
    for (const state of states) {
      const welcome = asks.filter(({ group }) => {
        const own = areFew ? stateFor(group, state) : stateFor(group, template.root);
        return isUndecided(group, state) && (own === state || (!areFew && own === template.root));
      });
      const groups = this.#membersOf(welcome, template);
      const { columns } = this.#columnsFor(state, template, template.limits?.allowed());
      if (groups.length > 0 && columns.count > 0) this.#spaces.push({ site: { kind: "pool", template }, columns, groups });
    }
  }

  #membersOf(asks: readonly Ask[], template: Template): Int32Array {
    const members = asks.flatMap((ask) =>
      ask.members.filter((index) => this.#groups[index]!.home === undefined && this.#templatesOfGroup[index]!.includes(template)),
    );
    return Int32Array.from(members).sort();
  }

  /** Claims of the greedy plan that keep pods and may take others. */
  #addClaims(): void {
    for (const [index, residents] of this.#residentsBy("claim")) {
      const claim = this.#greedy.view.claims.list[index]!;
      const template = this.#pristine.allTemplates[claim.template.index]!;
      let state: ClaimState | undefined = template.root;
      for (const group of residents) state = state && stateFor(this.#groups[group]!, state);
      if (state === undefined) continue;
      const settled = state;
      const groups = this.#membersOf(
        this.#asks.filter(({ group }) => stateFor(group, settled) === settled && isUndecided(group, settled)),
        template,
      );
      const { columns } = this.#columnsFor(settled, template, claim.allowed);
      if (groups.length === 0 || !this.#isHeld(residents, columns)) continue;
      this.#givenBins.push({ space: this.#spaces.length, groups: residents });
      this.#spaces.push({ site: { kind: "claim", template, least: undefined }, columns, groups });
    }
  }

  /** A claim that keeps its place in the pool's limits, and nothing else. */
  #addRefillable({ claim, least }: Refillable): void {
    const template = this.#pristine.allTemplates[claim.template.index]!;
    const asks = this.#asks.filter(({ group }) => stateFor(group, template.root) === template.root && isUndecided(group, template.root));
    const groups = this.#membersOf(asks, template);
    const { columns } = this.#columnsFor(template.root, template, claim.allowed);
    if (groups.length === 0 || columns.count === 0) return;
    this.#givenBins.push({ space: this.#spaces.length, groups: [] });
    this.#spaces.push({ site: { kind: "claim", template, least }, columns, groups });
  }

  /** Does some column hold them? They list as many types as the best of those does. */
  #isHeld(residents: readonly number[], { count, rooms, spotTypes }: Columns): boolean {
    const load = new Float64Array(this.#width);
    for (const group of residents) {
      const { podClass, pods } = this.#groups[group]!;
      for (let r = 0; r < this.#width; r++) load[r] = load[r]! + podClass.requests[r]! * pods.length;
    }
    let most = -1;
    for (let column = 0; column < count; column++) {
      if (load.every((amount, r) => amount <= rooms[column * this.#width + r]!)) most = Math.max(most, spotTypes[column]!);
    }
    for (const group of residents) this.#needed[group] = Math.min(this.#needed[group]!, Math.max(0, most));
    return most >= 0;
  }

  #addNodes(): void {
    const residentsBy = this.#residentsBy("node");
    for (const [index, { node }] of this.#pristine.view.nodes.list.entries()) {
      const rooms = this.#pristine.view.nodes.remainingOf(index);
      const groups: number[] = [];
      for (const [number, group] of this.#groups.entries()) {
        const isOpen =
          group.home === undefined &&
          this.#pristine.view.nodes.takes(index, group.search, group.podClass.requests) &&
          group.pins.every(({ key, values }) => nodeLabel(node.labels, key) === values[0]) &&
          group.undecidedKeys.every((key) => nodeLabel(node.labels, key) === undefined);
        if (isOpen) groups.push(number);
      }
      if (groups.length === 0) continue;
      this.#givenBins.push({ space: this.#spaces.length, groups: residentsBy.get(index) ?? [] });
      this.#spaces.push({
        site: { kind: "node", index },
        columns: { count: 1, rooms: rooms.slice(), prices: new Float64Array(1), spotTypes: Uint8Array.of(TYPES_COUNTED_MAX) },
        groups: Int32Array.from(groups),
      });
    }
  }

  #residentsBy(kind: "claim" | "node"): Map<number, number[]> {
    const residents = new Map<number, number[]>();
    for (const [index, { home }] of this.#groups.entries()) {
      if (home?.kind === kind) remembered(residents, home.index, () => []).push(index);
    }
    return residents;
  }

  #columnsFor(state: ClaimState, template: Template, allowed: TypeSet | undefined) {
    // Pools that see the same types with the same DaemonSets share them.
    const sources = [template.catalog, ...template.room].map((source) => remembered(this.#numbers, source, () => this.#numbers.size));
    const price = this.#nodeUsdPerHour.get(template.name)!;
    const key = [sources.join(), price, state.variants.join(), state.kinds.join(), allowed?.join() ?? ""].join(" ");
    return remembered(this.#columns, key, () => {
      const offer = new Offer(state, template, allowed);
      const wish = { nodeUsdPerHour: price, spotTypesMin: this.#improvement.spotTypesMin };
      return { offer, columns: columnsOf(offer, wish) };
    });
  }
}

/** What a node of the pool costs beside its instance, USD per hour. */
export function nodeUsdPerHour({ rootVolumeUsdPerHour }: Problem["pools"][number], improvement: Improvement): number {
  return (rootVolumeUsdPerHour ?? improvement.rootVolumeUsdPerHour) + improvement.nodeOverheadUsdPerHour;
}

/** A state with a pod of the group; undefined where it does not go there. */
function stateFor({ search, pins }: PodGroup, state: ClaimState): ClaimState | undefined {
  let next = state.after(search.constraint);
  for (const pin of pins) next = next?.within(pin) ?? null;
  return next ?? undefined;
}

/** Pods that count along a label without being in a domain would be in one there. */
function isUndecided({ undecidedKeys }: PodGroup, { requirements }: ClaimState): boolean {
  return undecidedKeys.every((key) => requirements.find(key)?.listedValues?.length !== 1);
}

/** Adds states in which groups that narrow a pool differently can be together. */
function combine(states: Set<ClaimState>, asks: readonly Ask[]): void {
  const most = states.size + COMBINED_SPACES_MAX;
  for (const state of states) {
    for (const { group } of asks) {
      if (states.size >= most) return;
      const next = stateFor(group, state);
      if (next !== undefined) states.add(next);
    }
  }
}

function pinsText({ pins }: PodGroup): string {
  return pins.map(({ key, values }) => `${key}=${values.join()}`).join();
}
