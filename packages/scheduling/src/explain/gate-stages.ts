/**
 * What is left of a pool's types once the solver's last questions are asked, one after the other: ports of the host, volumes, company,
 * minValues, reservations. The answers are those of the objects that the solver asks. Rules S-94, S-101, S-120…S-127, S-143, S-173, V-62.
 */
import { HOSTNAME_LABEL } from "@joinery/api";
import { hasCommon, intersection, isEmpty, isIn, type TypeSet } from "../catalog/type-set.ts";
import type { PodShape } from "../problem.ts";
import type { MinValuesShortfall, Reason } from "../reason.ts";
import { Requirements } from "../requirements/requirements.ts";
import { requirementsText } from "../requirements/text.ts";
import { variantsThatAttach } from "../solve/claim-gate.ts";
import type { ClaimState, Constraint } from "../solve/claim-state.ts";
import { variantsWithFreePorts } from "../solve/daemon-overhead.ts";
import { hostPortText } from "../solve/host-ports.ts";
import { minValuesShortfalls } from "../solve/min-values.ts";
import type { Search } from "../solve/pod-classes.ts";
import type { Template } from "../solve/template.ts";
import { narrowedBy } from "../solve/topology-choice.ts";
import type { Group } from "../topology/topology.ts";
import type { Asking } from "../topology/topology-group.ts";
import { companyText, domainFacts, openDomains } from "./company-facts.ts";
import { type DomainFact, residentsOf, type Surroundings } from "./residents.ts";

export interface GateStage {
  readonly stage: Reason["kind"];
  readonly key?: string;
  readonly left: TypeSet;
  readonly why: string;
  readonly domains?: readonly DomainFact[];
  /** Where nothing is left: what the pool would have to have in its labels, one of the values. */
  readonly wanted?: { readonly key: string; readonly values: readonly string[] };
  readonly shortfalls?: readonly MinValuesShortfall[];
  /** Where nothing is left: the group that says so. */
  readonly refusing?: { readonly group: Group; readonly asking: Asking; readonly reachable: readonly string[] };
  /** That group, and those that were asked before it and have left so little. */
  readonly companions?: readonly Group[];
}

export interface GateQuestion extends Surroundings {
  readonly template: Template;
  /** Of the pod. */
  readonly shape: PodShape;
  /** Labels of pool and pod together. */
  readonly state: ClaimState;
  /** Types that have passed until now. */
  readonly left: TypeSet;
  readonly search: Search;
}

export interface GateAnswer {
  readonly stages: readonly GateStage[];
  /** Empty where some stage refuses. */
  readonly left: TypeSet;
  /** With what volumes and company make of the labels. */
  readonly state: ClaimState;
}

/** In this order, up to the first that leaves nothing. Of several places that the volumes can be, the one that gets furthest. */
export function askGate(question: GateQuestion): GateAnswer {
  const { search, state } = question;
  const stages: GateStage[] = [];
  let { left } = question;
  for (const stage of [portStage(question), attachmentStage(question)]) {
    if (stage === undefined || isOver(stages)) continue;
    left = intersection(left, stage.left);
    stages.push({ ...stage, left });
  }
  if (isOver(stages)) return { stages, left, state };
  const alternatives = search.volumes?.alternatives;
  if (alternatives === undefined) return after(stages, companyAnswer({ ...question, left }, state));
  if (alternatives.length === 0) {
    const why = placesText(question);
    return { stages: [...stages, { stage: "volume-topology", left: NOTHING, why }], left: NOTHING, state };
  }
  const reached = alternatives.map((alternative) => placeAnswer({ ...question, left }, alternative, alternatives));
  return after(
    stages,
    reached.reduce((one, other) => (isFurther(other, one) ? other : one)),
  );
}

/** Of volumes that no node can reach together: where each of them is. */
function placesText({ shape: { namespace, claimNames = [] }, problem }: GateQuestion): string {
  const places = claimNames.flatMap((name): string[] => {
    const { alternatives = [] } = problem.claims?.get(`${namespace}/${name}`) ?? {};
    if (alternatives.length === 0) return [];
    return [`${namespace}/${name} from ${alternatives.map((items) => requirementsText(Requirements.fromItems(items))).join(" or ")}`];
  });
  return `no node can reach its volumes together: ${places.join(", ")}`;
}

