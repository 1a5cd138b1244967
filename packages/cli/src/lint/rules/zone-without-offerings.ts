/** Zones that pools or pods ask for and in which nothing can be launched. Rules S-53, S-131, S-144. */
import { ZONE_LABEL } from "@joinery/api";
import { Requirement, untoleratedTaints } from "@joinery/scheduling";
import type { Facts } from "../facts.ts";
import type { Remark } from "../finding.ts";
import { nodeDemands } from "../node-demands.ts";
import { REQUIREMENTS } from "../paths.ts";
import type { PoolFacts } from "../pool-facts.ts";
import type { Rule } from "../rule.ts";
import { hardSpreads, spreadKeyOf } from "../spreads.ts";
import { listText } from "../words.ts";
import type { Workload } from "../workloads.ts";
import { mayGoTo, zonesOf } from "../zones.ts";

export const zoneWithoutOfferings: Rule = {
  name: "zone-without-offerings",
  severity: "error",
  summary: "A pool, a zone spread or an affinity counts on a zone in which no instance type is offered.",
  *check(facts) {
    const offered = new Map(facts.pools.map((pool) => [pool, zonesOf(pool)]));
    for (const [pool, zones] of offered) yield* poolZones(pool, zones, facts);
    const existing = facts.nodes.flatMap(({ metadata }) => metadata?.labels?.[ZONE_LABEL] ?? []);
    const all = new Set([...[...offered.values()].flatMap((zones) => [...zones]), ...existing]);
    if (all.size > 0) yield* workloadZones(all, facts);
  },
};

/** A zone that the pool lists is a domain of every zone spread, empty for ever when nothing is offered there. */
function* poolZones(pool: PoolFacts, zones: ReadonlySet<string>, facts: Facts): Iterable<Remark> {
  if (zones.size === 0) return;
  for (const [index, item] of pool.pool.spec.template.spec.requirements.entries()) {
    const requirement = Requirement.of(item);
    const empty =
      requirement.key === ZONE_LABEL
        ? (requirement.listedValues ?? []).filter((zone) => !zones.has(zone) && pool.requirements.find(ZONE_LABEL)!.has(zone))
        : [];
    if (empty.length === 0) continue;
    const stopped = stoppedBy(empty[0]!, zones.size, pool, facts);
    const names = listText(stopped.map(({ kind, name }) => `${kind}/${name}`));
    const happens =
      stopped.length === 0
        ? "the pool never gets a node there"
        : `it counts as a zone without pods all the same, so ${names}, spread over zones, can have only maxSkew pods in each of the others`;
    yield {
      severity: stopped.length === 0 ? "warning" : "error",
      manifest: pool.manifest,
      path: [...REQUIREMENTS, index, "values"],
      message: `no instance type of the pool is offered in ${listText(empty)}: ${happens}`,
      instead: `only zones with offerings: ${listText([...zones].sort(), 8)}`,
    };
  }
}

/** Workloads that spread over zones, may go to the empty one, and have more pods than the other zones may take. */
function stoppedBy(emptyZone: string, zoneCount: number, { taints }: PoolFacts, { workloads }: Facts): readonly Workload[] {
  return workloads.filter((workload) =>
    hardSpreads(workload).some(({ constraint: { maxSkew, nodeTaintsPolicy, nodeAffinityPolicy, topologyKey } }) => {
      if (spreadKeyOf(topologyKey) !== ZONE_LABEL || (workload.replicas ?? 0) <= maxSkew * zoneCount) return false;
      if (nodeTaintsPolicy === "Honor" && untoleratedTaints(taints, workload.spec.tolerations ?? []).length > 0) return false;
      return nodeAffinityPolicy === "Ignore" || mayGoTo(emptyZone, workload);
    }),
  );
}

function* workloadZones(zones: ReadonlySet<string>, facts: Facts): Iterable<Remark> {
  for (const workload of facts.workloads) {
    const { manifest } = workload;
    for (const { item, path } of nodeDemands(workload)) {
      const requirement = Requirement.of(item);
      if (requirement.key !== ZONE_LABEL || item.operator !== "In") continue;
      // Zones that no type at all is offered in are unknown values, which another rule speaks of.
      const empty = requirement.values.filter((zone) => !zones.has(zone) && facts.catalogue.values.get(ZONE_LABEL)?.has(zone));
      if (empty.length === 0 || empty.length === requirement.values.length) continue;
      const message = `no pool can launch anything in ${listText(empty)}, so these pods never get a new node there`;
      yield {
        severity: "warning",
        manifest,
        path,
        message,
        instead: `a pool for these zones, or only zones of the pools: ${listText([...zones].sort(), 8)}`,
      };
    }
    for (const { constraint, path } of hardSpreads(workload)) {
      const { minDomains = 1, maxSkew, topologyKey } = constraint;
      const open = [...zones].filter((zone) => mayGoTo(zone, workload)).length;
      if (spreadKeyOf(topologyKey) !== ZONE_LABEL || minDomains <= open) continue;
      const most = maxSkew * open;
      yield {
        severity: (workload.replicas ?? 0) > most ? "error" : "warning",
        manifest,
        path: [...path, "minDomains"],
        message: `minDomains ${minDomains} asks for more zones than the ${open} in which these pods can get a node: at most ${most} of its pods are ever placed`,
        instead: `minDomains: ${Math.max(open, 1)} or less, or pools for more zones`,
      };
    }
  }
}
