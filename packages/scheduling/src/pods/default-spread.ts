/** Topology spread for pods that ask for none themselves: whose pods are spread is told from who stands behind a pod. Rules S-157…S-159. */
import type { LabelSelector, LabelSelectorRequirement, TopologySpreadConstraint } from "@joinery/api";
import { remembered } from "../memo.ts";
import type { PodShape } from "../problem.ts";

type Labels = Readonly<Record<string, string>>;

/** What selects a pod beside itself. */
export interface Backers {
  /** Selectors of the Services of its namespace; those without one select nothing. */
  readonly services: readonly Labels[];
  /** Of the object that controls it, where that is one of these kinds. */
  readonly owner?: OwnerSelector;
}

export type OwnerSelector =
  /** Of a ReplicationController. */
  | { readonly kind: "labels"; readonly labels: Labels }
  /** Of a ReplicaSet or StatefulSet. */
  | { readonly kind: "selector"; readonly selector: LabelSelector };

export interface DefaultSpread {
  readonly isEmpty: boolean;
  /** The shape with the default constraints, or as it is: equal questions get one object. All or nothing (S-158). */
  shapeFor(shape: PodShape, backers: Backers): PodShape;
}

/** `constraints` have neither `labelSelector` nor `matchLabelKeys`; everything else of them is kept. */
export function createDefaultSpread(constraints: readonly TopologySpreadConstraint[]): DefaultSpread {
  const known = new WeakMap<PodShape, Map<string, PodShape>>();
  return {
    isEmpty: constraints.length === 0,
    shapeFor(shape, backers) {
      if (constraints.length === 0 || shape.topologySpreadConstraints !== undefined) return shape;
      const labelSelector = deducedSelector(shape.labels, backers);
      if (labelSelector === undefined) return shape;
      const bySelector = remembered(known, shape, () => new Map<string, PodShape>());
      return remembered(bySelector, JSON.stringify(labelSelector), () => ({
        ...shape,
        topologySpreadConstraints: constraints.map((constraint) => ({ ...constraint, labelSelector })),
      }));
    },
  };
}

/** S-159; undefined: nobody stands behind the pod, and it is not defaulted. */
export function deducedSelector(labels: Labels, { services, owner }: Backers): LabelSelector | undefined {
  const matchLabels: Record<string, string> = {};
  for (const selector of services) {
    if (Object.entries(selector).every(([key, value]) => labels[key] === value)) Object.assign(matchLabels, selector);
  }
  const matchExpressions: LabelSelectorRequirement[] = [];
  if (owner?.kind === "labels") Object.assign(matchLabels, owner.labels);
  if (owner?.kind === "selector") {
    for (const [key, value] of sorted(owner.selector.matchLabels)) matchExpressions.push({ key, operator: "In", values: [value] });
    matchExpressions.push(...(owner.selector.matchExpressions ?? []));
  }
  const pairs = sorted(matchLabels);
  if (pairs.length === 0 && matchExpressions.length === 0) return undefined;
  return {
    ...(pairs.length > 0 && { matchLabels: Object.fromEntries(pairs) }),
    ...(matchExpressions.length > 0 && { matchExpressions }),
  };
}

function sorted(labels: Labels = {}): readonly (readonly [string, string])[] {
  return Object.entries(labels).sort(([a], [b]) => (a < b ? -1 : 1));
}
