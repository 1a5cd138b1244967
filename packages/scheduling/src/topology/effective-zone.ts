/** Which zone a pod that waits can go to, for those who look for a zone that runs short. Rule S-193. */
import { normalizeLabel, ZONE_LABEL } from "@joinery/api";
import { compileCatalog } from "../catalog/catalog.ts";
import { type PodVariant, podRequirements, podVariants } from "../pods/pod-variants.ts";
import type { PodShape, Problem } from "../problem.ts";
import type { Requirement } from "../requirements/requirement.ts";
import { templateRequirements } from "../solve/template.ts";
import { type VolumeDemand, VolumeDemands } from "../volumes/volume-demand.ts";
import { DomainUniverse } from "./domain-universe.ts";
import { demandOf, Topology, type TopologyDemand } from "./topology.ts";

/** A zone's name; `flexible` where there are several, `none` where constraints leave none. Looks at what is bound, not at what a solve places. */
export function effectiveZones(problem: Problem): (shape: PodShape) => string {
  const demands = zoneDemands(problem);
  const volumes = new VolumeDemands(problem);
  return (shape) => {
    const groups = (demands.get(shape)?.domains ?? []).filter(({ group }) => group.identity.key === ZONE_LABEL);
    const valid = groups.map(({ group, asking }) => [...group.counts.keys()].filter((zone) => group.allowsAt(asking, zone)));
    if (valid.some((zones) => zones.length === 0)) return "none";
    return zoneWithin({
      wanted: podRequirements(shape)[0]!.find(ZONE_LABEL),
      ofVolumes: volumeZones(volumes.of(shape)),
      ofTopology: valid.length === 0 ? [] : valid.reduce((both, zones) => both.filter((zone) => zones.includes(zone))),
    });
  };
}

interface ZoneChoice {
  /** The pod's strict requirement. */
  readonly wanted: Requirement | undefined;
  /** undefined: volumes say nothing. */
  readonly ofVolumes: readonly string[] | undefined;
  /** Empty: constraints between pods say nothing. */
  readonly ofTopology: readonly string[];
}

function zoneWithin({ wanted, ofVolumes, ofTopology }: ZoneChoice): string {
  const base = wanted?.listedValues ?? ofVolumes ?? (ofTopology.length > 0 ? ofTopology : undefined);
  if (base === undefined) return "flexible";
  const left = base.filter(
    (zone) =>
      (wanted === undefined || wanted.has(zone)) &&
      (ofVolumes === undefined || ofVolumes.includes(zone)) &&
      (ofTopology.length === 0 || ofTopology.includes(zone)),
  );
  return left.length > 1 ? "flexible" : (left[0] ?? "none");
}

/** What volumes allow together, where each way to reach them names its zones. */
function volumeZones(demand: VolumeDemand | undefined): readonly string[] | undefined {
  const zones = demand?.alternatives?.map(({ requirements }) => requirements.find(ZONE_LABEL)?.listedValues);
  if (zones === undefined || zones.some((list) => list === undefined)) return undefined;
  return [...new Set(zones.flatMap((list) => list ?? []))];
}

/** Of shapes that have a constraint by zone, as they are tried first. Nothing is made where no pod has one. */
function zoneDemands(problem: Problem): ReadonlyMap<PodShape, TopologyDemand> {
  const { preferencePolicy } = problem.options;
  const firsts = new Map<PodShape, PodVariant>();
  for (const { shape } of problem.pods) {
    if (firsts.has(shape) || !mentionsZone(shape)) continue;
    firsts.set(shape, podVariants(shape, { preferencePolicy, mayPreferNot: false })[0]!);
  }
  const demands = new Map<PodShape, TopologyDemand>();
  if (firsts.size === 0) return demands;
  const sources = problem.pools.map(({ nodePool, instanceTypes }) => ({
    catalog: compileCatalog(instanceTypes),
    requirements: templateRequirements(nodePool),
    taints: nodePool.spec.template.spec.taints ?? [],
  }));
  const topology = new Topology(problem, problem.nodes, new DomainUniverse(sources));
  for (const [shape, variant] of firsts) {
    const demand = demandOf(topology.announce(shape, variant), shape, variant);
    if (demand !== undefined) demands.set(shape, demand);
  }
  topology.countBound(problem.boundPods ?? []);
  return demands;
}

function mentionsZone({ topologySpreadConstraints = [], affinity }: PodShape): boolean {
  const terms = [affinity?.podAffinity, affinity?.podAntiAffinity].flatMap((one) => [
    ...(one?.requiredDuringSchedulingIgnoredDuringExecution ?? []),
    ...(one?.preferredDuringSchedulingIgnoredDuringExecution ?? []).map(({ podAffinityTerm }) => podAffinityTerm),
  ]);
  return [...topologySpreadConstraints, ...terms].some(({ topologyKey }) => normalizeLabel(topologyKey) === ZONE_LABEL);
}
