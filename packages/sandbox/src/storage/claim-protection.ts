/** A claim that a pod uses is not deleted under it: its finalizer goes when the last user has gone. */
import { PersistentVolumeClaims } from "@joinery/api";
import { isNotFound, keyOf, parseKey } from "@joinery/kube";
import { isEnded } from "../controllers/pod-facts.ts";
import { claimNames } from "../scheduler/pod-info.ts";
import type { ClusterContext } from "../world/context.ts";
import { startWorkLoop } from "../world/work-loop.ts";

const PROTECTION = "kubernetes.io/pvc-protection";

export function startClaimProtection(context: ClusterContext): void {
  const { views } = context;
  const client = context.client("pvc-protection-controller");

  async function reconcile(key: string): Promise<undefined> {
    const claim = views.claims.find(key);
    const { deletionTimestamp, finalizers = [], resourceVersion } = claim?.metadata ?? {};
    if (deletionTimestamp === undefined || !finalizers.includes(PROTECTION)) {
      return;
    }
    // A pod that was not scheduled yet does not hold the claim: it could never start.
    if (views.pods.by("claim", key).some((pod) => pod.spec.nodeName !== undefined && !isEnded(pod))) {
      return;
    }
    const body = { metadata: { resourceVersion, finalizers: finalizers.filter((finalizer) => finalizer !== PROTECTION) } };
    await client.patch(PersistentVolumeClaims, parseKey(key), { type: "merge", body }).catch((error: unknown) => {
      if (!isNotFound(error)) {
        throw error;
      }
    });
  }

  const loop = startWorkLoop({ name: "pvc-protection-controller", context, reconcile });
  views.claims.onChange((change) => {
    if (change.type !== "deleted" && change.object.metadata?.deletionTimestamp !== undefined) {
      loop.add(keyOf(change.object));
    }
  });
  views.pods.onChange(({ type, object }) => {
    if (type === "deleted" || isEnded(object)) {
      for (const claim of claimNames(object)) {
        loop.add(`${object.metadata?.namespace}/${claim}`);
      }
    }
  });
}
