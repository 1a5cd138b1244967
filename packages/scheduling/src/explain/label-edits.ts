/** Edits of what a pod asks of labels: what was mistyped is corrected, what nobody has is changed or dropped. */
import { ARCH_LABEL, type NodeSelectorRequirement, normalizeLabel, OS_LABEL } from "@joinery/api";
import { isIn } from "../catalog/type-set.ts";
import type { PodShape } from "../problem.ts";
import type { AskedPool } from "./candidate-edits.ts";
import type { Edit } from "./edit.ts";
import { nearKey, nearValue } from "./near-word.ts";

type LabelEdit = Extract<Edit, { kind: "node-selector" | "node-affinity" }>;
type Pools = readonly Pick<AskedPool, "template">[];

/** Keys and values that are nearly those that some pool offers. */
export function corrections(pools: Pools, shape: PodShape): LabelEdit[] {
  const keys = knownKeys(pools);
  const selector = Object.entries(shape.nodeSelector ?? {}).flatMap(([key, value]): LabelEdit[] => {
    const meant = keys.has(key) ? undefined : nearKey(key, keys);
    if (meant !== undefined) return [{ kind: "node-selector", key, to: { key: meant, value: meantValue(pools, meant, value) ?? value } }];
    const near = meantValue(pools, key, value);
    return near === undefined ? [] : [{ kind: "node-selector", key, to: { key, value: near } }];
  });
  const affinity = expressionsOf(shape).flatMap(({ term, expression, item }): LabelEdit[] => {
    const { key, operator, values = [] } = item;
    const meant = keys.has(key) ? undefined : nearKey(key, keys);
    const near = operator === "In" ? values.map((value) => meantValue(pools, meant ?? key, value) ?? value) : values;
    if (meant !== undefined)
      return [{ kind: "node-affinity", term, expression, key, to: { ...item, key: meant, ...(item.values && { values: near }) } }];
    if (operator !== "In") return [];
    return near.every((value, at) => value === values[at])
      ? []
      : [{ kind: "node-affinity", term, expression, key, to: { ...item, values: near } }];
  });
  return [...selector, ...affinity];
}

/** Of a value that nobody sells; what is sold, and left out by the pools, was not mistyped. */
function meantValue(pools: Pools, key: string, value: string): string | undefined {
  const offered = offeredValues(pools, key);
  return offered.has(value) || isSold(pools, key, value) ? undefined : nearValue(key, value, offered);
}

function isSold(pools: Pools, key: string, value: string): boolean {
  return pools.some(({ template: { catalog } }) =>
    catalog
      .findLabel(key)
      ?.offeredBy(() => true, key)
      .has(value),
  );
}

/** Labels that nodes of some pool have. */
export function knownKeys(pools: Pools): ReadonlySet<string> {
  return new Set(pools.flatMap(({ template: { wellKnown, root } }) => [...wellKnown, ...Array.from(root.requirements, ({ key }) => key)]));
}

function offeredValues(pools: Pools, key: string): ReadonlySet<string> {
  const values = pools.flatMap(({ template: { root, catalog } }) => {
    const own = root.requirements.find(key);
    const label = catalog.findLabel(key)?.offeredBy((variant) => isIn(root.compatible, variant), key);
    if (label === undefined) return own?.listedValues ?? [];
    return label.values.filter((value) => own?.has(value) ?? true);
  });
  return new Set(values);
}

/**
 * Where every pool has one and the same value for a label, the pod can only have meant to ask for that, or for nothing.
 * @param areSold whether there are types that have what the pod asks for, so that it is the pools that leave them out
 */
export function onlyValues(pools: readonly AskedPool[], { nodeSelector = {} }: PodShape, areSold: boolean): Edit[] {
  return Object.entries(nodeSelector).flatMap(([key, value]): Edit[] => {
    const [only, ...others] = offeredValues(pools, key);
    if (isOfImages(key, [value]) || isSold(pools, key, value) !== areSold || only === undefined || only === value || others.length > 0)
      return [];
    return [{ kind: "node-selector", key, to: { key, value: only } }];
  });
}

/** To where the pod's volumes are, or the pods that it must be with. */
export function movedSelectors(pools: readonly AskedPool[], { nodeSelector = {} }: PodShape): Edit[] {
  return pools.flatMap(({ answer: { refused } }) => {
    const wanted = refused?.wanted;
    const own = wanted && nodeSelector[wanted.key];
    if (wanted === undefined || own === undefined) return [];
    return wanted.values
      .filter((value) => value !== own)
      .map((value): Edit => ({ kind: "node-selector", key: wanted.key, to: { key: wanted.key, value } }));
  });
}

/** What Kubernetes runs on. */
const ARCHITECTURES = new Set(["386", "amd64", "arm", "arm64", "ppc64le", "riscv64", "s390x"]);

/** The system and architecture that the pod's images are made for: on others it would get a node, and not run. */
function isOfImages(key: string, values: readonly string[]): boolean {
  return key === OS_LABEL || (normalizeLabel(key) === ARCH_LABEL && values.some((value) => ARCHITECTURES.has(value)));
}

export function removals(shape: PodShape): LabelEdit[] {
  const selector = Object.entries(shape.nodeSelector ?? {})
    .filter(([key, value]) => !isOfImages(key, [value]))
    .map(([key]) => ({ kind: "node-selector", key }) as const);
  const affinity = expressionsOf(shape)
    .filter(({ item: { key, values = [] } }) => !isOfImages(key, values))
    .map(({ term, expression, isOnly, item: { key } }) => ({
      ...({ kind: "node-affinity", term, expression, key } as const),
      ...(isOnly && ({ isAll: true } as const)),
    }));
  return [...selector, ...affinity];
}

interface Expression {
  readonly term: number;
  readonly expression: number;
  readonly item: NodeSelectorRequirement;
  /** Its term says nothing else, and there are others. */
  readonly isOnly: boolean;
}

function expressionsOf({ affinity }: PodShape): Expression[] {
  const terms = affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms ?? [];
  return terms.flatMap(({ matchExpressions = [], matchFields = [] }, term) =>
    matchExpressions.map((item, expression) => ({
      ...{ term, expression, item },
      isOnly: terms.length > 1 && matchExpressions.length === 1 && matchFields.length === 0,
    })),
  );
}