/** Those whose volumes are somewhere, or may only be made there. */
function claimsText({ shape: { namespace, claimNames = [] }, problem }: GateQuestion): string {
  const held = claimNames.map((name) => `${namespace}/${name}`).filter((key) => (problem.claims?.get(key)?.alternatives.length ?? 0) > 0);
  const shown = held.slice(0, CLAIMS_SHOWN_MAX).join(", ");
  const more = held.length > CLAIMS_SHOWN_MAX ? ` and ${held.length - CLAIMS_SHOWN_MAX} more` : "";
  return held.length === 1 ? `the volume of claim ${shown}` : `the volumes of claims ${shown}${more} together`;
}

const CLAIMS_SHOWN_MAX = 3;

const NOTHING: TypeSet = new Int32Array(0);

function after(before: readonly GateStage[], answer: GateAnswer): GateAnswer {
  return { ...answer, stages: [...before, ...answer.stages] };
}

function isOver(stages: readonly GateStage[]): boolean {
  const last = stages.at(-1);
  return last !== undefined && isEmpty(last.left);
}

function isFurther({ stages: one }: GateAnswer, { stages: other }: GateAnswer): boolean {
  return isOver(one) === isOver(other) ? one.length > other.length : !isOver(one);
}

function placeAnswer(question: GateQuestion, place: Constraint, all: readonly Constraint[]): GateAnswer {
  const state = question.state.after(place);
  const left = state === null ? NOTHING : intersection(question.left, state.variants);
  const why = `${claimsText(question)} can only be reached from ${all.map(({ requirements }) => requirementsText(requirements)).join(" or ")}`;
  if (state !== null && !isEmpty(left))
    return after([{ stage: "volume-topology", left, why }], companyAnswer({ ...question, left }, state));
  const key = [...place.requirements].find(({ listedValues }) => listedValues !== undefined)?.key;
  const values = [...new Set(all.flatMap(({ requirements }) => (key === undefined ? [] : (requirements.find(key)?.values ?? []))))];
  const had = key === undefined ? [] : offeredValues(question.template, question.state, question.left, key);
  const there = had.length === 0 ? "" : `, and the types that are left are in ${had.join(", ")}`;
  const stage: GateStage = {
    stage: "volume-topology",
    left: NOTHING,
    why: `${why}${there}`,
    ...(key !== undefined && { wanted: { key, values } }),
  };
  return { stages: [stage], left: NOTHING, state: question.state };
}

function portStage({ template, search: { hostPorts } }: GateQuestion): GateStage | undefined {
  if (hostPorts === undefined) return undefined;
  const { daemonGroups, catalog } = template;
  const free = variantsWithFreePorts(daemonGroups, hostPorts, catalog.variantCount) ?? template.root.variants;
  const why = `host port ${hostPorts.map(hostPortText).join(", ")} is taken by DaemonSets on each of these types`;
  return { stage: "host-port", left: free, why };
}

function attachmentStage({ template, left, search: { volumes } }: GateQuestion): GateStage | undefined {
  if (volumes === undefined || volumes.attachments.size === 0) return undefined;
  const among = variantsThatAttach(template, volumes.attachments) ?? template.root.variants;
  const short = [...volumes.attachments].flatMap(([driver, claims]) => {
    const most = template.catalog.attachmentColumn(driver).greatestIn(left);
    return most < claims.size
      ? [`the pod has ${claims.size} volumes of ${driver}, and none of these types attaches more than ${most}`]
      : [];
  });
  return { stage: "volume-limit", left: among, why: short.join("; ") || "no type attaches the volumes of all drivers together" };
}

function companyAnswer(question: GateQuestion, from: ClaimState): GateAnswer {
  const { search } = question;
  const stages: GateStage[] = [];
  let { left } = question;
  let state = from;
  const ended = (stage: GateStage): GateAnswer => ({ stages: [...stages, stage], left: NOTHING, state });
  for (const { group, isCounted } of search.topology?.hosts ?? []) {
    if (!group.allowsNewClaim(isCounted))
      return ended(refusal(question, state, { group, asking: { pod: undefined, isCounted }, companions: [group] }, left));
  }
  const domains = search.topology?.domains ?? [];
  // As the solver does: what one group leaves is asked of the others again, until nothing changes any more.
  for (let before: ClaimState | undefined, isFirst = true; before !== state; isFirst = false) {
    before = state;
    for (const [index, demand] of domains.entries()) {
      const { group, asking } = demand;
      const among = left;
      const next: ClaimState | null = narrowedBy([demand], state, ({ variants }) => hasCommon(among, variants));
      const there: TypeSet = next === null ? NOTHING : intersection(left, next.variants);
      if (next === null || isEmpty(there)) {
        const asked = domains.slice(0, isFirst ? index : undefined).map((one) => one.group);
        return ended(refusal(question, state, { group, asking, companions: [...new Set([group, ...asked])] }, left));
      }
      left = there;
      state = next;
      if (isFirst && !group.identity.isInverse) stages.push({ stage: group.identity.kind, key: group.identity.key, left, why: "" });
    }
  }
  const last = lastStage(question, state, left);
  return last === undefined ? { stages, left, state } : ended(last);
}

