/** Edits of what a pod tolerates: a toleration that is nearly the one that is needed, or one more. Rules S-114, S-115. */
import type { Taint, Toleration } from "@joinery/api";
import type { PodShape } from "../problem.ts";
import type { AskedPool } from "./candidate-edits.ts";
import type { PodEdit } from "./edit.ts";
import { hardTaints } from "./funnel.ts";
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

/** One for all taints of the pool: less would not help. */
export function tolerationsFor({ template }: AskedPool, shape: PodShape): PodEdit[] {
  const taints = hardTaints(template, shape);
  return taints.length === 0 ? [] : [{ kind: "add-tolerations", tolerations: taints.map(tolerationOf) }];
}

function tolerationOf({ key, value, effect }: Taint): Toleration {
  return value === undefined || value === "" ? { key, operator: "Exists", effect } : { key, operator: "Equal", value, effect };
}
