/** The solver's reasons in a few words, with the pools that they come from. */
import { formatAmount } from "@joinery/api";
import { type Reason, sentence, taintText } from "@joinery/scheduling";
import { listText } from "./words.ts";

/** `NodePool a: …; NodePools b and c: …`; what is true of several pools is said once. */
export function poolReasons(reasons: readonly Reason[]): string {
  const byText = Map.groupBy(reasons, shortText);
  return Array.from(byText, ([text, same]) => {
    const pools = [...new Set(same.flatMap((reason) => ("nodePool" in reason && reason.nodePool !== undefined ? [reason.nodePool] : [])))];
    if (pools.length === 0) return text;
    return `NodePool${pools.length === 1 ? "" : "s"} ${listText(pools)}: ${text}`;
  }).join("; ");
}

/** Without the requirements and resources that the solver's sentences carry for logs. */
function shortText(reason: Reason): string {
  switch (reason.kind) {
    case "untolerated-taint":
      return `has the taint ${listText(reason.taints.map(taintText))}, which the pods do not tolerate`;
    case "incompatible-requirements":
      return `offers ${reason.offered}, not ${reason.wanted}`;
    case "undefined-label":
      return `does not have the label ${reason.key}`;
    case "over-limit":
      return `its limit of ${formatAmount(reason.resource, reason.limit)} ${reason.resource} is less than one node that would hold the pods has`;
    case "host-port":
      return `DaemonSets on its nodes use the host port ${listText(reason.ports)} already`;
    case "invalid-requirement":
      return reason.problem === "restricted-label"
        ? `they ask for the label ${reason.key}, which new nodes cannot be asked for`
        : reason.message;
    case "insufficient-resources":
    case "no-offering":
      return reason.message;
    default:
      return sentence(reason);
  }
}