/** What depends on how many types are left. */
function lastStage({ template, view }: GateQuestion, state: ClaimState, left: TypeSet): GateStage | undefined {
  const { catalog, hasMinValues, minValuesPolicy } = template;
  const shortfalls = hasMinValues && minValuesPolicy === "Strict" ? minValuesShortfalls(state, catalog, left) : [];
  if (shortfalls.length > 0) {
    const why = shortfalls.map(({ key, wanted, found }) => `minValues ${wanted} of ${key}, of which these types have ${found}`).join("; ");
    return { stage: "min-values", left: NOTHING, why, shortfalls };
  }
  if (view.reservations.isEmpty) return undefined;
  switch (view.reservations.outcome(state, catalog, left, NO_RESERVATIONS).kind) {
    case "free":
      return undefined;
    case "deferred": {
      const why =
        "every capacity reservation that the pod could use is full, or spoken for by nodes of this plan; a later solve looks again";
      return { stage: "next-solve", left: NOTHING, why };
    }
    case "full":
      return { stage: "reserved-capacity", left: NOTHING, why: "nothing is left but capacity reservations, and they are full" };
  }
}

const NO_RESERVATIONS: ReadonlySet<string> = new Set();

function refusal(
  { problem, view, plan, template }: GateQuestion,
  state: ClaimState,
  { group, asking, companions }: Pick<NonNullable<GateStage["refusing"]>, "group" | "asking"> & Required<Pick<GateStage, "companions">>,
  left: TypeSet,
): GateStage {
  const { kind, key } = group.identity;
  const reachable = offeredValues(template, state, left, key);
  const residents = residentsOf(group, { problem, view, plan });
  const isUndecided = "undecided" in group && group.undecided > 0 && kind !== "topology-spread";
  const why = `${companyText({ group, asking, reachable, residents })}${isUndecided ? "; for some of them the plan leaves open in which: a later solve will know it" : ""}`;
  const open = kind === "pod-anti-affinity" ? freeDomains(template, group, asking) : openDomains(group, asking);
  return {
    stage: isUndecided ? "next-solve" : kind,
    key,
    left: NOTHING,
    why,
    ...(residents.length > 0 && { domains: domainFacts({ group, residents }) }),
    ...(open.length > 0 && { wanted: { key, values: open } }),
    refusing: { group, asking, reachable },
    companions,
  };
}

/** Where nobody is that the pod must be apart from, also in domains that no pool has yet. */
function freeDomains({ catalog }: Template, group: Group, asking: Asking): readonly string[] {
  if (!("counts" in group)) return [];
  const { counts } = group;
  const sold = catalog.findLabel(group.identity.key)?.offeredBy((variant) => isIn(catalog.sound, variant), group.identity.key).values ?? [];
  return [...sold].filter((value) => (counts.get(value) ?? 0) === 0 && (asking.pod?.has(value) ?? true)).sort();
}

/** Values of a label that new nodes of these types could have, sorted. */
function offeredValues({ catalog, root }: Template, { requirements, kinds }: ClaimState, left: TypeSet, key: string): readonly string[] {
  if (key === HOSTNAME_LABEL) return [];
  const wish = requirements.find(key);
  const values = new Set<string>();
  for (const kind of kinds) {
    const { requirements: offered, variants } = catalog.kinds[kind]!;
    if (hasCommon(variants, left)) for (const value of offered.find(key)?.values ?? []) values.add(value);
  }
  const label = catalog.findLabel(key);
  if (values.size === 0 && label !== undefined)
    for (const value of label.offeredBy((variant) => isIn(left, variant), key).values) values.add(value);
  if (label === undefined && values.size === 0) for (const value of root.requirements.find(key)?.listedValues ?? []) values.add(value);
  return [...values].filter((value) => wish?.has(value) ?? true).sort();
}
