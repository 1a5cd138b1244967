/** Pods that got no place: what refuses them (S-98, S-100), and whether they would have had one before anybody else had. */
import type { Reason } from "../reason.ts";
import { gateRefusal } from "./claim-gate.ts";
import type { ExistingNodes } from "./existing-nodes.ts";
import { newCandidate } from "./new-claim.ts";
import type { PodClass, Search } from "./pod-classes.ts";
import { refusalOf } from "./refusal.ts";
import { hasRoom } from "./room.ts";
import type { Template } from "./template.ts";

/** Of all templates, in their order. What topology refuses is looked at once more, now that the counts are final. */
export function refusalsOf({ shape, requests }: PodClass, search: Search, templates: readonly Template[]): readonly Reason[] {
  const { constraint, closed } = search;
  const noUse = new Float64Array(requests.length);
  return templates.flatMap((template, index) => {
    const known = closed[index];
    if (known !== undefined) return known;
    const allowed = template.limits?.allowed();
    const state = template.root.after(constraint);
    if (state === null || !hasRoom(state, template, allowed, noUse, 0, requests))
      return refusalOf(template, { shape, constraint, requests });
    return [gateRefusal(newCandidate(template, allowed), state, search, requests)];
  });
}

/** Where nobody has a place yet, would labels, room and limits of some node let such a pod in? If not, no order of the pods helps it. */
export function couldBeFirst({ searches, requests, unsupported }: PodClass, templates: readonly Template[], nodes: ExistingNodes): boolean {
  if (unsupported.length > 0) return false;
  const noUse = new Float64Array(requests.length);
  return searches.some(({ constraint }) => {
    const isFor = (template: Template) => {
      const state = template.root.after(constraint);
      return state !== null && hasRoom(state, template, template.limits?.allowedAtFirst(), noUse, 0, requests);
    };
    return templates.some(isFor) || nodes.couldTake(constraint, requests);
  });
}
