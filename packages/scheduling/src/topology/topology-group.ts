/**
 * Pods that constrain where other pods, or they themselves, may go along one label: how many there are in each domain, and which
 * domains one more pod may take. Rules S-128, S-140, S-144…S-152.
 */
import { remembered } from "../memo.ts";
import { nodeLabel } from "../requirements/node-labels.ts";
import { Requirement } from "../requirements/requirement.ts";
import type { PodSelector } from "./label-selector.ts";
import type { NodeFilter } from "./node-filter.ts";

type TopologyKind = "topology-spread" | "pod-affinity" | "pod-anti-affinity";

/** What makes groups of different pods one (S-129); minDomains and tolerations too, so that no pod decides for another. */
export interface GroupIdentity {
  readonly kind: TopologyKind;
  /** Anti-affinity as seen by those that are kept away: counted are the pods that keep away (S-153). */
  readonly isInverse: boolean;
  readonly key: string;
  /** undefined = all. */
  readonly namespaces: ReadonlySet<string> | undefined;
  readonly selector: PodSelector;
  readonly maxSkew: number;
  readonly minDomains: number;
  readonly filter: NodeFilter | undefined;
}

export interface Asking {
  /** The pod's strict requirement for the key, or where its spread looks for the smallest count; undefined = any. */
  readonly pod: Requirement | undefined;
  /** Would the pod be counted by the group that it asks? */
  readonly isCounted: boolean;
  /** Of affinity: where the pod could be by any of its terms, not only the one that is tried; undefined = anywhere. */
  readonly reach?: Requirement | undefined;
}

/** @param isAlone the domain is chosen, not one of several that are left open */
type IsToBeHad = (domain: Requirement, isAlone: boolean) => boolean;

export class TopologyGroup {
  readonly identity: GroupIdentity;
  /** Grows with every count, so that what was found at the same version still holds. */
  version = 0;
  /** Placed in this solve where more than one domain was still possible: they will be in one later (S-141). */
  undecided = 0;
  /** Of a node without the label, which is in no domain (S-142). */
  readonly absence: Requirement;
  /** Known domains, sorted, and how many pods are in each. */
  #domains: string[];
  #counts: number[];
  readonly #answers = new Map<string, Requirement>();

  constructor(identity: GroupIdentity, domains: readonly string[]) {
    this.identity = identity;
    this.absence = Requirement.of({ key: identity.key, operator: "DoesNotExist" });
    this.#domains = [...domains];
    this.#counts = domains.map(() => 0);
  }

  selectsIn(namespace: string): boolean {
    return this.identity.namespaces?.has(namespace) ?? true;
  }

  /** A node has the value, with or without pods (S-133). */
  know(domain: string): void {
    this.#indexOf(domain);
  }

  count(domain: string, pods: number): void {
    const index = this.#indexOf(domain);
    this.#counts[index] = this.#counts[index]! + pods;
    this.version++;
  }

