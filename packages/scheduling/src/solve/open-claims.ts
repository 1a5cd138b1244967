/**
 * The new nodes of one solve while pods are still being added: which of them takes a pod next. Fewest pods first, then the oldest
 * (S-91). Numbers lie in flat arrays, and claims with equally many pods are a set of bits, as are those that refuse and those whose
 * state is welcome: a search combines summaries of words, then words, and asks only the claims that are left.
 */
import type { TypeSet } from "../catalog/type-set.ts";
import { ALL, ANY, BITS, BLOCK_WORDS, bitOf, ClaimSet } from "../claim-set.ts";
import type { HostPort } from "../problem.ts";
import type { TopologyDemand } from "../topology/topology.ts";
import type { Attachments } from "../volumes/volume-demand.ts";
import { type Candidate, type ClaimGate, type Load, NEVER, TAKES } from "./claim-gate.ts";
import type { ClaimState, Constraint } from "./claim-state.ts";
import { LabelRefusals } from "./label-refusals.ts";
import type { Search } from "./pod-classes.ts";
import { hasRoom } from "./room.ts";
import type { Template } from "./template.ts";

export interface OpenClaim {
  readonly template: Template;
  /** Types that the pool's limits allowed when the claim was opened, less those that its pods rule out; undefined = all (S-161). */
  allowed: TypeSet | undefined;
  state: ClaimState;
  /** Of its pods. */
  hostPorts: readonly HostPort[];
  attachments: Attachments;
  /** IDs of reservations. */
  held: ReadonlySet<string>;
  /** See `Candidate`. */
  uncounted: Candidate["uncounted"];
  /** Labels along which its pods are counted and the claim is not decided yet. */
  openKeys: readonly string[];
  /** Some key's minValues is lower than the pool's (S-98). */
  isRelaxed: boolean;
  /** Indexes of pods, in the order of placement. */
  readonly pods: number[];
}

/** With more states than this, claims are asked one by one. */
const STATES_MAX = 64;

/** Claims whose labels have become the same. */
interface Community {
  readonly state: ClaimState;
  readonly claims: ClaimSet;
  size: number;
}

const NO_AMOUNTS = new Float64Array(0);

export class OpenClaims {
  readonly list: OpenClaim[] = [];
  readonly #width: number;
  /** Per resource, the least that any pod of the solve asks for; a claim with less room is closed. */
  readonly #leastRequests: Float64Array;
  /** Row i: what the pods of claim i ask for. */
  #used: Float64Array;
  /** By number of pods: the claims that have so many and are not closed. */
  readonly #byPodCount: ClaimSet[] = [];
  /** By number of pods: how many claims those are. */
  readonly #sizes: number[] = [];
  /** The bit of n (`bitOf`): some claim that is not closed has n pods. */
  #counts = new Int32Array(4);
  /** For constraints that decide by state. */
  readonly #communities: Community[] = [];
  readonly #communityOf = new Map<ClaimState, Community>();
  readonly #labelRefusals: LabelRefusals;
  /** For one search: blocks of the sets that a claim must not be in, must be in, and must be in one of; each as many as counted. */
  readonly #noneOf: Int32Array[] = [];
  readonly #allOf: Int32Array[] = [];
  readonly #anyOf: Int32Array[] = [];
  #noneCount = 0;
  #allCount = 0;
  #anyCount = 0;
  #isAnyAsked = false;
  readonly #load: { -readonly [Field in keyof Load]: Load[Field] } = { requests: NO_AMOUNTS, used: NO_AMOUNTS, at: 0, isNew: false };

  /** @param requestRows what the pods of the solve ask for, each as wide as `width` */
  constructor(requestRows: readonly Float64Array[], constraints: readonly Constraint[], width: number) {
    this.#labelRefusals = new LabelRefusals(constraints);
    this.#width = width;
    this.#leastRequests = leastOf(requestRows, width);
    this.#used = new Float64Array(64 * this.#width);
  }

  usedBy(claim: number): Float64Array {
    return this.#used.subarray(claim * this.#width, (claim + 1) * this.#width);
  }

