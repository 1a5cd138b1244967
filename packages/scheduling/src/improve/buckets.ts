/**
 * Groups that are scored together. As long as there are few groups each is by itself; with more of them similar ones share a bucket, or
 * pods that all differ would be looked at one by one for every node. Requests are never rounded: only the order in which pods are taken
 * becomes coarser.
 */
import { remembered } from "../memo.ts";
import type { PackingModel } from "./packing-model.ts";

export interface Buckets {
  readonly count: number;
  /** Groups by bucket, within one the largest first. */
  readonly order: Int32Array;
  /** Bucket i is `order[starts[i]]` to before `order[starts[i + 1]]`. */
  readonly starts: Int32Array;
  readonly bucketOfGroup: Int32Array;
}

const SINGLE_GROUPS_MAX = 300;
/** Requests of a bucket differ by less than this factor, √e. */
const SIZE_FACTOR = 1.6487212707001282;

export function bucketsOf(model: PackingModel): Buckets {
  const { groups, requests, width } = model;
  const count = groups.length;
  const byKey = new Map<string | number, number[]>();
  const welcome = count <= SINGLE_GROUPS_MAX ? [] : welcomeTexts(model);
  for (let group = 0; group < count; group++) {
    const key = count <= SINGLE_GROUPS_MAX ? group : `${sizeText(model, group)} ${welcome[group]} ${bondsText(model, group)}`;
    remembered(byKey, key, () => []).push(group);
  }
  const buckets = [...byKey.values()];
  const sizes = Float64Array.from(groups, (_, group) => {
    let size = 0;
    for (let r = 0; r < width; r++) size += requests[group * width + r]! / (model.totals[r]! || 1);
    return size;
  });
  for (const bucket of buckets) bucket.sort((a, b) => sizes[b]! - sizes[a]! || a - b);
  const bucketOfGroup = new Int32Array(count);
  const starts = new Int32Array(buckets.length + 1);
  for (const [index, bucket] of buckets.entries()) {
    starts[index + 1] = starts[index]! + bucket.length;
    for (const group of bucket) bucketOfGroup[group] = index;
  }
  return { count: buckets.length, order: Int32Array.from(buckets.flat()), starts, bucketOfGroup };
}

function sizeText({ requests, width, spotTypesNeeded }: PackingModel, group: number): string {
  let text = `${spotTypesNeeded[group]}`;
  for (let r = 0; r < width; r++) {
    const request = requests[group * width + r]!;
    text += request > 0 ? ` ${sizeClass(request)}` : " -";
  }
  return text;
}

/** What they have to do with others on a node; how many of each may come is asked group by group. */
function bondsText({ bonds }: PackingModel, group: number): string {
  return bonds[group]!.map(({ group: bond, isAsked, isCounted }) => `${bond}${isAsked ? "a" : ""}${isCounted ? "c" : ""}`).join();
}

/** By multiplication, which is the same on every machine; a logarithm need not be. */
function sizeClass(request: number): number {
  let count = 0;
  for (let bound = SIZE_FACTOR; bound <= request; bound *= SIZE_FACTOR) count++;
  return count;
}

/** Which spaces each group may come into. */
function welcomeTexts({ groups, spaces }: PackingModel): readonly string[] {
  const lists: number[][] = groups.map(() => []);
  for (const [space, { groups: members }] of spaces.entries()) for (const group of members) lists[group]!.push(space);
  return lists.map((list) => list.join());
}
