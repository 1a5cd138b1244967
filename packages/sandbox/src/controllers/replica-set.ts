/** ReplicaSets: as many pods as asked for. Which pods go first when there are too many is in `deletion-order.ts`. */
import type { Pod, ReplicaSet } from "@joinery/api";
import { Pods, ReplicaSets } from "@joinery/api";
import { isNotFound, keyOf, matchesLabelSelector } from "@joinery/kube";
import type { ClusterContext } from "../world/context.ts";
import { GATHER_MS, startWorkLoop } from "../world/work-loop.ts";
import { adoptOrphans } from "./adoption.ts";
import { deletionOrder } from "./deletion-order.ts";
import { createPodOf } from "./pod-creation.ts";
import { availabilityOf, controllerOf, isEnded, isReady } from "./pod-facts.ts";
import { controllerReference, podFromTemplate } from "./pod-template.ts";

import { withoutZeros, writeStatus } from "./status-writer.ts";

export function startReplicaSets(context: ClusterContext): void {
  const { views, clock } = context;
  const client = context.client("replicaset-controller");
  const events = context.events("replicaset-controller");

  async function reconcile(key: string): Promise<number | undefined> {
    const set = views.replicaSets.find(key);
    if (set === undefined) {
      return undefined;
    }
    if (views.replicaSets.isLeaving(set)) {
      return set.metadata?.deletionTimestamp === undefined ? undefined : updateStatus(set);
    }
    await releaseStrangers(set);
    const adopter = { owner: set, apiVersion: "apps/v1", kind: "ReplicaSet" };
    await adoptOrphans(adopter, { client, kind: Pods, view: views.pods }, (pod) => !isEnded(pod));
    const living = podsOf(set).filter((pod) => !isEnded(pod) && !views.pods.isLeaving(pod));
    const surplus = living.length - (set.spec.replicas ?? 1);
    for (let missing = surplus; missing < 0; missing++) {
      const owner = controllerReference(set, "apps/v1", "ReplicaSet");
      const identity = { namespace: set.metadata?.namespace ?? "", generateName: `${set.metadata?.name}-`, owner };
      const pod = await createPodOf(set, podFromTemplate(set.spec.template, identity), { client, events });
      views.pods.wrote(pod);
      events.publish(set, { reason: "SuccessfulCreate", message: `Created pod: ${pod.metadata?.name}` });
    }
    if (surplus > 0) {
      for (const pod of deletionOrder(living, clock.wallMs()).slice(0, surplus)) {
        await remove(set, pod);
      }
    }
    return updateStatus(set);
  }

  function podsOf(set: ReplicaSet): Pod[] {
    return views.pods.by("owner", set.metadata?.uid ?? "");
  }

  /** Pods whose labels have been changed since go on without us. */
  async function releaseStrangers(set: ReplicaSet): Promise<void> {
    for (const pod of podsOf(set)) {
      if (!matchesLabelSelector(set.spec.selector, pod.metadata?.labels) && !views.pods.isLeaving(pod)) {
        const ownerReferences = (pod.metadata?.ownerReferences ?? []).filter(({ uid }) => uid !== set.metadata?.uid);
        const body = { metadata: { uid: pod.metadata?.uid, ownerReferences: ownerReferences.length > 0 ? ownerReferences : null } };
        views.pods.wrote(await client.patch(Pods, nameOf(pod), { type: "merge", body }));
      }
    }
  }

  async function remove(set: ReplicaSet, pod: Pod): Promise<void> {
    views.pods.leaving(pod);
    try {
      await client.delete(Pods, nameOf(pod), { uid: pod.metadata?.uid });
      events.publish(set, { reason: "SuccessfulDelete", message: `Deleted pod: ${pod.metadata?.name}` });
    } catch (error) {
      if (!isNotFound(error)) {
        throw error;
      }
    }
  }

  async function updateStatus(set: ReplicaSet): Promise<number | undefined> {
    const minReadySeconds = Number(set.spec.minReadySeconds ?? 0);
    const living = podsOf(set).filter((pod) => !isEnded(pod) && !views.pods.isLeaving(pod));
    const verdicts = living.map((pod) => availabilityOf(pod, minReadySeconds, clock.wallMs()));
    const labels = Object.entries(set.spec.template.metadata?.labels ?? {});
    const written = await writeStatus(client, ReplicaSets, set, {
      replicas: living.length,
      ...withoutZeros({
        fullyLabeledReplicas: living.filter((pod) => labels.every(([name, value]) => pod.metadata?.labels?.[name] === value)).length,
        readyReplicas: living.filter(isReady).length,
        availableReplicas: verdicts.filter(({ kind }) => kind === "available").length,
      }),
      terminatingReplicas: podsOf(set).filter((pod) => !isEnded(pod) && views.pods.isLeaving(pod)).length,
      observedGeneration: set.metadata?.generation ?? 0,
    });
    views.replicaSets.wrote(written);
    const waits = verdicts.flatMap((verdict) => (verdict.kind === "soon" ? [verdict.afterMs] : []));
    return waits.length > 0 ? Math.min(...waits) : undefined;
  }

  const loop = startWorkLoop({ name: "replicaset-controller", context, reconcile });
  views.replicaSets.onChange(({ object }) => loop.add(keyOf(object)));
  views.pods.onChange(({ object }) => {
    const owner = controllerOf(object);
    if (owner?.kind === "ReplicaSet") {
      loop.addAfter(`${object.metadata?.namespace}/${owner.name}`, GATHER_MS);
    } else if (owner === undefined) {
      for (const set of views.replicaSets.by("namespace", object.metadata?.namespace ?? "")) {
        if (matchesLabelSelector(set.spec.selector, object.metadata?.labels)) {
          loop.add(keyOf(set));
        }
      }
    }
  });
}

function nameOf(pod: Pod): { readonly name: string; readonly namespace: string } {
  return { name: pod.metadata?.name ?? "", namespace: pod.metadata?.namespace ?? "" };
}
