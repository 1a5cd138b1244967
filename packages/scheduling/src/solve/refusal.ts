/** Why a NodePool cannot give a pod a new node: the check that failed first, with its facts. Rules S-94, S-98, S-101…S-105. */
import { formatResources, maxResources, minResources, type Resources, sumResources } from "@joinery/api";
import { hasCommon, intersection, isEmpty, isIn, type TypeSet } from "../catalog/type-set.ts";
import { compareTexts } from "../plan/names.ts";
import type { PodShape } from "../problem.ts";
import type { FilterCategory, FilterQuestion, Reason } from "../reason.ts";
import type { Requirement } from "../requirements/requirement.ts";
import type { Requirements } from "../requirements/requirements.ts";
import { requirementsText, requirementText } from "../requirements/text.ts";
import { filterMeaning } from "../sentence.ts";
import { untoleratedTaints } from "../taints.ts";
import type { ClaimState, Constraint } from "./claim-state.ts";
import type { DaemonGroup } from "./daemon-overhead.ts";
import type { Template } from "./template.ts";

export interface RefusedPod {
  readonly shape: PodShape;
  readonly constraint: Constraint;
  /** Along the resource axis. */
  readonly requests: Float64Array;
}

/** At least one reason. Called once per class of pods and template, after the fast path has said no. */
export function refusalOf(template: Template, pod: RefusedPod): readonly Reason[] {
  const { name: nodePool, limits, root, taints, wellKnown } = template;
  const { requirements, tolerations } = pod.constraint;
  if (limits?.isExhausted) return [limits.reason(template.catalog.sound)];
  const untolerated = untoleratedTaints(taints, tolerations);
  if (untolerated.length > 0) return [{ kind: "untolerated-taint", nodePool, taints: untolerated }];
  const conflicts = root.requirements.incompatibilities(requirements, wellKnown);
  if (conflicts.length > 0) {
    return conflicts.map((conflict): Reason => {
      if (conflict.kind === "undefined-label") return { nodePool, ...conflict };
      const { key, wanted, offered } = conflict;
      return { kind: "incompatible-requirements", nodePool, key, wanted, offered };
    });
  }
  return [typeRefusal(template, root.narrowedBy(requirements), pod)];
}

function typeRefusal(template: Template, state: ClaimState, pod: RefusedPod): Reason {
  const fitting = fittingVariants(template, pod.requests);
  const { limits } = template;
  const wouldFit = intersection(state.variants, fitting);
  if (limits !== undefined && !isEmpty(wouldFit) && !hasCommon(wouldFit, limits.allowed())) return limits.reason(wouldFit);
  const { shape } = pod;
  const category = filterCategory(template, state, fitting, limits?.allowed());
  const filter = { category, requirements: requirementsText(state.requirements), ...askedResources(shape.requests, template.daemonGroups) };
  const message = filterMeaning(category, shape.requests);
  const nodePool = template.name;
  if (category === 5) return { kind: "no-offering", nodePool, message, filter };
  if (category === 7 || category === 10) return { kind: "insufficient-resources", nodePool, requests: shape.requests, message, filter };
  return {
    kind: "incompatible-requirements",
    nodePool,
    ...guiltyRequirement(template, pod.constraint.requirements, state.requirements),
    filter,
  };
}

/** S-102 from the flags over all types that the limits allow; "fits" includes a compatible offering (S-104). */
function filterCategory(
  { root, catalog }: Template,
  { compatible, kinds }: ClaimState,
  room: TypeSet,
  allowed: TypeSet | undefined,
): FilterCategory {
  const among = allowed === undefined ? root.variants : intersection(root.variants, allowed);
  const offering = intersection(among, catalog.offeringAny(kinds));
  const meets = !isEmpty(intersection(among, compatible));
  const fits = !isEmpty(intersection(offering, room));
  const offers = !isEmpty(offering);
  if (!meets && !fits && !offers) return 2;
  if (!meets && !fits) return 3;
  if (!fits && !offers) return 5;
  if (!meets) return 6;
  if (!fits) return 7;
  return 10;
}

function fittingVariants({ room, root }: Template, requests: Float64Array): TypeSet {
  let fitting = root.variants;
  for (const [position, column] of room.entries()) fitting = intersection(fitting, column.setOf(column.rowAtLeast(requests[position]!)));
  return fitting;
}

/** The first requirement, by key, that alone leaves no type; all of them where only their combination does. */
function guiltyRequirement(
  { catalog, root }: Template,
  wanted: Requirements,
  narrowed: Requirements,
): { readonly key: string; readonly wanted: string; readonly offered: string } {
  const asked = [...wanted].map(({ key }) => narrowed.find(key)!).sort((a, b) => compareTexts(a.key, b.key));
  const isMember = (variant: number) => isIn(root.variants, variant);
  for (const requirement of asked) {
    const label = catalog.findLabel(requirement.key);
    if (label === undefined || hasCommon(root.variants, label.compatibleWith(requirement))) continue;
    return { key: requirement.key, ...texts(requirement, label.offeredBy(isMember, requirement.key)) };
  }
  const keys = asked.filter(({ key }) => catalog.findLabel(key) !== undefined).map(({ key }) => key);
  return { key: keys.join(", "), wanted: requirementsText(asked), offered: "no instance type that has all of it" };
}

function texts(wanted: Requirement, offered: Requirement): { readonly wanted: string; readonly offered: string } {
  return { wanted: requirementText(wanted), offered: requirementText(offered) };
}

/** S-103. */
function askedResources(requests: Resources, groups: readonly DaemonGroup[]): Pick<FilterQuestion, "least" | "most"> {
  const overheads = groups.filter(({ isEmpty }) => !isEmpty).map(({ overhead }) => overhead);
  if (overheads.length === 0) return { least: requests };
  const least = sumResources(requests, overheads.reduce(minResources));
  const most = sumResources(requests, maxResources(...overheads));
  const isOne = JSON.stringify(formatResources(least)) === JSON.stringify(formatResources(most));
  return isOne ? { least } : { least, most };
}
