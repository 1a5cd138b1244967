/** Edits of what a pod tolerates: a toleration that is nearly the one that is needed, or one more. Rules S-114, S-115. */
import type { Taint, Toleration } from "@joinery/api";
import { isIn } from "../catalog/type-set.ts";
import type { PodShape } from "../problem.ts";
import type { Template } from "../solve/template.ts";
import type { AskedPool } from "./candidate-edits.ts";
import type { PodEdit } from "./edit.ts";
import { type FunnelStage, hardTaints } from "./funnel.ts";
import { nearWord } from "./near-word.ts";

/** Where one taint is in the way, and a toleration of the pod is meant for it. */
export function tolerationCorrections(pools: readonly AskedPool[], shape: PodShape): PodEdit[] {
  return pools.flatMap(({ template }) => {
    const [taint, ...others] = hardTaints(template, shape);
    if (taint === undefined || others.length > 0) return [];
    return shape.tolerations.flatMap((from, index): PodEdit[] =>
      isMeantFor(from, taint) ? [{ kind: "toleration", index, from, to: corrected(from, taint) }] : [],
    );
  });
}

function isMeantFor({ key }: Toleration, taint: Taint): boolean {
  return key !== undefined && (key === taint.key || nearWord(key, [taint.key]) !== undefined);
}

/** Of another value or effect as little as it takes. */
function corrected({ effect, value, ...from }: Toleration, taint: Taint): Toleration {
  const isAny = from.operator === "Exists";
  return {
    ...from,
    key: taint.key,
    ...(!isAny && { value: taint.value ?? "" }),
    ...(effect !== undefined && { effect: taint.effect }),
  };
}

/**
 * Is the pod for this pool, whose taints keep others away? It selects the pool, or asks for a device that no pool without such taints has;
 * or all pools are tainted, so that one of them has to be meant.
 */
export function isSought(pool: AskedPool, pools: readonly AskedPool[], shape: PodShape): boolean {
  const open = pools.filter(({ template }) => hardTaints(template, shape).length === 0);
  if (open.every(({ answer }) => isUnselected(answer.funnel.stages[0]))) return true;
  if (pool.answer.funnel.stages.some(({ stage, out }) => stage === "pool-label" && out > 0)) return true;
  const devices = Object.entries(shape.requests).filter(([resource, amount]) => amount > 0 && !COMMON.has(resource));
  return devices.some(([device]) => hasSome(pool.template, device) && !open.some(({ template }) => hasSome(template, device)));
}

function isUnselected(first: FunnelStage | undefined): boolean {
  return first?.stage === "pool-label" && first.out === 0;
}

/** What every machine has. */
const COMMON: ReadonlySet<string> = new Set(["cpu", "memory", "pods", "ephemeral-storage"]);

function hasSome({ catalog, root }: Template, resource: string): boolean {
  return catalog.allocatable.some((amounts, variant) => (amounts[resource] ?? 0) > 0 && isIn(root.compatible, variant));
}

/** One for all taints of the pool: less would not help. */
export function tolerationsFor({ template }: AskedPool, shape: PodShape): PodEdit[] {
  const taints = hardTaints(template, shape);
  return taints.length === 0 ? [] : [{ kind: "add-tolerations", tolerations: taints.map(tolerationOf) }];
}

function tolerationOf({ key, value, effect }: Taint): Toleration {
  return value === undefined || value === "" ? { key, operator: "Exists", effect } : { key, operator: "Equal", value, effect };
}
