/** One change to a pod's template or to a NodePool that might give the pod a place: as data, as text, and made. */
import {
  type Affinity,
  formatAmount,
  isEqualJson,
  type NodePool,
  type NodeSelectorRequirement,
  type PodAffinityTerm,
  type Toleration,
  type TopologySpreadConstraint,
} from "@joinery/api";
import type { RequirementItem } from "../instance-type.ts";
import { remembered } from "../memo.ts";
import type { HostPort, PodShape, Problem } from "../problem.ts";
import { hostPortText } from "../solve/host-ports.ts";
import { itemText } from "./item-text.ts";

/** To the template of the pod's owner. */
export type PodEdit =
  | { readonly kind: "add-tolerations"; readonly tolerations: readonly Toleration[] }
  /** The toleration at the index. */
  | { readonly kind: "toleration"; readonly index: number; readonly from: Toleration; readonly to: Toleration }
  /** In place of the entry `key`; without `to` the entry goes. */
  | { readonly kind: "node-selector"; readonly key: string; readonly to?: { readonly key: string; readonly value: string } }
  /** The required node-affinity term and the expression in it; without `to` it goes. */
  | {
      readonly kind: "node-affinity";
      readonly term: number;
      readonly expression: number;
      readonly key: string;
      readonly to?: NodeSelectorRequirement;
      /** Nothing is left of one of several terms, which would select no node, so that all of them go. */
      readonly isAll?: true;
    }
  | { readonly kind: "lower-request"; readonly resource: string; readonly from: number; readonly to: number }
  | { readonly kind: "rename-resource"; readonly from: string; readonly to: string }
  /** The topology spread at the index. */
  | { readonly kind: "spread"; readonly index: number; readonly from: TopologySpreadConstraint; readonly to: TopologySpreadConstraint }
  /** The required term at the index; without `to` it becomes a preference. */
  | {
      readonly kind: "pod-term";
      readonly side: "podAffinity" | "podAntiAffinity";
      readonly index: number;
      readonly from: PodAffinityTerm;
      readonly to?: PodAffinityTerm;
    }
  | { readonly kind: "free-host-ports"; readonly ports: readonly HostPort[] };

export type PoolEdit =
  | { readonly kind: "raise-limit"; readonly nodePool: string; readonly resource: string; readonly from: number; readonly to: number }
  /** `requirements` is the whole list as it becomes. */
  | {
      readonly kind: "pool-requirement";
      readonly nodePool: string;
      readonly from?: RequirementItem;
      readonly to?: RequirementItem;
      readonly requirements: readonly RequirementItem[];
    };

/** To the template of other pods, which keep this one away. */
export interface OthersEdit {
  readonly kind: "others-term";
  /** Which pods those are. */
  readonly of: Pick<PodShape, "namespace" | "labels">;
  /** Of their required anti-affinity terms; without `to` it becomes a preference. */
  readonly index: number;
  readonly from: PodAffinityTerm;
  readonly to?: PodAffinityTerm;
}

export type Edit = PodEdit | PoolEdit | OthersEdit;

