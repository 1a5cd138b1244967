/** Explanations as documents: the contract of `joinery explain -o json`. */
import { type Node, Nodes, type Pod, Pods } from "@joinery/api";
import {
  type CheaperPlan,
  type CheaperTypes,
  createExplainer,
  type Explainer,
  type FunnelStage,
  type LaunchChoice,
  type NewNodeDocument,
  type OtherPlaces,
  type OwnNode,
  type PodExplanation,
  type PoolFunnel,
  type ReasonDocument,
  toPlanDocument,
  toReasonDocument,
} from "@joinery/scheduling";
import { keyOf } from "../object-key.ts";
import { whyLeftOut } from "../plan/left-out-pods.ts";
import type { Question } from "../plan/make-plan.ts";
import { findPods, notFound } from "./find-pods.ts";
import { explainOptions, type Fix, fixOf } from "./fixes.ts";
import { wrongPods } from "./wrong-pods.ts";

type Outcome = "unschedulable" | "new-node" | "existing-node" | "running" | "left-out";

export interface Explanation {
  readonly apiVersion: "joinery.dev/v1";
  readonly kind: "Explanation";
  readonly subject: {
    readonly kind: string;
    readonly name: string;
    readonly namespace?: string;
    /** Of the workload. */
    readonly pods?: number;
    /** Of them, those without a place. */
    readonly unschedulable?: number;
    /** `namespace/name` of the pod that stands for the others. */
    readonly pod?: string;
    readonly outcome: Outcome;
    /** Why no place is looked for. */
    readonly leftOut?: string;
  };
  readonly reasons: readonly ReasonDocument[];
  readonly funnel: readonly PoolFunnel[];
  readonly nearest: (FunnelStage & { readonly nodePool: string }) | null;
  readonly fix: Fix | null;
  /** Where the pods are left to later solves: how many solves place some, and how many of the pods. */
  readonly later?: { readonly solves: number; readonly placed: number };
  /** Of the plan. */
  readonly node?: NewNodeDocument;
  /** That exists. */
  readonly existingNode?: { readonly name: string; readonly pods: readonly string[]; readonly newPods: readonly string[] };
  readonly cheaper?: CheaperTypes;
  readonly launch?: LaunchChoice;
  /** Why places that are there, or planned before, do not take the pod. */
  readonly otherPlaces?: OtherPlaces;
  /** What the pod would have cost on a new node of its own. */
  readonly ownNode?: OwnNode;
  /** Preferences, and terms of required node affinity, that were given up. */
  readonly givenUp?: number;
  /** The pod goes to a node that other pods have opened before. */
  readonly joins?: boolean;
  /** Where the plan was made cheaper than the greedy one: what that did to the pod. */
  readonly cheaperPlan?: CheaperPlan;
  /** What may be missing in the input rather than in the cluster. */
  readonly hints?: readonly string[];
}

const NOTHING = { reasons: [], funnel: [], nearest: null, fix: null } as const;
const HEAD = { apiVersion: "joinery.dev/v1", kind: "Explanation" } as const;

export function explainPods(name: string, question: Question): Explanation {
  const { owner, pods } = findPods(name, question);
  const options = explainOptions(question);
  const explainer = createExplainer(question.problem, options);
  const rejected = new Map(question.rejected.map(({ pod, reasons }) => [keyOf(pod), reasons]));
  const refused = new Set([...rejected.keys(), ...explainer.plan.unschedulable.map(({ pod }) => pod)]);
  const unplaced = pods.filter((pod) => refused.has(keyOf(pod)));
  const pod = unplaced[0] ?? pods.find(({ spec }) => spec.nodeName === undefined) ?? pods[0]!;
  const key = keyOf(pod);
  const isWorkload = owner.kind !== "Pod" && name !== pod.metadata?.name && name !== key;
  const subject = {
    kind: isWorkload ? owner.kind : "Pod",
    name: isWorkload ? owner.name : (pod.metadata?.name ?? ""),
    namespace: owner.namespace,
    ...(isWorkload && { pods: pods.length, unschedulable: unplaced.length }),
    pod: key,
  };
  const own = rejected.get(key);
  if (own !== undefined) {
    const { answer, fix } = wrongPods(question, options)(key) ?? {};
    return {
      ...HEAD,
      subject: { ...subject, outcome: "unschedulable" },
      ...NOTHING,
      ...(answer && { funnel: answer.funnel, nearest: answer.nearest ?? null }),
      reasons: own.map(toReasonDocument),
      fix: fixOf(fix, owner, question) ?? null,
    };
  }
  const answer = explainer.pod(key);
  if (answer === undefined) return unplanned(subject, pod);
  const facts = podFacts(answer, explainer, question);
  const fix = answer.kind === "unschedulable" ? (fixOf(answer.fix, owner, question) ?? null) : null;
  return { ...HEAD, subject: { ...subject, outcome: answer.kind }, ...NOTHING, ...facts, fix };
}

