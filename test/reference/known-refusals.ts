/**
 * Where the specification asks for a placement that kube-scheduler refuses, rule by rule. The checker looks past exactly these; each is
 * kept because a rule, or the scenario that goes with it, demands it by name.
 */
import type { TopologySpreadConstraint } from "@joinery/api";
import type { PodShape } from "@joinery/scheduling";
import type { FaultKind } from "./fault.ts";
import type { BoundPod, KubeNode, KubeScheduler } from "./kube-scheduler.ts";
import { meets } from "./labels.ts";

/** Does a rule ask for the pod on this node although kube-scheduler refuses it there? */
export function isKnownRefusal(refusal: FaultKind, shape: PodShape, node: KubeNode, scheduler: KubeScheduler): boolean {
  if (refusal === "affinity") return wantsNobody(shape) || beginsAnew(shape, node, scheduler);
  return refusal === "spread" && scheduler.brokenSpreads(shape, node).every((spread) => isUnforeseen(spread, shape, node, scheduler));
}

/**
 * Would the spread hold without what the solver cannot know when it places the pod: pods whose domain was open then, and domains that
 * nobody had named? Those that were open in another domain may have been decided, and counted there, by then.
 */
function isUnforeseen(spread: TopologySpreadConstraint, shape: PodShape, node: KubeNode, scheduler: KubeScheduler): boolean {
  const { topologyKey } = spread;
  const late = new Set([...undecidedPods(spread, shape, scheduler), ...besideLateFirst(spread, shape, scheduler)]);
  const hasNode = (place: KubeNode) => place === node || !hasUnknownValue(place, topologyKey);
  const isHere = (pod: BoundPod) => pod.node.labels[topologyKey] === node.labels[topologyKey];
  return [late, new Set([...late].filter(isHere))].some((overlooked) =>
    scheduler.keepsSkew(spread, shape, node, { hasNode, hasPod: (pod) => !overlooked.has(pod) }),
  );
}

/**
 * S-140, S-141, S-150: the first of pods that want each other has to be bound before the others, but while the domain of its new node is
 * open it is counted nowhere, nor are others there. A pod that comes to that node later may decide for a domain in which others have been
 * spread since. Nothing else forces the order: a pod that may be bound after those that are spread is in nobody's way.
 */
function besideLateFirst(spread: TopologySpreadConstraint, shape: PodShape, scheduler: KubeScheduler): readonly BoundPod[] {
  const { topologyKey } = spread;
  const counted = scheduler.countedBy(spread, shape);
  const nodes = counted.flatMap(({ shape: first, node, isNew }) => {
    const isFirst = isNew && wantsItsOwn(first, scheduler) && !decides(first, topologyKey);
    return isFirst && node.deciders?.some((other) => decides(other, topologyKey)) ? [node] : [];
  });
  return counted.filter(({ node, isNew }) => isNew && nodes.includes(node));
}

function wantsItsOwn(shape: PodShape, scheduler: KubeScheduler): boolean {
  const terms = shape.affinity?.podAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? [];
  return terms.length > 0 && scheduler.isWanted(shape, shape);
}

/** Does it take one more constraint along the label, of its own, of its volumes or of other pods, to have it there? */
function decides({ topologySpreadConstraints = [], affinity, nodeSelector = {}, claimNames = [] }: PodShape, key: string): boolean {
  const wanted = affinity?.podAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? [];
  const unwanted = affinity?.podAntiAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? [];
  return (
    key in nodeSelector ||
    claimNames.length > 0 ||
    [...topologySpreadConstraints, ...wanted, ...unwanted].some(({ topologyKey }) => topologyKey === key)
  );
}

/**
 * S-139…S-141: pods on new nodes for which the plan leaves several domains, or open whether the spread looks at them at all, are not
 * counted in any ("late commitment"). In a world where such a node comes to be where the spread has put others, there is one too many.
 */
export function undecidedPods(spread: TopologySpreadConstraint, shape: PodShape, scheduler: KubeScheduler): readonly BoundPod[] {
  const looked = spread.nodeAffinityPolicy === "Ignore" ? [spread.topologyKey] : [spread.topologyKey, ...mentionedLabels(shape)];
  return scheduler.countedBy(spread, shape).filter(({ node }) => looked.some((key) => node.undecided?.has(key)));
}

function mentionedLabels({ nodeSelector = {}, affinity }: PodShape): readonly string[] {
  const terms = affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms ?? [];
  return [...Object.keys(nodeSelector), ...terms.flatMap(({ matchExpressions = [] }) => matchExpressions.map(({ key }) => key))];
}

/**
 * S-131, S-182: a spread along a label for which a NodePool allows any value. The value that a new node is given in the end is a
 * domain that nobody knew while pods were spread.
 */
export function hasUnknownValue({ madeUp }: KubeNode, topologyKey: string): boolean {
  return madeUp?.has(topologyKey) ?? false;
}

/**
 * S-137: required affinity without a selector. To kube-scheduler it means nobody, so the pod waits for ever; the listing of what runs
 * counts every pod of the namespace, so a node is made beside them.
 */
function wantsNobody({ affinity }: PodShape): boolean {
  const terms = affinity?.podAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? [];
  return terms.some(({ labelSelector }) => labelSelector === undefined);
}

/**
 * S-150: pods that want each other and are pinned to different domains begin in each of them ("2 pods pinned to z2 and z3: two nodes"),
 * and along each label by itself. To kube-scheduler only the very first of them in the cluster may be alone.
 */
function beginsAnew(shape: PodShape, node: KubeNode, scheduler: KubeScheduler): boolean {
  const terms = shape.affinity?.podAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? [];
  if (!scheduler.isWanted(shape, shape)) return false;
  const company = scheduler.companyOf(shape);
  return terms.every(({ topologyKey }) => {
    const domains = company.flatMap(({ labels }) => labels[topologyKey] ?? []);
    return domains.includes(node.labels[topologyKey]!) || !domains.some((domain) => isAllowed(shape, topologyKey, domain));
  });
}

/** By what the pod itself says of the label. */
export function isAllowed({ nodeSelector = {}, affinity }: PodShape, key: string, value: string): boolean {
  if ((nodeSelector[key] ?? value) !== value) return false;
  const terms = affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms;
  // An empty term means no node.
  const agrees = ({ matchExpressions = [], matchFields = [] }: NonNullable<typeof terms>[number]) =>
    matchExpressions.length + matchFields.length > 0 && matchExpressions.every((item) => item.key !== key || meets(item, { [key]: value }));
  return terms?.some(agrees) ?? true;
}
