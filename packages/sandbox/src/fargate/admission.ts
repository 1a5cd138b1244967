/** What EKS does to a pod of a Fargate profile when it is created. Rules F-22, F-33, F-35. */
import type { Pod } from "@joinery/api";
import { FARGATE_PROFILE_LABEL, findProfile, type SelectingProfile } from "./selectors.ts";

export const FARGATE_SCHEDULER = "fargate-scheduler";
const SYSTEM_NODE_CRITICAL = { priorityClassName: "system-node-critical", priority: 2_000_001_000 };

/** The pod as it is stored: changed when a profile takes it, the very same otherwise. Never looked at again (F-22). */
export function admitFargatePod(pod: Pod, activeProfiles: readonly SelectingProfile[]): Pod {
  const profile = findProfile(pod, activeProfiles);
  if (profile === undefined || pod.spec.nodeName !== undefined) {
    return pod;
  }
  return {
    ...pod,
    metadata: { ...pod.metadata, labels: { ...pod.metadata?.labels, [FARGATE_PROFILE_LABEL]: profile.name } },
    spec: { ...pod.spec, schedulerName: FARGATE_SCHEDULER, ...SYSTEM_NODE_CRITICAL },
  };
}
