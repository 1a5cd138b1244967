/** Pod records for tests of what is decided about pods. */
import type { Pod } from "@joinery/api";
import { shapeOf } from "@joinery/scheduling";
import { createPodReader, type PodRecord } from "../state/pod-record.ts";

const readPod = createPodReader({ shapeOf, intern: (text) => text });

export interface PodWish extends Partial<Pod["metadata"] & object> {
  readonly spec?: Partial<Pod["spec"]>;
  readonly status?: Pod["status"];
  /** `apps/v1/ReplicaSet` and the like, of the controller; a ReplicaSet when absent, none when "". */
  readonly owner?: string;
}

/** A running pod of a ReplicaSet, as the controller keeps it. */
export function aPodRecord({ spec, status, owner = "apps/v1/ReplicaSet", ...metadata }: PodWish = {}): PodRecord {
  const kind = owner.slice(owner.lastIndexOf("/") + 1);
  const ownerReferences =
    owner === "" ? [] : [{ apiVersion: owner.slice(0, owner.lastIndexOf("/")), kind, name: "owner", uid: "owner", controller: true }];
  const pod: Pod = {
    metadata: { name: "pod", namespace: "default", uid: metadata.name ?? "pod", ownerReferences, ...metadata },
    spec: { containers: [{ name: "main" }], nodeName: "node", ...spec },
    status: { phase: "Running", ...status },
  };
  return readPod(pod);
}
