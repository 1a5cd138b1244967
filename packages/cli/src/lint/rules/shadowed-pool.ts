/** Pools that get nothing because another, tried before, takes all that they could take. Rules S-60, S-91, S-98. */
import { NODE_POOL_LABEL, nodeClassLabel } from "@joinery/api";
import type { Requirement } from "@joinery/scheduling";
import { taintText } from "@joinery/scheduling";
import type { Facts } from "../facts.ts";
import type { PoolFacts } from "../pool-facts.ts";
import type { Rule } from "../rule.ts";
import type { TypeFacts } from "../type-facts.ts";
import { isClassReady } from "./node-class-not-ready.ts";

export const shadowedPool: Rule = {
  name: "shadowed-pool",
  severity: "warning",
  summary: "Another pool is tried first and takes every pod that this pool could take.",
  *check(facts) {
    const dynamic = facts.pools.filter(({ isStatic, isSound, types }) => !isStatic && isSound && types.length > 0);
    for (const [at, pool] of dynamic.entries()) {
      const shadow = dynamic.slice(0, at).find((other) => takesAllOf(other, pool, facts) && !isAskedFor(pool, other, facts));
      if (shadow === undefined) continue;
      const why =
        shadow.weight > pool.weight
          ? `its weight is ${shadow.weight} against ${pool.weight}`
          : "their weights are equal, and of equal weights the name that is last in the alphabet comes first";
      yield {
        severity: "warning",
        manifest: pool.manifest,
        path: ["spec", "weight"],
        message: `NodePool ${shadow.name} is tried first (${why}), has no limits, and takes every pod that this pool could take: only pods that ask for this pool by name get nodes of it`,
        instead: `a greater weight than ${shadow.name}, limits on ${shadow.name}, or a taint or requirement that tells the two apart`,
      };
    }
  },
};

function takesAllOf(shadow: PoolFacts, pool: PoolFacts, facts: Facts): boolean {
  if (Object.values(shadow.limits).some(Number.isFinite) || !isClassReady(shadow)) return false;
  const taints = new Set(pool.taints.map(taintText));
  if (!shadow.taints.every((taint) => taints.has(taintText(taint)))) return false;
  if ([...shadow.requirements].some(({ minValues }) => minValues !== undefined)) return false;
  const types = new Map(shadow.types.map((one) => [one.type.name, one]));
  return pool.types.every((own) => isAsGood(types.get(own.type.name), own)) && admitsAllOf(shadow, pool, facts);
}

/** Node classes may make different nodes of one type: of another system, with a larger root volume, in other zones. */
function isAsGood(other: TypeFacts | undefined, own: TypeFacts): boolean {
  if (other === undefined || other === own) return other !== undefined;
  const offered = new Set(other.offerings.map(({ canonicalText }) => canonicalText));
  return (
    other.requirements.canonicalText === own.requirements.canonicalText &&
    own.offerings.every(({ canonicalText }) => offered.has(canonicalText)) &&
    Object.entries(own.allocatable).every(([resource, amount]) => amount <= (other.allocatable[resource] ?? 0))
  );
}

/** Whatever label value a pod asks for, a pod that this pool admits is admitted by the other. */
function admitsAllOf(shadow: PoolFacts, pool: PoolFacts, { catalogue }: Facts): boolean {
  const own = new Set([
    NODE_POOL_LABEL,
    nodeClassLabel(shadow.pool.spec.template.spec.nodeClassRef),
    nodeClassLabel(pool.pool.spec.template.spec.nodeClassRef),
  ]);
  const keys = new Set([...shadow.requirements, ...pool.requirements].map(({ key }) => key).filter((key) => !own.has(key)));
  for (const key of keys) {
    const [wide, narrow] = [shadow.requirements.find(key), pool.requirements.find(key)];
    const values = catalogue.values.get(key);
    const isWider =
      values === undefined ? isSuperset(wide, narrow) : [...values].every((value) => !admits(narrow, value) || admits(wide, value));
    if (!isWider) return false;
  }
  return true;
}

/** Of a label that pools make up: who does not define it does not admit pods that ask for it, and the other way round. */
function isSuperset(wide: Requirement | undefined, narrow: Requirement | undefined): boolean {
  if (wide === undefined || narrow === undefined) return false;
  return wide.equals(narrow) || (narrow.listedValues?.every((value) => wide.has(value)) ?? false);
}

function admits(requirement: Requirement | undefined, value: string): boolean {
  return requirement === undefined || requirement.has(value);
}

/** Some workload of the input gets nodes of the pool only, or names it. */
function isAskedFor(pool: PoolFacts, shadow: PoolFacts, { workloads, answers }: Facts): boolean {
  return workloads.some((workload) => {
    const { takers } = answers.of(workload);
    if (takers.includes(pool) && !takers.includes(shadow)) return true;
    const wishes = JSON.stringify(workload.spec.affinity?.nodeAffinity?.preferredDuringSchedulingIgnoredDuringExecution ?? []);
    return wishes.includes(NODE_POOL_LABEL) && wishes.includes(JSON.stringify(pool.name));
  });
}