  open(claim: OpenClaim): number {
    const index = this.list.length;
    this.list.push(claim);
    if ((index + 1) * this.#width > this.#used.length) {
      const used = new Float64Array(this.#used.length * 2);
      used.set(this.#used);
      this.#used = used;
    }
    this.#enter(index, 0);
    return index;
  }

  /** The pod is on the claim, which is then in `state`. */
  add(claim: number, pod: number, requests: Float64Array, state: ClaimState): void {
    const entry = this.list[claim]!;
    const podCount = entry.pods.length;
    this.#leave(claim, podCount);
    if (podCount === 0 || state !== entry.state) {
      if (podCount > 0) this.#depart(claim, entry.state);
      this.#join(claim, state);
      this.#labelRefusals.note(claim, state);
    }
    entry.pods.push(pod);
    entry.state = state;
    const at = claim * this.#width;
    let isClosed = false;
    for (let r = 0; r < this.#width; r++) {
      const used = this.#used[at + r]! + requests[r]!;
      this.#used[at + r] = used;
      if (used + this.#leastRequests[r]! > state.mostRoom[r]!) isClosed = true;
    }
    if (!isClosed) this.#enter(claim, podCount + 1);
  }

  /**
   * The first claim that takes the pod and has not refused one like it, or −1; claims that refuse for good are remembered. With a
   * gate, what it lets through.
   */
  find(search: Search, requests: Float64Array, gate: ClaimGate | undefined): number {
    if (this.list.length === 0) return -1;
    const blockCount = ((this.list.length - 1) >>> 10) + 1;
    const byLabels = this.#labelRefusals.of(search.constraint, this.list.length);
    const refused = refusedTo(search);
    this.#noneCount = 0;
    this.#allCount = 0;
    this.#anyCount = 0;
    this.#isAnyAsked = false;
    this.#noneOf[this.#noneCount++] = byLabels.ensure(blockCount);
    if (refused !== undefined) this.#noneOf[this.#noneCount++] = refused.ensure(blockCount);
    if (search.topology !== undefined && gate !== undefined && !this.#consider(search, search.topology, gate, blockCount)) return -1;
    for (let podCount = this.#nextCount(0); podCount >= 0; podCount = this.#nextCount(podCount + 1)) {
      const blocks = this.#byPodCount[podCount]!.ensure(blockCount);
      for (let block = 0; block < blockCount; block++) {
        const base = block * BLOCK_WORDS;
        let places = this.#left(blocks[base + ANY]!, base + ANY, base + ALL);
        while (places !== 0) {
          const place = Math.clz32(places);
          places &= ~bitOf(place);
          const at = base + BITS + place;
          let candidates = this.#left(blocks[at]!, at, at);
          while (candidates !== 0) {
            const bit = Math.clz32(candidates);
            candidates &= ~bitOf(bit);
            const claim = (block << 10) | (place << 5) | bit;
            if (this.#takes(claim, search, requests, gate, byLabels, refused)) return claim;
          }
        }
      }
    }
    return -1;
  }

  /** Does this claim take the pod? The gate, if there is one, has then decided its state. */
  takes(claim: number, search: Search, requests: Float64Array, gate: ClaimGate | undefined): boolean {
    const entry = this.list[claim]!;
    const next = entry.state.after(search.constraint);
    const at = claim * this.#width;
    if (next === null || !hasRoom(next, entry.template, entry.allowed, this.#used, at, requests)) return false;
    if (!(search.topology?.hosts ?? []).every(({ group, isCounted }) => group.allowsClaim(claim, isCounted))) return false;
    return gate === undefined || gate.ask(entry, next, search, { requests, used: this.#used, at, isNew: false }) === TAKES;
  }

  /** A claim's labels have changed so that it may take what it has refused. */
  readmit(claim: number, constraint: Constraint): void {
    this.#labelRefusals.forget(claim, constraint);
  }

  /** What topology leaves to the pod, as far as sets can tell; the gate knows the rest. False when nothing is left. */
  #consider({ constraint, volumes }: Search, { domains, hosts }: TopologyDemand, gate: ClaimGate, blockCount: number): boolean {
    for (let index = 0; index < hosts.length; index++) {
      const { group, isCounted } = hosts[index]!;
      const closed = group.closedTo(isCounted);
      if (closed !== undefined) this.#noneOf[this.#noneCount++] = closed.ensure(blockCount);
      const companions = group.companions(isCounted);
      if (companions !== undefined) this.#allOf[this.#allCount++] = companions.ensure(blockCount);
    }
    // Each alternative of a volume is another state, and with many states asking the claims is cheaper.
    if (domains.length === 0 || volumes?.alternatives !== undefined || this.#communities.length > STATES_MAX) return true;
    this.#isAnyAsked = true;
    for (let index = 0; index < this.#communities.length; index++) {
      const { state, claims, size } = this.#communities[index]!;
      if (size === 0) continue;
      const next = state.after(constraint);
      if (next !== null && gate.admits(next)) this.#anyOf[this.#anyCount++] = claims.ensure(blockCount);
    }
    return this.#anyCount > 0;
  }

  /** Of the claims of one word, or of the words of one summary. Free of allocation; runs for every word that a search reads. */
  #left(among: number, at: number, noneAt: number): number {
    let left = among;
    for (let set = 0; set < this.#noneCount; set++) left &= ~this.#noneOf[set]![noneAt]!;
    for (let set = 0; set < this.#allCount; set++) left &= this.#allOf[set]![at]!;
    if (!this.#isAnyAsked || left === 0) return left;
    let any = 0;
    for (let set = 0; set < this.#anyCount; set++) any |= this.#anyOf[set]![at]!;
    return left & any;
  }

  #takes(
    claim: number,
    search: Search,
    requests: Float64Array,
    gate: ClaimGate | undefined,
    byLabels: ClaimSet,
    refused: ClaimSet | undefined,
  ): boolean {
    const entry = this.list[claim]!;
    const next = entry.state.after(search.constraint);
    if (next === null) {
      byLabels.add(claim);
      return false;
    }
    const at = claim * this.#width;
    if (!hasRoom(next, entry.template, entry.allowed, this.#used, at, requests)) {
      refused?.add(claim);
      return false;
    }
    if (gate === undefined) return true;
    this.#load.requests = requests;
    this.#load.used = this.#used;
    this.#load.at = at;
    const verdict = gate.ask(entry, next, search, this.#load);
    if (verdict === NEVER) refused?.add(claim);
    return verdict === TAKES;
  }

  #depart(claim: number, state: ClaimState): void {
    const community = this.#communityOf.get(state)!;
    community.claims.delete(claim);
    community.size--;
  }

  #join(claim: number, state: ClaimState): void {
    let community = this.#communityOf.get(state);
    if (community === undefined) {
      community = { state, claims: new ClaimSet(), size: 0 };
      this.#communityOf.set(state, community);
      this.#communities.push(community);
    }
    community.claims.add(claim);
    community.size++;
  }

  #enter(claim: number, podCount: number): void {
    while (this.#byPodCount.length <= podCount) {
      this.#byPodCount.push(new ClaimSet());
      this.#sizes.push(0);
    }
    this.#byPodCount[podCount]!.add(claim);
    this.#sizes[podCount] = this.#sizes[podCount]! + 1;
    if (podCount >>> 5 >= this.#counts.length) {
      const counts = new Int32Array((podCount >>> 5) + 8);
      counts.set(this.#counts);
      this.#counts = counts;
    }
    this.#counts[podCount >>> 5] = this.#counts[podCount >>> 5]! | bitOf(podCount);
  }

  #leave(claim: number, podCount: number): void {
    this.#byPodCount[podCount]!.delete(claim);
    const size = this.#sizes[podCount]! - 1;
    this.#sizes[podCount] = size;
    if (size === 0) this.#counts[podCount >>> 5] = this.#counts[podCount >>> 5]! & ~bitOf(podCount);
  }

  /** The smallest number of pods, not below `from`, that some claim has; −1 when there is none. */
  #nextCount(from: number): number {
    for (let word = from >>> 5; word < this.#counts.length; word++) {
      const bits = this.#counts[word]! & (word === from >>> 5 ? -1 >>> (from & 31) : -1);
      if (bits !== 0) return (word << 5) | Math.clz32(bits);
    }
    return -1;
  }
}

function refusedTo({ refusals }: Search): ClaimSet | undefined {
  if (refusals.wasAsked) refusals.claims ??= new ClaimSet();
  refusals.wasAsked = true;
  return refusals.claims;
}

function leastOf(rows: readonly Float64Array[], width: number): Float64Array {
  const least = new Float64Array(width).fill(Number.POSITIVE_INFINITY);
  for (const row of rows) for (let r = 0; r < width; r++) least[r] = Math.min(least[r]!, row[r]!);
  return least;
}
