/**
 * What no plan that places every pod can cost less than.
 *
 * The linear program lets go of everything that makes a plan hard: nodes and pods are divisible, so a plan may buy 0.3 of a node and put
 * half a pod there; pods of a group are one amount; hostname spreads, affinity and anti-affinity between pods, host ports, volumes, limits
 * and the weights of pools are left out. What stays holds for every plan: a pod runs only where its taints, selectors and node affinity let
 * it and where one such pod has room at all; a node of a column has no more of any resource than its type allocates, less the DaemonSets;
 * nodes that exist have what is free on them; a required spread over zones ends with its pods in all zones. Each valid plan is a solution of
 * the program, at its own price; so the least price of a solution is at most that of the cheapest plan.
 */
import type { Problem } from "@joinery/scheduling";
import { choiceOf } from "./choice.ts";
import { type PodGroup, podGroups } from "./demand.ts";
import { type Candidate, undominated } from "./dominance.ts";
import { rowMultipliers } from "./highs.ts";
import { createBuilder, type LinearProgram, weakDualBound } from "./linear-program.ts";
import { suppliesOf } from "./supply.ts";

export interface BoundOptions {
  /** Bounds plans whose spot nodes list so many types, where their pods allow (`choice.ts`); 1 = all plans. */
  readonly spotTypesMin?: number;
  /**
   * Bounds price + charge × new nodes, where part of a node pays its part. What a plan of few nodes costs at least follows: this bound less the
   * charge times the nodes, for any charge (`frontier.ts`).
   */
  readonly nodeChargeUsdPerHour?: number;
}

/** In USD per hour, of instances and charges. Certified by the multipliers, not by trust in the solver. */
export async function lowerBoundUsdPerHour(
  problem: Problem,
  { spotTypesMin = 1, nodeChargeUsdPerHour = 0 }: BoundOptions = {},
): Promise<number> {
  if (problem.pods.length === 0) return 0;
  const all = suppliesOf(problem).map((supply) =>
    supply.isThere ? supply : { ...supply, usdPerHour: supply.usdPerHour + nodeChargeUsdPerHour },
  );
  const zones = new Set(all.filter(({ isThere }) => !isThere).map(({ zone }) => zone)).size;
  const groups = podGroups(problem, zones);
  const wellKnown = problem.options.wellKnownLabels ?? new Set<string>();
  const { supplies, whole, rare } = choiceOf(all, groups, { typesMin: spotTypesMin, wellKnown });
  const withRare = undominated(whole, groups, wellKnown).filter((candidate) => candidate.groups.some((group) => rare.has(group)));
  const program = relaxation(groups, [
    ...undominated(supplies, groups, wellKnown),
    ...withRare.map((candidate) => ({ ...candidate, oneOf: rare })),
  ]);
  return weakDualBound(program, await rowMultipliers(program));
}

function relaxation(groups: readonly PodGroup[], candidates: readonly Candidate[]): LinearProgram {
  const { variable, row, program } = createBuilder();
  const pods = groups.reduce((sum, { count }) => sum + count, 0);
  const placed = groups.map(({ count }) => row({ least: count }));
  const quotas = zoneQuotas(groups, candidates, row);
  for (const { supply, groups: members, oneOf } of candidates) {
    // No plan has more nodes than pods; a node that exists is there once.
    const nodes = supply.isThere ? undefined : variable(supply.usdPerHour, pods);
    const wanted = oneOf && row({ least: 0 });
    wanted?.add(nodes!, -1);
    const share = new Map<string, ReturnType<typeof row>>();
    for (const name of new Set(members.flatMap((index) => Object.keys(groups[index]!.requests)))) {
      const resource = row({ most: nodes === undefined ? 1 : 0 });
      if (nodes !== undefined) resource.add(nodes, -1);
      share.set(name, resource);
    }
    for (const index of members) {
      const { requests, count } = groups[index]!;
      const amount = variable(0, count);
      placed[index]!.add(amount, 1);
      if (oneOf?.has(index)) wanted!.add(amount, 1);
      for (const name in requests) if (requests[name]! > 0) share.get(name)!.add(amount, requests[name]! / supply.room[name]!);
      for (const quota of quotas) if (quota.group === index && quota.zone === supply.zone) quota.row.add(amount, 1);
    }
  }
  return program;
}

function zoneQuotas(groups: readonly PodGroup[], candidates: readonly Candidate[], row: ReturnType<typeof createBuilder>["row"]) {
  const zones = [...new Set(candidates.map(({ supply }) => supply.zone))];
  return groups.flatMap(({ perZone }, group) => (perZone === undefined ? [] : zones.map((zone) => ({ group, zone, row: row(perZone) }))));
}
