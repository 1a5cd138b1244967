/**
 * The same along the hostname, where each node is a domain of its own and a fresh one can always be had. Nodes and claims are
 * numbers here, and what is full is kept as a set of bits, which a search for a claim leaves out a word at a time.
 * Rules S-134, S-144, S-146, S-151, S-152.
 */
import { ClaimSet } from "../claim-set.ts";
import type { GroupIdentity } from "./topology-group.ts";

export class HostnameGroup {
  readonly identity: GroupIdentity;
  version = 0;
  /** By claim, of a spread with a maxSkew above 1; where it is 1, and of the other kinds, the sets below tell all that matters. */
  readonly #claimCounts = new Map<number, number>();
  /** By existing node. */
  readonly #nodeCounts: number[] = [];
  /** In all, nodes that leave included. */
  #total = 0;
  /** Claims with at least `maxSkew` pods, more than that, and any. */
  readonly #full = new ClaimSet();
  readonly #over = new ClaimSet();
  readonly #inhabited = new ClaimSet();

  constructor(identity: GroupIdentity) {
    this.identity = identity;
  }

  selectsIn(namespace: string): boolean {
    return this.identity.namespaces?.has(namespace) ?? true;
  }

  countOnClaim(claim: number): void {
    this.#total++;
    this.version++;
    if (this.identity.kind !== "topology-spread") {
      this.#inhabited.add(claim);
      return;
    }
    const count = this.identity.maxSkew === 1 ? Number(this.#full.has(claim)) + 1 : this.#countUp(claim);
    if (count === this.identity.maxSkew) this.#full.add(claim);
    else if (count === this.identity.maxSkew + 1) this.#over.add(claim);
  }

  #countUp(claim: number): number {
    const count = (this.#claimCounts.get(claim) ?? 0) + 1;
    this.#claimCounts.set(claim, count);
    return count;
  }

  /** −1: a node that takes no pods. */
  countOnNode(node: number, pods: number): void {
    if (node >= 0) this.#nodeCounts[node] = (this.#nodeCounts[node] ?? 0) + pods;
    this.#total += pods;
    this.version++;
  }

  /** Claims that may not take one more pod; undefined where `companions` tells. */
  closedTo(isCounted: boolean): ClaimSet | undefined {
    switch (this.identity.kind) {
      case "topology-spread":
        return isCounted ? this.#full : this.#over;
      case "pod-anti-affinity":
        return this.#inhabited;
      case "pod-affinity":
        return undefined;
    }
  }

  /** The only claims that may take one more pod; undefined where `closedTo` tells, or all may. */
  companions(isCounted: boolean): ClaimSet | undefined {
    return this.identity.kind !== "pod-affinity" || this.#mayBegin(isCounted) ? undefined : this.#inhabited;
  }

  allowsNode(node: number, isCounted: boolean): boolean {
    return this.#allows(this.#nodeCounts[node] ?? 0, isCounted);
  }

  allowsClaim(claim: number, isCounted: boolean): boolean {
    return this.#allows(this.#claimCounts.get(claim) ?? 0, isCounted);
  }

  allowsNewClaim(isCounted: boolean): boolean {
    return this.#allows(0, isCounted);
  }

  /** For messages: how many pods there are. */
  get total(): number {
    return this.#total;
  }

  #allows(count: number, isCounted: boolean): boolean {
    switch (this.identity.kind) {
      case "topology-spread":
        return count + Number(isCounted) <= this.identity.maxSkew;
      case "pod-affinity":
        return count > 0 || this.#mayBegin(isCounted);
      case "pod-anti-affinity":
        return count === 0;
    }
  }

  #mayBegin(isCounted: boolean): boolean {
    return isCounted && this.#total === 0;
  }
}
