/** Pods that a plan may exchange for each other without a difference in price: what they ask for, and where they may run. */
import { type Resources, ZONE_LABEL } from "@joinery/api";
import { createShapeInterner, type PodShape, type Problem } from "@joinery/scheduling";

export interface PodGroup {
  /** One of its pods. */
  readonly shape: PodShape;
  readonly requests: Resources;
  readonly count: number;
  /** Of the pods of a zone at the end, where spreads leave no choice. */
  readonly perZone?: { readonly least: number; readonly most: number };
}

/** @param zones those in which pools offer something */
export function podGroups({ pods, boundPods = [], nodes }: Problem, zones: number): readonly PodGroup[] {
  const counts = new Map<PodShape, number>();
  const interner = createShapeInterner();
  for (const pod of pods) {
    const shape = interner.intern(pod.shape);
    counts.set(shape, (counts.get(shape) ?? 0) + 1);
  }
  const shapes = [...counts.keys()];
  const groups = new Map<string, PodGroup>();
  for (const [shape, count] of counts) {
    const perZone = boundPods.length + nodes.length > 0 ? undefined : zoneShare(shape, shapes, count, zones);
    const key = groupKey(shape, perZone !== undefined);
    const known = groups.get(key);
    groups.set(
      key,
      known === undefined ? { shape, requests: shape.requests, count, ...(perZone && { perZone }) } : joined(known, count, perZone),
    );
  }
  return [...groups.values()];
}

function joined(group: PodGroup, count: number, perZone: PodGroup["perZone"]): PodGroup {
  const both = perZone && {
    least: group.perZone!.least + perZone.least,
    most: group.perZone!.most + perZone.most,
  };
  return { ...group, count: group.count + count, ...(both && { perZone: both }) };
}

function groupKey({ requests, nodeSelector, affinity, tolerations }: PodShape, isSpread: boolean): string {
  return JSON.stringify([Object.entries(requests).sort(), nodeSelector, affinity?.nodeAffinity, tolerations, isSpread]);
}

/**
 * A required spread over zones leaves a zone with no more than `maxSkew` pods above any other. Where the spread counts exactly the pods of
 * this shape and all of them keep it, every zone ends between the two figures, whoever places them.
 */
function zoneShare(shape: PodShape, shapes: readonly PodShape[], count: number, zones: number): PodGroup["perZone"] {
  const own = shape.topologySpreadConstraints?.find(
    ({ topologyKey, whenUnsatisfiable, minDomains }) =>
      topologyKey === ZONE_LABEL && whenUnsatisfiable === "DoNotSchedule" && minDomains === undefined,
  );
  if (own === undefined || isBoundToZone(shape)) return undefined;
  const counted = shapes.filter((other) => other.namespace === shape.namespace && selects(own.labelSelector, other.labels));
  if (counted.length !== 1 || counted[0] !== shape) return undefined;
  const slack = (zones - 1) * own.maxSkew;
  return { least: Math.max(0, Math.ceil((count - slack) / zones)), most: Math.floor((count + slack) / zones) };
}

function isBoundToZone({ nodeSelector, affinity }: PodShape): boolean {
  return nodeSelector?.[ZONE_LABEL] !== undefined || affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution !== undefined;
}

type Selector = NonNullable<PodShape["topologySpreadConstraints"]>[number]["labelSelector"];

/** Selectors with expressions are taken to select everything: then nothing is concluded. */
function selects(selector: Selector, labels: PodShape["labels"]): boolean {
  if (selector?.matchExpressions !== undefined && selector.matchExpressions.length > 0) return true;
  return selector !== undefined && Object.entries(selector.matchLabels ?? {}).every(([key, value]) => labels[key] === value);
}