/** It runs already, or is none that a node is looked for. */
function unplanned(subject: Omit<Explanation["subject"], "outcome">, pod: Pod): Explanation {
  const { spec } = pod;
  const leftOut = whyLeftOut(pod);
  if (!spec.nodeName || leftOut !== undefined)
    return { ...HEAD, subject: { ...subject, outcome: "left-out", ...(leftOut !== undefined && { leftOut }) }, ...NOTHING };
  return { ...HEAD, subject: { ...subject, outcome: "running" }, ...NOTHING, existingNode: { name: spec.nodeName, pods: [], newPods: [] } };
}

function podFacts(answer: PodExplanation, explainer: Explainer, question: Question): Partial<Explanation> {
  switch (answer.kind) {
    case "unschedulable": {
      const skipped = question.skippedPools.map(({ nodePool, message }) => skippedFunnel(nodePool, message));
      const isUnasked = answer.funnel.length === 0;
      const reasons = [...answer.reasons, ...(isUnasked ? question.skippedPools : [])].map(toReasonDocument);
      const { later } = answer;
      const nearest = answer.nearest ?? null;
      return { reasons, funnel: [...answer.funnel, ...skipped], nearest, otherPlaces: placesOf(answer), ...(later && { later }) };
    }
    case "new-node": {
      const { funnel, cheaper, launch } = answer;
      const place = { node: nodeDocument(answer.node.name, explainer), ...(answer.joins !== undefined && { joins: answer.joins }) };
      return { funnel, ...place, cheaper, launch, ...decisionFacts(answer) };
    }
    case "existing-node":
      return { existingNode: existingNode(answer.node, explainer, question), ...decisionFacts(answer) };
  }
}

function decisionFacts(answer: Exclude<PodExplanation, { kind: "unschedulable" }>): Partial<Explanation> {
  const { ownNode, givenUp, cheaperPlan } = answer;
  return { otherPlaces: placesOf(answer), ...(ownNode && { ownNode }), givenUp, ...(cheaperPlan && { cheaperPlan }) };
}

function placesOf({ existingNodes, plannedNodes }: OtherPlaces): OtherPlaces {
  return { existingNodes, plannedNodes };
}

function skippedFunnel(nodePool: string, reason: string): PoolFunnel {
  return { nodePool, stages: [{ stage: "node-pool", in: 0, out: 0, reason }] };
}

export function explainNode(name: string, question: Question): Explanation {
  const explainer = createExplainer(question.problem, explainOptions(question));
  const answer = explainer.node(name);
  if (answer !== undefined) {
    const subject = { kind: "PlannedNode", name, outcome: "new-node" } as const;
    return { ...HEAD, subject, ...NOTHING, node: nodeDocument(name, explainer), cheaper: answer.cheaper, launch: answer.launch };
  }
  const nodes: readonly Node[] = question.objects.of(Nodes);
  const found = nodes.find(({ metadata }) => metadata?.name === name);
  if (found === undefined) {
    const known = [...explainer.plan.newNodes.map((node) => node.name), ...nodes.map(({ metadata }) => metadata?.name ?? "")];
    throw notFound("planned or existing node", name, known);
  }
  const subject = { kind: "Node", name, outcome: "existing-node" } as const;
  return { ...HEAD, subject, ...NOTHING, existingNode: existingNode(name, explainer, question) };
}

function existingNode(name: string, { plan }: Explainer, { objects }: Question): NonNullable<Explanation["existingNode"]> {
  const pods = objects.of(Pods).filter(({ spec }) => spec.nodeName === name);
  return { name, pods: pods.map(keyOf).sort(), newPods: plan.existingNodes.find((node) => node.name === name)?.pods ?? [] };
}

function nodeDocument(name: string, { plan }: Explainer): NewNodeDocument {
  const stats = { pods: 0, instanceTypes: 0, solveMilliseconds: 0 };
  const newNodes = plan.newNodes.filter((node) => node.name === name);
  return toPlanDocument({ ...plan, newNodes, unschedulable: [] }, { stats, existingUsdPerHour: 0 }).newNodes[0]!;
}
