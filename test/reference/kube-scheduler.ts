/**
 * The filters of kube-scheduler, word by word and without a cache: would it bind this pod to this node, with the other pods where they
 * are now? Sources: the documentation and behaviour of the plugins TaintToleration, NodeAffinity, NodePorts, NodeResourcesFit,
 * NodeVolumeLimits, VolumeBinding, PodTopologySpread and InterPodAffinity.
 */
import type { LabelSelector, PodAffinityTerm, Resources, Taint, TopologySpreadConstraint } from "@joinery/api";
import type { HostPort, PodShape, Problem } from "@joinery/scheduling";
import { isEnough, minus, sum } from "./amounts.ts";
import type { FaultKind } from "./fault.ts";
import { isSelectedBy, isToleratedBy, type Labels, selects } from "./labels.ts";
import { areReachable, isWithinVolumeLimits } from "./volumes.ts";

export interface KubeNode {
  readonly name: string;
  readonly labels: Labels;
  readonly taints: readonly Taint[];
  /** What pods that are not bound yet may have. */
  readonly room: Resources;
  readonly volumeLimits: Readonly<Record<string, number>>;
  /** It takes no pods and will be gone: it counts where pods are, but is no place to spread to. */
  readonly isLeaving?: boolean;
  /** Labels of which a planned node's NodePool allows any value, where the node has one that nobody listed (S-131, S-182). */
  readonly madeUp?: ReadonlySet<string>;
  /** Labels for which the plan leaves a node several values. */
  readonly undecided?: ReadonlySet<string>;
  /** The pods that a plan has for the new node: any of them may have decided a label. */
  readonly deciders?: readonly PodShape[];
}

export interface BoundPod {
  readonly key: string;
  readonly shape: PodShape;
  readonly node: KubeNode;
  /** Its requests are still to be taken from the node's room. */
  readonly isNew: boolean;
  /** On its way out: it still holds ports and volumes and keeps others away, but nobody counts it. */
  readonly isEnding: boolean;
}

/** What a spread counts. */
export interface Sight {
  readonly hasNode: (node: KubeNode) => boolean;
  readonly hasPod: (pod: BoundPod) => boolean;
}

const EVERYTHING: Sight = { hasNode: () => true, hasPod: () => true };

export class KubeScheduler {
  readonly #problem: Problem;
  readonly #nodes: readonly KubeNode[];
  readonly #byName: ReadonlyMap<string, KubeNode>;
  readonly #pods: BoundPod[];

  constructor(problem: Problem, nodes: readonly KubeNode[], bound: readonly BoundPod[]) {
    this.#problem = problem;
    this.#nodes = nodes;
    this.#byName = new Map(nodes.map((node) => [node.name, node]));
    this.#pods = [...bound];
  }

  get nodes(): readonly KubeNode[] {
    return this.#nodes;
  }

  nodeNamed(name: string): KubeNode {
    return this.#byName.get(name)!;
  }

  bind(key: string, shape: PodShape, node: KubeNode): void {
    this.#pods.push({ key, shape, node, isNew: true, isEnding: false });
  }

