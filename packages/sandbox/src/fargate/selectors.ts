/** Which pods a Fargate profile takes. Rules F-17…F-21. */
import type { Pod } from "@joinery/api";
import { matchesWildcard } from "../wildcard.ts";

export interface FargateSelector {
  readonly namespace: string;
  readonly labels?: Readonly<Record<string, string>>;
}

export interface SelectingProfile {
  readonly name: string;
  readonly selectors: readonly FargateSelector[];
}

/** F-21: a pod may ask for one profile by this label; it must match that profile all the same. */
export const FARGATE_PROFILE_LABEL = "eks.amazonaws.com/fargate-profile";

/** F-20: of several profiles the first by name; F-21: unless the pod names one. */
export function findProfile<P extends SelectingProfile>(pod: Pod, profiles: readonly P[]): P | undefined {
  const forced = pod.metadata?.labels?.[FARGATE_PROFILE_LABEL];
  const byName = [...profiles].sort((a, b) => (a.name < b.name ? -1 : 1));
  return byName.find((profile) => (forced === undefined || profile.name === forced) && matchesProfile(pod, profile));
}

/** F-17: any selector will do. */
export function matchesProfile(pod: Pod, { selectors }: SelectingProfile): boolean {
  return selectors.some((selector) => matchesSelector(pod, selector));
}

/** F-18: the namespace, and every label pair on the pod. F-19: all three with wildcards. */
function matchesSelector(pod: Pod, { namespace, labels = {} }: FargateSelector): boolean {
  const own = Object.entries(pod.metadata?.labels ?? {});
  return (
    matchesWildcard(namespace, pod.metadata?.namespace ?? "") &&
    Object.entries(labels).every(([key, value]) => own.some(([name, text]) => matchesWildcard(key, name) && matchesWildcard(value, text)))
  );
}
