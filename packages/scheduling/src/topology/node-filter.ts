/** Which nodes a topology spread looks at. Rule S-139. */
import { HOSTNAME_LABEL, normalizeLabel, type Taint, type Toleration, type TopologySpreadConstraint } from "@joinery/api";
import { remembered } from "../memo.ts";
import type { PodVariant } from "../pods/pod-variants.ts";
import type { PodSite } from "../problem.ts";
import { meetsRequirements, nodeLabel } from "../requirements/node-labels.ts";
import type { Requirement } from "../requirements/requirement.ts";
import type { Requirements } from "../requirements/requirements.ts";
import { keepingAway } from "../taints.ts";

export class NodeFilter {
  /** Equal for filters that decide alike. */
  readonly text: string;
  /** undefined: labels do not matter. */
  readonly #alternatives: readonly Requirements[] | undefined;
  /** undefined: taints do not matter. */
  readonly #tolerations: readonly Toleration[] | undefined;
  /** Labels that a node that is there has to have: those along which the pod's other spreads are. */
  readonly #keys: readonly string[];
  readonly #verdicts = new Map<Requirements, boolean>();
  readonly #possibilities = new Map<Requirements, boolean>();

  constructor({ alternatives, tolerations, spreads }: PodVariant, spread: TopologySpreadConstraint) {
    const { nodeAffinityPolicy, nodeTaintsPolicy } = spread;
    const isSelective = nodeAffinityPolicy !== "Ignore" && alternatives.every(({ size }) => size > 0);
    this.#alternatives = isSelective ? alternatives : undefined;
    this.#tolerations = nodeTaintsPolicy === "Honor" ? tolerations : undefined;
    this.#keys = otherKeys(spreads, spread);
    const terms = this.#alternatives?.map(({ canonicalText }) => canonicalText).join("|") ?? "";
    this.text = `${terms} ${this.#tolerations === undefined ? "" : JSON.stringify(this.#tolerations)} ${this.#keys.join()}`;
  }

  /** The pods' own tolerations, where taints matter. */
  get tolerations(): readonly Toleration[] | undefined {
    return this.#tolerations;
  }

  /** What the smallest count is looked for among (S-144). */
  domainsAlong(key: string): Requirement | undefined {
    return domainsAlong(this.#alternatives ?? [], key);
  }

  /** Are pods there counted? */
  countsOn(site: PodSite): boolean {
    return this.acceptsNode(site) && this.#keys.every((key) => nodeLabel(site.labels, key) !== undefined);
  }

  /** Is where it is a domain? */
  acceptsNode({ labels, taints }: PodSite): boolean {
    if (this.#isRepelled(taints)) return false;
    return this.#alternatives === undefined || this.#alternatives.some((wanted) => meetsRequirements(labels, wanted));
  }

  /** A node that is still to be, and might come to be one that the filter accepts. */
  mayAcceptClaim(requirements: Requirements, taints: readonly Taint[]): boolean {
    if (this.#isRepelled(taints)) return false;
    return this.#alternatives === undefined || verdict(this.#possibilities, requirements, this.#alternatives, mayMeet);
  }

  /** A node that is still to be: strict, as if what it requires were labels. */
  acceptsClaim(requirements: Requirements, taints: readonly Taint[]): boolean {
    if (this.#isRepelled(taints)) return false;
    return this.#alternatives === undefined || verdict(this.#verdicts, requirements, this.#alternatives, meets);
  }

  /** A taint that only prefers pods away is none to kube-scheduler here. */
  #isRepelled(taints: readonly Taint[]): boolean {
    return this.#tolerations !== undefined && keepingAway(taints, this.#tolerations).length > 0;
  }
}

/** kube-scheduler counts on no node that lacks a label along which the pod is spread; a Node always has a hostname. */
function otherKeys(spreads: readonly TopologySpreadConstraint[], own: TopologySpreadConstraint): readonly string[] {
  const hard = spreads.filter(({ whenUnsatisfiable }) => whenUnsatisfiable === "DoNotSchedule");
  if (!hard.includes(own)) return [];
  const keys = new Set(hard.map(({ topologyKey }) => normalizeLabel(topologyKey)));
  keys.delete(normalizeLabel(own.topologyKey));
  keys.delete(HOSTNAME_LABEL);
  return [...keys].sort();
}

/** Kept, because a claim's requirements stay the same for many pods. */
function verdict(
  known: Map<Requirements, boolean>,
  requirements: Requirements,
  alternatives: readonly Requirements[],
  holds: (requirements: Requirements, wanted: Requirements) => boolean,
): boolean {
  return remembered(known, requirements, () => alternatives.some((wanted) => holds(requirements, wanted)));
}

function meets(requirements: Requirements, wanted: Requirements): boolean {
  return requirements.isCompatible(wanted);
}

function mayMeet(requirements: Requirements, wanted: Requirements): boolean {
  return requirements.intersects(wanted);
}

/** In which domains along a label one of the alternatives can be met; undefined = any. */
export function domainsAlong(alternatives: readonly Requirements[], key: string): Requirement | undefined {
  const [first, ...others] = alternatives.map((wanted) => wanted.find(key));
  return others.reduce((either, other) => other && either?.union(other), first);
}
