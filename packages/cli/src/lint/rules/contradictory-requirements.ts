/** Requirements of one pool on one label that leave no value. Rules S-38, A-30, A-76. */
import { Requirement, type RequirementItem } from "@joinery/scheduling";
import type { FieldPath } from "../../manifests/field-path.ts";
import { REQUIREMENTS, TEMPLATE_LABELS } from "../paths.ts";
import type { PoolFacts } from "../pool-facts.ts";
import { itemText } from "../requirement-text.ts";
import type { Rule } from "../rule.ts";

interface Ask {
  readonly item: RequirementItem;
  readonly requirement: Requirement;
  readonly path: FieldPath;
}

export const contradictoryRequirements: Rule = {
  name: "contradictory-requirements",
  severity: "error",
  summary: "Requirements of a pool on the same label have no value in common.",
  *check({ pools, catalogue }) {
    for (const pool of pools) {
      for (const { key, asks } of contradictions(pool)) {
        const texts = asks.map(({ item }) => itemText(item)).join(" and ");
        const happens = catalogue.values.has(key)
          ? "no instance type is left, so the pool never gets a node"
          : "the label is never set, and no pod that asks for it gets a node of this pool";
        yield {
          severity: "error",
          manifest: pool.manifest,
          path: asks.at(-1)!.path,
          message: `${texts} have no value in common: ${happens}`,
          instead: `one requirement on ${key} with the values that are meant`,
        };
      }
    }
  },
};

/** Keys that several ask for in vain; also used to keep other rules from repeating it. */
export function contradictions(pool: PoolFacts): readonly { readonly key: string; readonly asks: readonly Ask[] }[] {
  const byKey = Map.groupBy(asksOf(pool), ({ requirement }) => requirement.key);
  return Array.from(byKey, ([key, asks]) => ({ key, asks })).filter(({ asks }) => isContradiction(asks));
}

function isContradiction(asks: readonly Ask[]): boolean {
  const [first, ...rest] = asks.map(({ requirement }) => requirement);
  const all = rest.reduce((sum, next) => sum.intersect(next), first!);
  return all.operator === "DoesNotExist" && asks.some(({ requirement }) => !requirement.allowsAbsence);
}

function asksOf({ pool }: PoolFacts): Ask[] {
  const { metadata, spec } = pool.spec.template;
  const ask = (item: RequirementItem, path: FieldPath): Ask => ({ item, requirement: Requirement.of(item), path });
  return [
    ...Object.entries(metadata?.labels ?? {}).map(([key, value]) =>
      ask({ key, operator: "In", values: [value] }, [...TEMPLATE_LABELS, key]),
    ),
    ...spec.requirements.map((item, index) => ask(item, [...REQUIREMENTS, index])),
  ];
}
