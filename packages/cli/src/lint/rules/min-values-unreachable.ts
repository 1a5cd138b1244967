/** minValues that the catalogue cannot give. Rules S-57, S-175, V-74. */
import { normalizeLabel } from "@joinery/api";
import type { Requirement } from "@joinery/scheduling";
import { REQUIREMENTS } from "../paths.ts";
import type { PoolFacts } from "../pool-facts.ts";
import type { Rule } from "../rule.ts";
import { countText, listText } from "../words.ts";

interface Shortage {
  readonly requirement: Requirement;
  readonly minValues: number;
  readonly values: ReadonlySet<string>;
}

export const minValuesUnreachable: Rule = {
  name: "min-values-unreachable",
  severity: "error",
  summary: "A requirement asks for more different values than the pool's instance types have.",
  *check({ pools, vocabulary }) {
    for (const pool of pools) {
      for (const { requirement, minValues, values } of minValuesShortages(pool)) {
        const has = values.size === 0 ? "no value" : `only ${countText(values.size, "value")}, ${listText([...values].sort())}`;
        const items = pool.pool.spec.template.spec.requirements;
        const index = items.findIndex((item) => item.minValues === minValues && normalizeLabel(item.key, vocabulary) === requirement.key);
        yield {
          severity: "error",
          manifest: pool.manifest,
          path: [...REQUIREMENTS, Math.max(index, 0), "minValues"],
          message: `the instance types of the pool have ${has} of ${requirement.key}, fewer than minValues ${minValues}: with the policy Strict the pool never gets a node`,
          instead: `minValues: ${Math.max(values.size, 1)} or less, or requirements that leave more types`,
        };
      }
    }
  },
};

/** Empty for pools without types, which have another trouble. */
export function minValuesShortages({ requirements, types }: PoolFacts): readonly Shortage[] {
  if (types.length === 0) return [];
  return [...requirements].flatMap((requirement) => {
    const { minValues, key } = requirement;
    if (minValues === undefined) return [];
    const values = new Set(
      types.flatMap((type) => type.requirements.find(key)?.listedValues ?? []).filter((value) => requirement.has(value)),
    );
    return values.size < minValues ? [{ requirement, minValues, values }] : [];
  });
}