/** An imperative sentence without a full stop. */
export function editText(edit: Edit): string {
  switch (edit.kind) {
    case "add-tolerations":
      return `add a toleration for ${edit.tolerations.map(tolerationText).join(" and ")}`;
    case "toleration":
      return tolerationEditText(edit);
    case "node-selector":
      if (edit.to === undefined) return `remove ${edit.key} from the node selector`;
      return `write ${edit.to.key}: ${edit.to.value} in the node selector${edit.to.key === edit.key ? "" : ` instead of ${edit.key}`}`;
    case "node-affinity":
      if (edit.isAll === true) return `remove all terms of the required node affinity, of which one has only the expression on ${edit.key}`;
      if (edit.to === undefined) return `remove the expression on ${edit.key} from the required node affinity`;
      return `write ${itemText(edit.to)} in the required node affinity`;
    case "lower-request":
      return `lower the ${edit.resource} request of the pod from ${formatAmount(edit.resource, edit.from)} to ${formatAmount(edit.resource, edit.to)}`;
    case "rename-resource":
      return `ask for ${edit.to} instead of ${edit.from}`;
    case "spread":
      return spreadEditText(edit);
    case "pod-term":
      return podTermText(edit);
    case "free-host-ports":
      return `do without the host port ${edit.ports.map(hostPortText).join(", ")}`;
    case "raise-limit":
      return `raise the ${edit.resource} limit of NodePool ${edit.nodePool} from ${formatAmount(edit.resource, edit.from)} to ${formatAmount(edit.resource, edit.to)}`;
    case "pool-requirement":
      return poolRequirementText(edit);
    case "others-term":
      return `${podTermText({ ...edit, side: "podAntiAffinity" })} of the pods ${labelsText(edit.of)}, which keeps this pod away, and replace those that run`;
  }
}

/** Several edits that only help together. */
export function editsText(edits: readonly Edit[]): string {
  return edits.map(editText).join(", and ");
}

function tolerationText({ key = "", value, effect }: Toleration): string {
  return `${key}${value === undefined ? "" : `=${value}`}:${effect ?? ""}`;
}

function tolerationEditText({ from, to }: Extract<Edit, { kind: "toleration" }>): string {
  const changed = (["key", "value", "effect"] as const).filter((field) => from[field] !== to[field]);
  const text = changed.map((field) => `${field}: ${to[field] ?? '""'} instead of ${from[field] ?? '""'}`).join(" and ");
  return `write ${text} in the toleration of ${from.key}`;
}

function labelsText({ namespace, labels }: OthersEdit["of"]): string {
  const pairs = Object.entries(labels).map(([key, value]) => `${key}=${value}`);
  return `with ${pairs.join(",") || "no labels"} in ${namespace}`;
}

function spreadEditText({ from, to }: Extract<Edit, { kind: "spread" }>): string {
  const which = `in the topology spread over ${from.topologyKey}`;
  if (to.topologyKey !== from.topologyKey) return `write topologyKey: ${to.topologyKey} ${which}`;
  if (to.maxSkew !== from.maxSkew) return `write maxSkew: ${to.maxSkew} instead of ${from.maxSkew} ${which}`;
  if (to.whenUnsatisfiable !== from.whenUnsatisfiable) return `write whenUnsatisfiable: ${to.whenUnsatisfiable} ${which}`;
  if (to.nodeAffinityPolicy !== from.nodeAffinityPolicy) return `write nodeAffinityPolicy: ${to.nodeAffinityPolicy} ${which}`;
  if (to.nodeTaintsPolicy !== from.nodeTaintsPolicy) return `write nodeTaintsPolicy: ${to.nodeTaintsPolicy} ${which}`;
  return to.minDomains === undefined
    ? `remove minDomains ${which}`
    : `write minDomains: ${to.minDomains} instead of ${from.minDomains} ${which}`;
}

function podTermText({ side, from, to }: Pick<Extract<Edit, { kind: "pod-term" }>, "side" | "from" | "to">): string {
  const which = `the required ${side === "podAffinity" ? "pod affinity" : "pod anti-affinity"} over ${from.topologyKey}`;
  if (to === undefined) return `make a preference of ${which}`;
  if (to.topologyKey !== from.topologyKey) return `write topologyKey: ${to.topologyKey} in ${which}`;
  if (to.namespaces !== from.namespaces) {
    const instead = from.namespaceSelector === undefined ? "" : " instead of the namespaceSelector";
    return `write namespaces: [${(to.namespaces ?? []).join(" ")}]${instead} in ${which}`;
  }
  const [name, now, before] =
    to.namespaceSelector === from.namespaceSelector
      ? ["labelSelector", to.labelSelector, from.labelSelector]
      : ["namespaceSelector", to.namespaceSelector, from.namespaceSelector];
  const pairs = Object.entries(now?.matchLabels ?? {}).filter(([key, value]) => before?.matchLabels?.[key] !== value);
  return `write ${pairs.map(([key, value]) => `${key}: ${value}`).join(", ")} in the ${name} of ${which}`;
}