  /** What keeps the pod off the node; undefined: it would be bound. */
  refusal(shape: PodShape, node: KubeNode): FaultKind | undefined {
    const there = this.#pods.filter((pod) => pod.node.name === node.name);
    const shapes = there.map((pod) => pod.shape);
    const placed = there.filter(({ isNew }) => isNew).map((pod) => pod.shape.requests);
    if (!isToleratedBy(shape, node.taints)) return "taints";
    if (!isSelectedBy(shape, node.labels)) return "node-selector";
    if (shapes.some((other) => doPortsClash(shape.hostPorts, other.hostPorts))) return "host-port";
    if (!isEnough(minus(node.room, sum(placed)), shape.requests)) return "resources";
    if (!areReachable(shape, node.labels, this.#problem)) return "volume-place";
    if (!isWithinVolumeLimits([...shapes, shape], [shape], node.volumeLimits, this.#problem)) return "volume-limit";
    if (this.brokenSpreads(shape, node).length > 0) return "spread";
    if (!this.#hasCompany(shape, node)) return "affinity";
    if (this.#meetsEnemies(shape, node)) return "anti-affinity";
    return undefined;
  }

  /** PodTopologySpread: the hard ones that one more pod on the node would break. */
  brokenSpreads(shape: PodShape, node: KubeNode): readonly TopologySpreadConstraint[] {
    return hardSpreads(shape).filter((spread) => !this.keepsSkew(spread, shape, node));
  }

  /** `seen` leaves pods and nodes out of the count, as if they were not there. */
  keepsSkew(spread: TopologySpreadConstraint, shape: PodShape, node: KubeNode, seen: Sight = EVERYTHING): boolean {
    const { topologyKey, maxSkew, minDomains = 1 } = spread;
    const own = node.labels[topologyKey];
    if (own === undefined) return false;
    const hasAllKeys = ({ labels }: KubeNode) => hardSpreads(shape).every(({ topologyKey: key }) => labels[key] !== undefined);
    const isMeant = (other: PodShape) => other.namespace === shape.namespace && isSpreadOver(spread, shape, other);
    const counts = new Map<string, number>();
    for (const place of this.#nodes) {
      if (!hasAllKeys(place) || !isIncluded(spread, shape, place) || !seen.hasNode(place)) continue;
      const there = this.#pods.filter((pod) => pod.node.name === place.name && !pod.isEnding && seen.hasPod(pod));
      const pods = there.filter((pod) => isMeant(pod.shape)).length;
      if (place.isLeaving && pods === 0) continue;
      const domain = place.labels[topologyKey]!;
      counts.set(domain, (counts.get(domain) ?? 0) + pods);
    }
    const least = counts.size < minDomains ? 0 : Math.min(...counts.values());
    return (counts.get(own) ?? 0) + Number(isMeant(shape)) - least <= maxSkew;
  }

  /** InterPodAffinity: the pods that are wanted match every term, and somebody is in the node's domain of each. */
  #hasCompany(shape: PodShape, node: KubeNode): boolean {
    const terms = shape.affinity?.podAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? [];
    if (terms.length === 0) return true;
    if (terms.some(({ topologyKey }) => node.labels[topologyKey] === undefined)) return false;
    const company = this.companyOf(shape);
    if (terms.every(({ topologyKey }) => company.some(({ labels }) => labels[topologyKey] === node.labels[topologyKey]))) return true;
    // The first of pods that want each other.
    const isAlone = !company.some(({ labels }) => terms.some(({ topologyKey }) => labels[topologyKey] !== undefined));
    return isAlone && this.isWanted(shape, shape);
  }

  /** The nodes of the pods that it wants. */
  companyOf(shape: PodShape): readonly KubeNode[] {
    return this.#pods.filter((pod) => !pod.isEnding && this.isWanted(shape, pod.shape)).map(({ node }) => node);
  }

  /** Those that the spread counts. */
  countedBy(spread: TopologySpreadConstraint, owner: PodShape): readonly BoundPod[] {
    return this.#pods.filter((pod) => pod.shape.namespace === owner.namespace && isSpreadOver(spread, owner, pod.shape));
  }

  isWanted(by: PodShape, other: PodShape): boolean {
    const terms = by.affinity?.podAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? [];
    return terms.every((term) => this.#means(term, by, other));
  }

  /** InterPodAffinity, both ways. */
  #meetsEnemies(shape: PodShape, node: KubeNode): boolean {
    const shares = (other: KubeNode, key: string) => node.labels[key] !== undefined && node.labels[key] === other.labels[key];
    return this.#pods.some(
      (pod) =>
        (!pod.isEnding && antiTerms(shape).some((term) => shares(pod.node, term.topologyKey) && this.#means(term, shape, pod.shape))) ||
        antiTerms(pod.shape).some((term) => shares(pod.node, term.topologyKey) && this.#means(term, pod.shape, shape)),
    );
  }

  #means({ labelSelector, namespaces = [], namespaceSelector }: PodAffinityTerm, owner: PodShape, other: PodShape): boolean {
    if (!selects(labelSelector, other.labels)) return false;
    if (namespaceSelector === undefined && namespaces.length === 0) return owner.namespace === other.namespace;
    return namespaces.includes(other.namespace) || this.#selectsNamespace(namespaceSelector, other.namespace);
  }

  #selectsNamespace(selector: LabelSelector | undefined, namespace: string): boolean {
    if (selector === undefined) return false;
    const { matchLabels = {}, matchExpressions = [] } = selector;
    if (Object.keys(matchLabels).length + matchExpressions.length === 0) return true;
    const labels = this.#problem.namespaces?.get(namespace);
    return labels !== undefined && selects(selector, labels);
  }
}

export function hardSpreads({ topologySpreadConstraints = [] }: PodShape): readonly TopologySpreadConstraint[] {
  return topologySpreadConstraints.filter(({ whenUnsatisfiable }) => whenUnsatisfiable === "DoNotSchedule");
}

function antiTerms({ affinity }: PodShape): readonly PodAffinityTerm[] {
  return affinity?.podAntiAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? [];
}

/** Labels that the owner has and names in matchLabelKeys must be equal; without a selector nobody is meant. */
export function isSpreadOver({ labelSelector, matchLabelKeys = [] }: TopologySpreadConstraint, owner: PodShape, other: PodShape): boolean {
  const keys = matchLabelKeys.filter((key) => owner.labels[key] !== undefined);
  return (
    selects(keys.length > 0 ? (labelSelector ?? {}) : labelSelector, other.labels) &&
    keys.every((key) => owner.labels[key] === other.labels[key])
  );
}

/** Node inclusion policies: by default, nodes that the pod selects, whatever their taints. */
function isIncluded({ nodeAffinityPolicy, nodeTaintsPolicy }: TopologySpreadConstraint, shape: PodShape, node: KubeNode): boolean {
  if (nodeAffinityPolicy !== "Ignore" && !isSelectedBy(shape, node.labels)) return false;
  return nodeTaintsPolicy !== "Honor" || isToleratedBy(shape, node.taints);
}

export function doPortsClash(one: readonly HostPort[] = [], other: readonly HostPort[] = []): boolean {
  const isAny = (ip: string) => ip === "0.0.0.0" || ip === "::";
  return one.some((a) =>
    other.some((b) => a.port === b.port && a.protocol === b.protocol && (a.ip === b.ip || isAny(a.ip) || isAny(b.ip))),
  );
}
