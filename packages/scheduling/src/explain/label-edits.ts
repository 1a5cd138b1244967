/** Edits of what a pod asks of labels: what was mistyped is corrected, what nobody has is changed or dropped. */
import { type NodeSelectorRequirement, OS_LABEL } from "@joinery/api";
import { isIn } from "../catalog/type-set.ts";
import type { PodShape } from "../problem.ts";
import type { AskedPool } from "./candidate-edits.ts";
import type { Edit } from "./edit.ts";
import { nearValue, nearWord } from "./near-word.ts";

/** Keys and values that are nearly those that some pool offers. */
export function corrections(pools: readonly AskedPool[], shape: PodShape): Edit[] {
  const keys = knownKeys(pools);
  const selector = Object.entries(shape.nodeSelector ?? {}).flatMap(([key, value]): Edit[] => {
    const meant = keys.has(key) ? undefined : nearKey(key, keys);
    if (meant !== undefined) return [{ kind: "node-selector", key, to: { key: meant, value } }];
    const near = meantValue(pools, key, value);
    return near === undefined ? [] : [{ kind: "node-selector", key, to: { key, value: near } }];
  });
  const affinity = expressionsOf(shape).flatMap(({ term, expression, item }): Edit[] => {
    const { key, operator, values = [] } = item;
    const meant = keys.has(key) ? undefined : nearKey(key, keys);
    if (meant !== undefined) return [{ kind: "node-affinity", term, expression, key, to: { ...item, key: meant } }];
    if (operator !== "In") return [];
    const near = values.map((value) => meantValue(pools, key, value) ?? value);
    return near.every((value, at) => value === values[at])
      ? []
      : [{ kind: "node-affinity", term, expression, key, to: { ...item, values: near } }];
  });
  return [...selector, ...affinity];
}

/** A part of a key may be missing or wrong before the slash, too. */
export function nearKey(key: string, known: ReadonlySet<string>): string | undefined {
  const near = nearWord(key, known);
  if (near !== undefined) return near;
  const sameTail = [...known].filter((one) => one.slice(one.indexOf("/") + 1) === key.slice(key.indexOf("/") + 1));
  return sameTail.length === 1 ? sameTail[0] : undefined;
}

/** Of a value that nobody sells; what is sold, and left out by the pools, was not mistyped. */
function meantValue(pools: readonly AskedPool[], key: string, value: string): string | undefined {
  const offered = offeredValues(pools, key);
  return offered.has(value) || isSold(pools, key, value) ? undefined : nearValue(key, value, offered);
}

function isSold(pools: readonly AskedPool[], key: string, value: string): boolean {
  return pools.some(({ template: { catalog } }) =>
    catalog
      .findLabel(key)
      ?.offeredBy(() => true, key)
      .has(value),
  );
}

/** Labels that nodes of some pool have. */
export function knownKeys(pools: readonly AskedPool[]): ReadonlySet<string> {
  return new Set(pools.flatMap(({ template: { wellKnown, root } }) => [...wellKnown, ...Array.from(root.requirements, ({ key }) => key)]));
}

function offeredValues(pools: readonly AskedPool[], key: string): ReadonlySet<string> {
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
    if (key === OS_LABEL || isSold(pools, key, value) !== areSold || only === undefined || only === value || others.length > 0) return [];
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

/** Not the system, without which the pod would be on a node on which it cannot run. */
export function removals(shape: PodShape): Edit[] {
  const selector = Object.keys(shape.nodeSelector ?? {}).map((key) => ({ kind: "node-selector", key }) as const);
  const affinity = expressionsOf(shape).map(
    ({ term, expression, item: { key } }) => ({ kind: "node-affinity", term, expression, key }) as const,
  );
  return [...selector, ...affinity].filter(({ key }) => key !== OS_LABEL);
}

function expressionsOf({ affinity }: PodShape): { term: number; expression: number; item: NodeSelectorRequirement }[] {
  const terms = affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms ?? [];
  return terms.flatMap(({ matchExpressions = [] }, term) => matchExpressions.map((item, expression) => ({ term, expression, item })));
}