function poolRequirementText({ nodePool, from, to }: Extract<Edit, { kind: "pool-requirement" }>): string {
  const which = `the requirements of NodePool ${nodePool}`;
  if (to === undefined) return `remove ${itemText(from!)} from ${which}`;
  if (from !== undefined && from.minValues !== to.minValues) {
    const less = to.minValues === undefined ? "remove minValues" : `write minValues: ${to.minValues} instead of ${from.minValues}`;
    return `${less} for ${to.key} in ${which}`;
  }
  return from === undefined ? `add ${itemText(to)} to ${which}` : `write ${itemText(to)} instead of ${itemText(from)} in ${which}`;
}

/** The problem in which the pods of these keys, or the pool, are as the edits say, one after the other. */
export function edited(problem: Problem, edits: readonly Edit[], mine: ReadonlySet<string>): Problem {
  return edits.reduce((changed, edit) => editedOnce(changed, edit, mine), problem);
}

function editedOnce(problem: Problem, edit: Edit, mine: ReadonlySet<string>): Problem {
  if (edit.kind === "raise-limit" || edit.kind === "pool-requirement") {
    const pools = problem.pools.map((offer) =>
      offer.nodePool.metadata?.name === edit.nodePool ? { ...offer, nodePool: editedPool(offer.nodePool, edit) } : offer,
    );
    return { ...problem, pools };
  }
  if (edit.kind === "others-term") return withOthers(problem, edit);
  const shapes = new Map<PodShape, PodShape>();
  const pods = problem.pods.map((pod) =>
    mine.has(pod.key) ? { ...pod, shape: remembered(shapes, pod.shape, () => editedShape(pod.shape, edit)) } : pod,
  );
  return { ...problem, pods };
}

function withOthers(problem: Problem, edit: OthersEdit): Problem {
  const shapes = new Map<PodShape, PodShape>();
  const change = <T extends { readonly shape: PodShape }>(pod: T): T =>
    isMeant(pod.shape, edit) ? { ...pod, shape: remembered(shapes, pod.shape, () => withOthersTerm(pod.shape, edit)) } : pod;
  return { ...problem, pods: problem.pods.map(change), ...(problem.boundPods && { boundPods: problem.boundPods.map(change) }) };
}

/** Are these the pods that the edit is about? */
export function isMeant({ namespace, labels, affinity }: Pick<PodShape, "namespace" | "labels" | "affinity">, edit: OthersEdit): boolean {
  const term = affinity?.podAntiAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.[edit.index];
  return term !== undefined && namespace === edit.of.namespace && isEqualJson(labels, edit.of.labels) && isEqualJson(term, edit.from);
}

function withOthersTerm(shape: PodShape, edit: OthersEdit): PodShape {
  return { ...shape, affinity: editedPodTerms(shape.affinity ?? {}, { ...edit, side: "podAntiAffinity" }) };
}

function editedPool(nodePool: NodePool, edit: PoolEdit): NodePool {
  const { spec } = nodePool;
  if (edit.kind === "raise-limit")
    return { ...nodePool, spec: { ...spec, limits: { ...spec.limits, [edit.resource]: formatAmount(edit.resource, edit.to) } } };
  // Items come from the pool itself or have the operators that both kinds share.
  const requirements = edit.requirements as typeof spec.template.spec.requirements;
  return { ...nodePool, spec: { ...spec, template: { ...spec.template, spec: { ...spec.template.spec, requirements } } } };
}

