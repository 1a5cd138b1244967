/** Reasons as text for people: events, tables, logs. The words are those of rules S-8, S-18, S-42, S-43, S-100, S-102, S-114, S-161. */
import { formatResources, type Resources } from "@joinery/api";
import type { FilterCategory, FilterQuestion, Reason } from "./reason.ts";
import { taintText } from "./taints.ts";

const FILTER_TEXTS: Record<FilterCategory, string> = {
  2: "no instance type met the requirements, had enough resources, or had a required offering",
  3: "no instance type met the requirements or had enough resources",
  5: "no instance type had enough resources or had a required offering",
  6: "no instance type met all requirements",
  7: "no instance type has enough resources",
  10: "no instance type which had enough resources and the required offering met the requirements",
};

/** One reason as a sentence without a full stop. */
export function sentence(reason: Reason): string {
  switch (reason.kind) {
    case "no-node-pool":
      return "no dynamic nodepools found";
    case "node-pool-not-ready":
      return `nodepool is not ready, ${reason.message} (NodePool=${reason.nodePool})`;
    case "untolerated-taint":
      return reason.taints.map((taint) => `did not tolerate taint (taint=${taintText(taint)})`).join("; ");
    case "incompatible-requirements":
      if (reason.filter !== undefined) return filterText(reason.filter);
      return `incompatible requirements, key ${reason.key}, ${reason.wanted} not in ${reason.offered}`;
    case "undefined-label": {
      const hint = reason.typoOf === undefined ? "" : ` (typo of "${reason.typoOf}"?)`;
      return `incompatible requirements, label "${reason.key}" does not have known values${hint}`;
    }
    case "insufficient-resources":
    case "no-offering":
      return reason.filter === undefined ? reason.message : `${reason.message}${questionText(reason.filter)}`;
    case "over-limit":
      if (reason.resource === "nodes" && reason.used === reason.limit) {
        return `node limits have been exhausted for nodepool (NodePool=${reason.nodePool})`;
      }
      return `all available instance types exceed limits for nodepool (NodePool=${reason.nodePool})`;
    case "min-values":
      return `minValues requirement is not met for label(s) (label(s)=[${reason.labels.map(({ key }) => key).join(" ")}])`;
    case "host-port":
      return `host port ${reason.ports.join(", ")} is taken on every instance type of nodepool (NodePool=${reason.nodePool})`;
    case "volume-topology":
      return `incompatible volume requirements, want ${reason.wanted}`;
    case "volume-limit": {
      const facts = `provisioner=${reason.driver}, volume-count=${reason.count}, volume-limit=${reason.limit}`;
      return `would exceed volume limit for all instance type options${reason.driver === undefined ? "" : ` (${facts})`}`;
    }
    case "invalid-volume":
      return reason.message;
    case "topology-spread":
    case "pod-affinity":
    case "pod-anti-affinity": {
      const counts = Object.entries(reason.counts).map(([domain, count]) => `${domain}:${count}`);
      const facts = [
        `key=${reason.key}`,
        `counts=[${counts.join(" ")}]`,
        `podDomains=${reason.podDomains}`,
        `nodeDomains=${reason.nodeDomains}`,
      ];
      return `unsatisfiable topology constraint for ${reason.kind.replace("-", " ")} (${facts.join(", ")})`;
    }
    case "unsupported":
      return reason.nodePool === undefined
        ? `not supported yet: ${reason.feature}`
        : `not supported yet: ${reason.feature} of nodepool (NodePool=${reason.nodePool})`;
    case "invalid-requirement":
      return reason.message;
    case "reserved-capacity":
      return "the only compatible reserved offering is full; falling through to other NodePools";
    case "next-solve":
      if (reason.waitsFor === "reservation")
        return "all compatible reserved offerings are taken or full for now; a later solve looks again";
      return reason.waitsFor === undefined
        ? "the time for this solve was over before the pod's turn; the next one goes on"
        : "a pod that this one must be with or apart from has no decided place yet; a later solve will know it";
    case "opted-out":
      return "pod requires karpenter.sh/nodepool DoesNotExist, so no node of a nodepool is for it";
  }
}

/** Several reasons in one line, as S-100 joins them; what is true of several pools is said once. */
export function sentences(reasons: readonly Reason[]): string {
  return [...new Set(reasons.map(sentence))].join("; ");
}

/** What a category means (table below S-105); for 7, S-102's hint where somebody wrote `M` for `m`. */
export function filterMeaning(category: FilterCategory, requests: Resources): string {
  const isLikelyTypo = category === 7 && (requests.cpu ?? 0) >= 1_000_000_000;
  return isLikelyTypo ? `${FILTER_TEXTS[category]} (CPU request >= 1 Million, m vs M typo?)` : FILTER_TEXTS[category];
}

function filterText(filter: FilterQuestion): string {
  return `${FILTER_TEXTS[filter.category]}${questionText(filter)}`;
}

function questionText({ requirements, least, most }: FilterQuestion): string {
  const resources = most === undefined ? resourceText(least) : `min=${resourceText(least)}, max=${resourceText(most)}`;
  return `, requirements=${requirements}, resources=${resources}`;
}

function resourceText(resources: Resources): string {
  return JSON.stringify(formatResources(resources));
}
