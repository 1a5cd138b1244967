/** Which pods the last decision put on which new NodeClaim, for those who have to tell the pods about it. Rules L-63, V-94. */
import type { PodRecord } from "./pod-record.ts";

export interface Assignments {
  assign(nodeClaim: string, pods: readonly PodRecord[]): void;
  /** UIDs by pod key. */
  podsOf(nodeClaim: string): ReadonlyMap<string, string>;
  forget(nodeClaim: string): void;
}

export function createAssignments(): Assignments {
  const assigned = new Map<string, ReadonlyMap<string, string>>();
  return {
    assign: (nodeClaim, pods) =>
      void assigned.set(nodeClaim, new Map(pods.map(({ metadata }) => [`${metadata.namespace}/${metadata.name}`, metadata.uid]))),
    podsOf: (nodeClaim) => assigned.get(nodeClaim) ?? new Map(),
    forget: (nodeClaim) => void assigned.delete(nodeClaim),
  };
}