function editedShape(shape: PodShape, edit: PodEdit): PodShape {
  switch (edit.kind) {
    case "add-tolerations":
      return { ...shape, tolerations: [...shape.tolerations, ...edit.tolerations] };
    case "toleration":
      return { ...shape, tolerations: shape.tolerations.map((one, at) => (at === edit.index ? edit.to : one)) };
    case "node-selector":
      return { ...shape, nodeSelector: editedSelector(shape.nodeSelector ?? {}, edit) };
    case "node-affinity":
      return { ...shape, affinity: editedAffinity(shape.affinity ?? {}, edit) };
    case "lower-request":
      return { ...shape, requests: { ...shape.requests, [edit.resource]: edit.to } };
    case "rename-resource": {
      const { [edit.from]: amount = 0, ...rest } = shape.requests;
      return { ...shape, requests: { ...rest, [edit.to]: amount } };
    }
    case "spread":
      return { ...shape, topologySpreadConstraints: editedSpreads(shape.topologySpreadConstraints ?? [], edit) };
    case "pod-term":
      return { ...shape, affinity: editedPodTerms(shape.affinity ?? {}, edit) };
    case "free-host-ports": {
      const { hostPorts = [], ...rest } = shape;
      const left = hostPorts.filter((port) => !edit.ports.includes(port));
      return left.length === 0 ? rest : { ...rest, hostPorts: left };
    }
  }
}

function editedSelector(selector: Readonly<Record<string, string>>, { key, to }: Extract<Edit, { kind: "node-selector" }>) {
  const { [key]: _, ...rest } = selector;
  return to === undefined ? rest : { ...rest, [to.key]: to.value };
}

/** For the pod's template too, whose list has the same form. */
export function editedSpreads(
  spreads: readonly TopologySpreadConstraint[],
  { index, to }: Extract<Edit, { kind: "spread" }>,
): readonly TopologySpreadConstraint[] {
  return spreads.map((spread, at) => (at === index ? to : spread));
}

/** For the pod's template too. A required term that becomes a preference gets the greatest weight. */
export function editedPodTerms(affinity: Affinity, edit: Omit<Extract<Edit, { kind: "pod-term" }>, "kind">): Affinity {
  const { side, index, from, to } = edit;
  const { requiredDuringSchedulingIgnoredDuringExecution: required = [], ...rest } = affinity[side] ?? {};
  const terms = required.flatMap((term, at) => (at !== index ? [term] : to === undefined ? [] : [to]));
  const preferred = [...(rest.preferredDuringSchedulingIgnoredDuringExecution ?? []), { weight: 100, podAffinityTerm: from }];
  const changed = {
    ...rest,
    ...(terms.length > 0 && { requiredDuringSchedulingIgnoredDuringExecution: terms }),
    ...(to === undefined && { preferredDuringSchedulingIgnoredDuringExecution: preferred }),
  };
  return { ...affinity, [side]: changed };
}

/** For the pod's template too, whose affinity has the same form. A term that loses its last expression would match nothing, so it goes. */
export function editedAffinity(affinity: Affinity, { term, expression, to }: Extract<Edit, { kind: "node-affinity" }>): Affinity {
  const { requiredDuringSchedulingIgnoredDuringExecution: required, ...preferred } = affinity.nodeAffinity ?? {};
  if (required === undefined) return affinity;
  const terms = required.nodeSelectorTerms.map((one, index) => {
    if (index !== term) return one;
    const { matchExpressions = [] } = one;
    return {
      ...one,
      matchExpressions: matchExpressions.flatMap((item, at) => (at !== expression ? [item] : to === undefined ? [] : [to])),
    };
  });
  const isUnbound = terms.some(({ matchExpressions = [], ...more }) => matchExpressions.length === 0 && Object.keys(more).length === 0);
  const { nodeAffinity: _, ...others } = affinity;
  if (isUnbound) return Object.keys(preferred).length === 0 ? others : { ...others, nodeAffinity: preferred };
  return { ...others, nodeAffinity: { ...preferred, requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: terms } } };
}
