/** Edits of a NodePool: higher limits, fewer minValues, labels that it admits too. Rules S-57, S-161, S-173. */
import { normalizeLabel } from "@joinery/api";
import { hasCommon, isEmpty, isIn } from "../catalog/type-set.ts";
import type { RequirementItem } from "../instance-type.ts";
import type { Reason } from "../reason.ts";
import type { Template } from "../solve/template.ts";
import { TopologyGroup } from "../topology/topology-group.ts";
import type { AskedPool, Candidate } from "./candidate-edits.ts";
import type { Edit } from "./edit.ts";

/** To what one more node of the smallest fitting type needs, at most to one for each pod. */
export function raisedLimits({ template, answer }: AskedPool, count: number): Candidate[] {
  const { limits, name: nodePool } = template;
  if (limits === undefined || isEmpty(answer.offered)) return [];
  const shortfalls = limits.shortfalls(answer.offered);
  return shortfalls.map(({ resource, limit, used, least }) => {
    const raised = (nodes: number): Edit => ({ kind: "raise-limit", nodePool, resource, from: limit, to: used + nodes * least });
    return { edit: raised(1), grown: raised, steps: count };
  });
}

/** To as many different values as there are. */
export function lowerMinValues({ template, answer, dropped, reasons }: AskedPool): Edit[] {
  const labels = dropped?.kind === "min-values" ? dropped.labels : labelsShort(answer.refused?.shortfalls, reasons);
  return labels.flatMap(({ key, found }) =>
    itemsOf(template).flatMap((item, index): Edit[] => {
      if (normalizeLabel(item.key) !== key || item.minValues === undefined || item.minValues <= found) return [];
      const { minValues: _, ...rest } = item;
      return [changedItem(template, index, found > 1 ? { ...rest, minValues: found } : rest)];
    }),
  );
}

type Shortfalls = Extract<Reason, { kind: "min-values" }>["labels"];

function labelsShort(shortfalls: Shortfalls | undefined, reasons: readonly Reason[]): Shortfalls {
  return shortfalls ?? reasons.flatMap((reason) => (reason.kind === "min-values" ? reason.labels : []));
}

/** The requirements of the pool that rule out what the pod asks for, or where its volumes or its company are. */
export function admissions({ template, answer }: AskedPool): Edit[] {
  const { catalog } = template;
  const wishes: { readonly key: string; readonly values: readonly string[] | undefined }[] = Array.from(answer.wanted, (requirement) => ({
    key: requirement.key,
    values: requirement.listedValues,
  }));
  if (answer.refused?.wanted !== undefined) wishes.push(answer.refused.wanted);
  return wishes.flatMap(({ key, values }) => {
    const label = catalog.findLabel(key);
    if (label === undefined) return [];
    const sold = label.offeredBy((variant) => isIn(catalog.sound, variant), key).values;
    const wanted = values?.filter((value) => sold.includes(value)) ?? [];
    return itemsOf(template).flatMap((item, index): Edit[] => {
      if (normalizeLabel(item.key) !== key) return [];
      const { operator, values: listed = [] } = item;
      if (operator === "In")
        return wanted
          .filter((value) => !listed.includes(value))
          .map((value) => changedItem(template, index, { ...item, values: [...listed, value] }));
      if (operator === "NotIn") {
        const left = listed.filter((value) => !wanted.includes(value));
        if (left.length === listed.length) return [];
        return [changedItem(template, index, left.length === 0 ? undefined : { ...item, values: left })];
      }
      return operator === "Exists" ? [] : [changedItem(template, index, undefined)];
    });
  });
}

/** Domains that a pool names, or that its types have, but in which no pod gets anything: they count as empty and stop a spread. */
export function domainsLeftOut({ template, answer: { refused } }: AskedPool): Edit[] {
  const about = refused?.refusing;
  if (about === undefined || refused?.stage !== "topology-spread") return [];
  const { key } = about.group.identity;
  const had = launchableValues(template, key);
  if (had.length === 0) return [];
  const index = itemsOf(template).findIndex((item) => normalizeLabel(item.key) === key && item.operator === "In");
  if (index < 0) {
    const counted = about.group instanceof TopologyGroup ? [...about.group.counts.keys()] : [];
    const isLess = counted.some((domain) => !had.includes(domain));
    return isLess && template.catalog.knows(key) ? [changedItem(template, -1, { key, operator: "In", values: had })] : [];
  }
  const item = itemsOf(template)[index]!;
  const values = (item.values ?? []).filter((value) => had.includes(value));
  return values.length === 0 || values.length === item.values?.length ? [] : [changedItem(template, index, { ...item, values })];
}

/** Values of a zone or another label of offerings with which some type of the pool can be had at all, sorted. */
function launchableValues({ catalog, root }: Template, key: string): readonly string[] {
  const values = root.kinds.flatMap((kind) => {
    const { requirements, launchable } = catalog.kinds[kind]!;
    return hasCommon(launchable, root.compatible) ? (requirements.find(key)?.values ?? []) : [];
  });
  return [...new Set(values)].sort();
}

export function itemsOf({ nodePool }: Template): readonly RequirementItem[] {
  return nodePool.spec.template.spec.requirements;
}

/** @param index −1: one more */
export function changedItem(template: Template, index: number, to: RequirementItem | undefined): Edit {
  const items = itemsOf(template);
  const from = items[index];
  const requirements = index < 0 ? [...items, to!] : items.flatMap((item, at) => (at !== index ? [item] : to === undefined ? [] : [to]));
  return { kind: "pool-requirement", nodePool: template.name, ...(from && { from }), ...(to && { to }), requirements };
}
