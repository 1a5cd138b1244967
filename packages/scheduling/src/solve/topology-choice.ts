/** What constraints between pods leave of a claim's state, and which of several equally good domains is chosen. Rules S-141, S-142, S-145, S-150. */
import type { Requirement } from "../requirements/requirement.ts";
import type { TopologyDemand } from "../topology/topology.ts";
import type { ClaimState } from "./claim-state.ts";
import type { OpenClaim } from "./open-claims.ts";
import { hasRoom } from "./room.ts";

/**
 * The state under the groups' answers; null = nothing is left. The groups come in the order of how much choice they have
 * (`TopologyDemand`), and each is asked about what those before it have left, so that a domain is chosen that goes with the rest.
 * They are asked until nothing changes any more: a zone in which there is no node of the capacity type that another group has chosen
 * is not left open either (S-141), whichever of the two was asked first.
 * @param isFine could a node be made in this state?
 * @param isEnough does this state, which one domain alone leaves, keep what minValues demands? Several left open keep it together
 */
export function narrowedBy(
  domains: TopologyDemand["domains"],
  state: ClaimState,
  isFine: (state: ClaimState) => boolean,
  isEnough?: (state: ClaimState) => boolean,
): ClaimState | null {
  let left = state;
  const isToBeHad = (domain: Requirement, isAlone: boolean) => {
    const there = left.within(domain);
    return there !== null && isFine(there) && (!isAlone || isEnough === undefined || isEnough(there));
  };
  for (let before: ClaimState | undefined; before !== left; ) {
    before = left;
    for (let index = 0; index < domains.length; index++) {
      const { group, asking } = domains[index]!;
      const { key, kind } = group.identity;
      const allowed = group.allowed(asking, left.requirements.find(key), isToBeHad);
      let next = allowed === undefined ? null : left.within(allowed);
      // S-142: nobody has to be kept away from others on a node that is in no domain.
      if (next === null && kind === "pod-anti-affinity") next = left.within(group.absence);
      if (next === null) return null;
      left = next;
    }
    if (domains.length === 1) break;
  }
  return left;
}

/**
 * S-141: a label by which pods of the claim are counted is decided as soon as the claim can be had with one value only, whatever its
 * requirements would still allow: where it is then follows from the plan, and others need not wait for the next solve. No type that has
 * room is lost thereby.
 */
function decidedAlong(keys: readonly string[], state: ClaimState, isToBeHad: (state: ClaimState) => boolean): ClaimState {
  let left = state;
  for (let index = 0; index < keys.length; index++) left = onlyChoice(keys[index]!, left, isToBeHad);
  return left;
}

/** The state itself where there are several choices, or where minValues counts them. */
function onlyChoice(key: string, state: ClaimState, isToBeHad: (state: ClaimState) => boolean): ClaimState {
  const requirement = state.requirements.find(key);
  if (requirement?.listedValues?.length === 1 || requirement?.minValues !== undefined) return state;
  const choices = state.choicesOf(key);
  let only: ClaimState | undefined;
  for (let index = 0; index < choices.length; index++) {
    if (!isToBeHad(choices[index]!)) continue;
    if (only !== undefined) return state;
    only = choices[index]!;
  }
  return only ?? state;
}

/** The state in which a pod is admitted to a claim, narrowed to what alone can be had along the labels by which somebody counts. */
export function decidedOn(
  claim: OpenClaim,
  used: Float64Array,
  keys: readonly string[],
  requests: Float64Array,
  state: ClaimState,
): ClaimState {
  const { template, allowed, openKeys } = claim;
  if (keys.length === 0 && openKeys.length === 0) return state;
  const counted = openKeys.length === 0 ? keys : bothOf(openKeys, keys);
  const left = decidedAlong(counted, state, (choice) => hasRoom(choice, template, allowed, used, 0, requests));
  claim.openKeys = counted.filter((key) => left.requirements.find(key)?.listedValues?.length !== 1);
  return left;
}

function bothOf(some: readonly string[], more: readonly string[]): readonly string[] {
  return more.every((key) => some.includes(key)) ? some : [...new Set([...some, ...more])].sort();
}