  /** For messages. */
  get counts(): ReadonlyMap<string, number> {
    return new Map(this.#domains.map((domain, index) => [domain, this.#counts[index]!]));
  }

  /**
   * Where on a node that may still have any of `node`'s values one more pod may go; undefined = nowhere (S-142).
   * @param isToBeHad could the node be made there at all? What cannot be is neither chosen nor left open (S-141)
   */
  allowed(asking: Asking, node: Requirement | undefined, isToBeHad: IsToBeHad): Requirement | undefined {
    switch (this.identity.kind) {
      case "topology-spread":
        return this.#leastCrowded(asking, node, isToBeHad);
      case "pod-affinity":
        return this.#company(asking, node, isToBeHad);
      case "pod-anti-affinity":
        return this.#answer(this.#those(false, asking.pod, node), isToBeHad);
    }
  }

  /**
   * May one more pod go to a node with these labels? Without the label a node is in no domain (S-142): nobody can be with others there,
   * and nobody has to be kept away from others.
   */
  allowsNode(asking: Asking, labels: Readonly<Record<string, string>>): boolean {
    const domain = nodeLabel(labels, this.identity.key);
    return domain === undefined ? this.identity.kind === "pod-anti-affinity" : this.allowsAt(asking, domain);
  }

  /** May one more pod go to a node that has this value, where `uncounted` more of those that a spread counts are on the node? */
  allowsAt(asking: Asking, domain: string, uncounted = 0): boolean {
    const index = this.#domains.indexOf(domain);
    if (index < 0) return false;
    const count = this.#counts[index]!;
    switch (this.identity.kind) {
      case "topology-spread":
        return count + uncounted + Number(asking.isCounted) - this.#floor(asking.pod) <= this.identity.maxSkew;
      case "pod-affinity":
        return has(asking.pod, domain) && (count > 0 || this.#mayBegin(asking));
      case "pod-anti-affinity":
        return count === 0 && has(asking.pod, domain);
    }
  }

  /** S-145: one domain, the emptiest that is to be had, then the first by name. */
  #leastCrowded({ pod, isCounted }: Asking, node: Requirement | undefined, isToBeHad: IsToBeHad): Requirement | undefined {
    const most = this.#floor(pod) + this.identity.maxSkew - Number(isCounted);
    let passed: number[] | undefined;
    for (;;) {
      let best = -1;
      for (let index = 0; index < this.#domains.length; index++) {
        const count = this.#counts[index]!;
        if (count > most || (best >= 0 && count >= this.#counts[best]!) || passed?.includes(index)) continue;
        if (has(node, this.#domains[index]!)) best = index;
      }
      const domain = this.#only(best);
      if (domain === undefined || isToBeHad(domain, true)) return domain;
      passed ??= [];
      passed.push(best);
    }
  }

  /** S-144. */
  #floor(pod: Requirement | undefined): number {
    let least = Number.POSITIVE_INFINITY;
    let supported = 0;
    for (let index = 0; index < this.#domains.length; index++) {
      if (!has(pod, this.#domains[index]!)) continue;
      supported++;
      if (this.#counts[index]! < least) least = this.#counts[index]!;
    }
    return supported < this.identity.minDomains ? 0 : least;
  }

  /** S-149, S-150. */
  #company(asking: Asking, node: Requirement | undefined, isToBeHad: IsToBeHad): Requirement | undefined {
    const { pod } = asking;
    const inhabited = this.#those(true, pod, node);
    if (inhabited.length > 0 || !this.#mayBegin(asking)) return this.#answer(inhabited, isToBeHad);
    for (let index = 0; index < this.#domains.length; index++) {
      if (!has(pod, this.#domains[index]!) || !has(node, this.#domains[index]!)) continue;
      const domain = this.#only(index)!;
      if (isToBeHad(domain, true)) return domain;
    }
    return undefined;
  }

  /** Domains with pods, or those without, that both sides allow. */
  #those(isInhabited: boolean, pod: Requirement | undefined, node: Requirement | undefined): readonly number[] {
    const found: number[] = [];
    for (let index = 0; index < this.#domains.length; index++) {
      const domain = this.#domains[index]!;
      if (this.#counts[index]! > 0 === isInhabited && has(pod, domain) && has(node, domain)) found.push(index);
    }
    return found;
  }

  /**
   * S-150: the first of pods that want each other; each part of the world that they are bound to has a first one. Not while it is undecided
   * where others are: they will be together in a later solve.
   */
  #mayBegin({ reach, isCounted }: Asking): boolean {
    if (!isCounted || this.undecided > 0) return false;
    for (let index = 0; index < this.#domains.length; index++) {
      if (this.#counts[index]! > 0 && has(reach, this.#domains[index]!)) return false;
    }
    return true;
  }

  #answer(domains: readonly number[], isToBeHad: IsToBeHad): Requirement | undefined {
    if (domains.length < 2) return this.#only(domains[0] ?? -1);
    const left = domains.filter((index) => isToBeHad(this.#only(index)!, false));
    if (left.length < 2) return this.#only(left[0] ?? -1);
    const names = left.map((index) => this.#domains[index]!);
    return remembered(this.#answers, names.join(), () => Requirement.in(this.identity.key, ...names));
  }

  #only(index: number): Requirement | undefined {
    if (index < 0) return undefined;
    const domain = this.#domains[index]!;
    let answer = this.#answers.get(domain);
    if (answer === undefined) {
      answer = Requirement.in(this.identity.key, domain);
      this.#answers.set(domain, answer);
    }
    return answer;
  }

  #indexOf(domain: string): number {
    const known = this.#domains.indexOf(domain);
    if (known >= 0) return known;
    const after = this.#domains.findIndex((other) => other > domain);
    const index = after < 0 ? this.#domains.length : after;
    this.#domains.splice(index, 0, domain);
    this.#counts.splice(index, 0, 0);
    return index;
  }
}

function has(requirement: Requirement | undefined, domain: string): boolean {
  return requirement === undefined || requirement.has(domain);
}
