/** Pods that must be apart by zone, and are more than there are zones. Rules S-151, S-152. */
import { ZONE_LABEL } from "@joinery/api";
import type { Facts } from "../facts.ts";
import type { Remark } from "../finding.ts";
import { meansItself, requiredPodTerms } from "../pod-terms.ts";
import type { Rule } from "../rule.ts";
import { listText } from "../words.ts";
import type { Workload } from "../workloads.ts";
import { mayGoTo, zonesOf } from "../zones.ts";

export const antiAffinityCrowded: Rule = {
  name: "anti-affinity-crowded",
  severity: "error",
  summary: "Pods that keep each other out of a zone are more than the zones that they can go to.",
  *check(facts) {
    for (const workload of facts.workloads) {
      if (workload.kind === "DaemonSet" || workload.replicas === undefined) continue;
      for (const term of requiredPodTerms(workload)) {
        if (term.side !== "podAntiAffinity" || term.key !== ZONE_LABEL || !meansItself(term, workload)) continue;
        const zones = zonesFor(workload, facts);
        if (zones.length > 0) yield* crowded(workload, zones, [...term.path, "topologyKey"]);
      }
    }
  },
};

/** Where its pods can get a node of a pool that takes them, or find one that is there. */
function zonesFor(workload: Workload, { answers, nodes }: Facts): readonly string[] {
  const takers = answers.of(workload).takers.flatMap((pool) => [...zonesOf(pool)]);
  const existing = nodes.flatMap(({ metadata }) => metadata?.labels?.[ZONE_LABEL] ?? []);
  return [...new Set([...takers, ...existing])].filter((zone) => mayGoTo(zone, workload)).sort();
}

function* crowded(workload: Workload, zones: readonly string[], path: Remark["path"]): Iterable<Remark> {
  const { manifest, replicas = 0 } = workload;
  const where = `${zones.length} ${zones.length === 1 ? "zone" : "zones"} (${listText(zones)})`;
  const instead = "topologyKey: kubernetes.io/hostname, a topology spread over zones with maxSkew 1, or a preferred anti-affinity";
  if (replicas > zones.length) {
    const message = `${replicas} pods must each be in a zone of their own, and they can go to ${where}: no more than ${zones.length} are ever placed`;
    yield { severity: "error", manifest, path, message, instead };
  } else if (replicas === zones.length && replaces(workload)) {
    const message = `${replicas} pods take all of the ${where} that they can go to, so the pod that an update adds first has no place: updates stand still`;
    yield { severity: "warning", manifest, path, message, instead: `${instead}, or maxSurge: 0 and maxUnavailable: 1` };
  }
}

interface WithStrategy {
  readonly spec: { readonly strategy?: { readonly type?: string; readonly rollingUpdate?: { readonly maxUnavailable?: number | string } } };
}

/** Does an update of the Deployment need one pod more before it may take one away? As the Deployment's controller rounds. */
function replaces({ kind, manifest, replicas = 0 }: Workload): boolean {
  if (kind !== "Deployment") return false;
  // The workload is one because its object is a Deployment.
  const { strategy } = (manifest.object as unknown as WithStrategy).spec;
  if (strategy?.type === "Recreate") return false;
  return shareOf(strategy?.rollingUpdate?.maxUnavailable ?? "25%", replicas) === 0;
}

function shareOf(amount: number | string, replicas: number): number {
  if (typeof amount === "number") return amount;
  return amount.endsWith("%") ? Math.floor((Number.parseInt(amount, 10) * replicas) / 100) : Number.parseInt(amount, 10);
}
