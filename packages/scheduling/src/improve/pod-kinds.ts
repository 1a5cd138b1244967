/**
 * Groups whose pods can stand for each other: of equal size, welcome in the same spaces, and different at most in whom they keep away from
 * their nodes (replicas of one database and of another). To the program of patterns they are one row: with one for each, it would have to learn
 * of every group what it knows of the others.
 */
import { remembered } from "../memo.ts";
import { addItem, type Bin, copyOf } from "./packing.ts";
import type { PackingModel } from "./packing-model.ts";

export class PodKinds {
  readonly #model: PackingModel;
  readonly kindOfGroup: Int32Array;
  /** By kind. */
  readonly members: readonly (readonly number[])[];
  /** By kind: how many pods of one group a node may have; 0 where that depends on pods of other kinds. */
  readonly #mostOfGroup: Float64Array;

  constructor(model: PackingModel) {
    this.#model = model;
    const byKey = new Map<string, number[]>();
    const users = bondUsers(model);
    for (const [group, place] of placeTexts(model).entries()) {
      const { requests, width, spotTypesNeeded } = model;
      const size = requests.subarray(group * width, (group + 1) * width).join();
      remembered(byKey, `${size}|${place}|${spotTypesNeeded[group]}|${bondsText(model, group, users)}`, () => []).push(group);
    }
    this.members = [...byKey.values()];
    this.kindOfGroup = new Int32Array(model.groups.length);
    for (const [kind, groups] of this.members.entries()) for (const group of groups) this.kindOfGroup[group] = kind;
    this.#mostOfGroup = Float64Array.from(this.members, ([group]) => {
      let most = Number.POSITIVE_INFINITY;
      for (const bond of model.bonds[group!]!) {
        if (users.get(bond.group)! > 1) most = 0;
        else if (bond.isAsked && bond.isCounted) most = Math.min(most, Math.max(1, bond.most));
      }
      return most;
    });
  }

  get count(): number {
    return this.members.length;
  }

  /** Does it depend on its own group alone how many pods of it a node may have? */
  isFree(kind: number): boolean {
    return this.#mostOfGroup[kind]! > 0;
  }

  /** Pods of the kind that could be on one node together. */
  availableOf(kind: number, remaining: Int32Array): number {
    const most = this.#mostOfGroup[kind]!;
    let sum = 0;
    for (const group of this.members[kind]!) sum += Math.min(most, remaining[group]!);
    return sum;
  }

  /** Pods of the kind: of the groups that have the most left, so that none is left with more pods than nodes. */
  put(items: number[], kind: number, count: number, remaining: Int32Array): void {
    const groups = this.members[kind]!;
    const most = this.#mostOfGroup[kind]!;
    let left = count;
    const order = groups.length === 1 ? groups : groups.toSorted((one, other) => remaining[other]! - remaining[one]! || one - other);
    for (const group of order) {
      const part = Math.min(left, most, remaining[group]!);
      if (part > 0) addItem(items, group, part);
      left -= part;
    }
  }

  /** A node of pods like those of the given one, as far as such pods remain. */
  like(bin: Bin, remaining: Int32Array): Bin {
    const { width, requests } = this.#model;
    const like = copyOf(bin);
    like.items = [];
    const counts = new Map<number, number>();
    for (let at = 0; at < bin.items.length; at += 2) {
      const group = bin.items[at]!;
      const kind = this.kindOfGroup[group]!;
      if (this.isFree(kind)) counts.set(kind, (counts.get(kind) ?? 0) + bin.items[at + 1]!);
      else {
        const count = Math.min(bin.items[at + 1]!, remaining[group]!);
        if (count > 0) like.items.push(group, count);
      }
    }
    for (const [kind, count] of counts) this.put(like.items, kind, Math.min(count, this.availableOf(kind, remaining)), remaining);
    like.load.fill(0);
    for (let at = 0; at < like.items.length; at += 2) {
      for (let r = 0; r < width; r++) like.load[r] = like.load[r]! + requests[like.items[at]! * width + r]! * like.items[at + 1]!;
    }
    return like;
  }
}

function bondUsers({ bonds }: PackingModel): ReadonlyMap<number, number> {
  const users = new Map<number, number>();
  for (const ofGroup of bonds) for (const { group } of ofGroup) users.set(group, (users.get(group) ?? 0) + 1);
  return users;
}

/** Bonds that no other group has are told by their kind alone. */
function bondsText({ bonds }: PackingModel, of: number, users: ReadonlyMap<number, number>): string {
  return bonds[of]!.map(
    ({ group, most, isAsked, isCounted }) =>
      `${users.get(group) === 1 ? `own ${most}` : group}${isAsked ? "a" : ""}${isCounted ? "c" : ""}`,
  ).join();
}

function placeTexts({ groups, spaces }: PackingModel): readonly string[] {
  const lists: number[][] = groups.map(() => []);
  for (const [space, { groups: members }] of spaces.entries()) for (const group of members) lists[group]!.push(space);
  return lists.map((list) => list.join());
}
