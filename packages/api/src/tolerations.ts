/** Which taints a toleration matches. Rule S-115. */
import type { Taint, Toleration } from "./kubernetes/pod.ts";
import { operatorHolds } from "./selector-operator.ts";

/** An absent key with `Exists` matches all keys, an absent effect all effects; `Equal` is the operator that is left out. */
export function tolerates({ key, operator, value, effect }: Toleration, taint: Taint): boolean {
  if (effect !== undefined && (effect as string) !== "" && effect !== taint.effect) return false;
  if (key !== undefined && key !== "" && key !== taint.key) return false;
  switch (operator) {
    case "Exists":
      return true;
    case "Gt":
    case "Lt":
      return operatorHolds(operator, taint.value, [value ?? ""]);
    default:
      return key !== undefined && key !== "" && (value ?? "") === (taint.value ?? "");
  }
}
