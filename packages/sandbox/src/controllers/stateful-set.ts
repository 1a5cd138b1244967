/** StatefulSets: pods with names and claims of their own, in order. The revision of a pod is a hash of its template. */
import type { PersistentVolumeClaim, Pod, StatefulSet } from "@joinery/api";
import { PersistentVolumeClaims, Pods, StatefulSets } from "@joinery/api";
import { isAlreadyExists, isNotFound, keyOf, parseKey } from "@joinery/kube";
import type { ClusterContext } from "../world/context.ts";
import { startWorkLoop } from "../world/work-loop.ts";
import { adoptOrphans } from "./adoption.ts";
import { createRevisions } from "./controller-revision.ts";
import { canonicalJson, contentHash } from "./fnv.ts";
import { createPodOf } from "./pod-creation.ts";
import { availabilityOf, controllerOf, isEnded, isReady } from "./pod-facts.ts";
import { controllerReference, podFromTemplate } from "./pod-template.ts";
import { withoutZeros, writeStatus } from "./status-writer.ts";

const REVISION_LABEL = "controller-revision-hash";

interface Template {
  readonly metadata?: { readonly name?: string; readonly labels?: Readonly<Record<string, string>> };
  readonly spec: PersistentVolumeClaim["spec"];
}

export function startStatefulSets(context: ClusterContext): void {
  const { views, clock } = context;
  const client = context.client("statefulset-controller");
  const events = context.events("statefulset-controller");
  const revisions = createRevisions(client);

  async function reconcile(key: string): Promise<number | undefined> {
    const set = views.statefulSets.find(key);
    if (set === undefined || views.statefulSets.isLeaving(set)) {
      return undefined;
    }
    await revisions.ensure(set, "StatefulSet");
    const adopter = { owner: set, apiVersion: "apps/v1", kind: "StatefulSet" };
    await adoptOrphans(adopter, { client, kind: Pods, view: views.pods }, (pod) => isMemberName(pod.metadata?.name ?? "", set));
    const isParallel = set.spec.podManagementPolicy === "Parallel";
    const wished = set.spec.replicas ?? 1;
    const start = Number((set.spec.ordinals as { readonly start?: number } | undefined)?.start ?? 0);
    const pods = new Map(views.pods.by("owner", set.metadata?.uid ?? "").map((pod) => [pod.metadata?.name ?? "", pod]));
    let isBlocked = false;
    for (let ordinal = start; ordinal < start + wished && !isBlocked; ordinal++) {
      const name = `${set.metadata?.name}-${ordinal}`;
      const pod = pods.get(name);
      if (pod === undefined) {
        await createPod(set, ordinal);
      } else if (isEnded(pod) && !views.pods.isLeaving(pod)) {
        await deletePod(set, pod);
      }
      const isUp = pod !== undefined && !views.pods.isLeaving(pod) && isAvailable(set, pod);
      isBlocked = !isParallel && !isUp;
    }
    await keepClaims(set, [...pods.values()], start + wished);
    if (!isBlocked || isParallel) {
      await removeSurplus(set, [...pods.values()], start + wished, isParallel);
      await rollOut(set, [...pods.values()], start, start + wished);
    }
    return updateStatus(set);
  }

  function isAvailable(set: StatefulSet, pod: Pod): boolean {
    return availabilityOf(pod, Number(set.spec.minReadySeconds ?? 0), clock.wallMs()).kind === "available";
  }

  async function createPod(set: StatefulSet, ordinal: number): Promise<void> {
    const name = `${set.metadata?.name}-${ordinal}`;
    const namespace = set.metadata?.namespace ?? "";
    const templates = (set.spec.volumeClaimTemplates ?? []) as readonly Template[];
    for (const template of templates) {
      await createClaim(set, template, name);
    }
    const volumes = [
      ...(set.spec.template.spec.volumes ?? []).filter((volume) => !templates.some(({ metadata }) => metadata?.name === volume.name)),
      ...templates.map(({ metadata }) => ({
        name: metadata?.name ?? "",
        persistentVolumeClaim: { claimName: `${metadata?.name}-${name}` },
      })),
    ];
    const labels = {
      [REVISION_LABEL]: revisionOf(set),
      "statefulset.kubernetes.io/pod-name": name,
      "apps.kubernetes.io/pod-index": String(ordinal),
    };
    const owner = controllerReference(set, "apps/v1", "StatefulSet");
    const pod = podFromTemplate(set.spec.template, { namespace, name, generateName: `${set.metadata?.name}-`, owner, labels });
    const identity = { hostname: name, ...(set.spec.serviceName === undefined ? {} : { subdomain: set.spec.serviceName }) };
    const spec = { ...pod.spec, ...identity, ...(volumes.length > 0 ? { volumes } : {}) };
    try {
      views.pods.wrote(await createPodOf(set, { ...pod, spec }, { client, events }));
      events.publish(set, { reason: "SuccessfulCreate", message: `Create Pod ${name} in StatefulSet ${set.metadata?.name} successful` });
    } catch (error) {
      if (!isAlreadyExists(error)) {
        throw error;
      }
    }
  }

  async function createClaim(set: StatefulSet, template: Template, podName: string): Promise<void> {
    const name = `${template.metadata?.name}-${podName}`;
    const namespace = set.metadata?.namespace ?? "";
    if (views.claims.find(`${namespace}/${name}`) !== undefined) {
      return;
    }
    const labels = { ...template.metadata?.labels, ...set.spec.selector?.matchLabels };
    const claim: PersistentVolumeClaim = {
      apiVersion: "v1",
      kind: "PersistentVolumeClaim",
      metadata: { name, namespace, labels },
      spec: template.spec,
    };
    try {
      await client.create(PersistentVolumeClaims, claim);
      const message = `Create Claim ${name} Pod ${podName} in StatefulSet ${set.metadata?.name} success`;
      events.publish(set, { reason: "SuccessfulCreate", message });
    } catch (error) {
      if (!isAlreadyExists(error)) {
        throw error;
      }
    }
  }

  /**
   * persistentVolumeClaimRetentionPolicy: a claim that is to go with the set belongs to it, one that is to go with its pod belongs to
   * the pod once that is surplus.
   */
  async function keepClaims(set: StatefulSet, pods: readonly Pod[], end: number): Promise<void> {
    const policy = (set.spec.persistentVolumeClaimRetentionPolicy ?? {}) as { readonly whenDeleted?: string; readonly whenScaled?: string };
    if (policy.whenDeleted !== "Delete" && policy.whenScaled !== "Delete") {
      return;
    }
    for (const pod of pods) {
      const goesWithPod = policy.whenScaled === "Delete" && ordinalOf(pod) >= end;
      const bySet = policy.whenDeleted === "Delete" && !goesWithPod ? [controllerReference(set, "apps/v1", "StatefulSet")] : [];
      const { name = "", uid = "" } = pod.metadata ?? {};
      const wished = goesWithPod ? [{ apiVersion: "v1", kind: "Pod", name, uid }] : bySet;
      for (const template of (set.spec.volumeClaimTemplates ?? []) as readonly Template[]) {
        const claim = views.claims.find(`${set.metadata?.namespace}/${template.metadata?.name}-${name}`);
        if (claim !== undefined && canonicalJson(claim.metadata?.ownerReferences ?? []) !== canonicalJson(wished)) {
          const body = { metadata: { ownerReferences: wished.length > 0 ? wished : null } };
          views.claims.wrote(await client.patch(PersistentVolumeClaims, parseKey(keyOf(claim)), { type: "merge", body }));
        }
      }
    }
  }

  async function deletePod(set: StatefulSet, pod: Pod): Promise<void> {
    views.pods.leaving(pod);
    try {
      await client.delete(Pods, parseKey(keyOf(pod)), { uid: pod.metadata?.uid });
      const message = `Delete Pod ${pod.metadata?.name} in StatefulSet ${set.metadata?.name} successful`;
      events.publish(set, { reason: "SuccessfulDelete", message });
    } catch (error) {
      if (!isNotFound(error)) {
        throw error;
      }
    }
  }

  /** Highest ordinal first, one after the other unless parallel. */
  async function removeSurplus(set: StatefulSet, pods: readonly Pod[], end: number, isParallel: boolean): Promise<void> {
    const surplus = pods.filter((pod) => ordinalOf(pod) >= end).sort((a, b) => ordinalOf(b) - ordinalOf(a));
    for (const pod of surplus) {
      if (!views.pods.isLeaving(pod)) {
        await deletePod(set, pod);
      }
      if (!isParallel) {
        return;
      }
    }
  }

  /** RollingUpdate: from the highest ordinal down to the partition, a pod of an old revision at a time. */
  async function rollOut(set: StatefulSet, pods: readonly Pod[], start: number, end: number): Promise<void> {
    const strategy = (set.spec.updateStrategy ?? {}) as {
      readonly type?: string;
      readonly rollingUpdate?: { readonly partition?: number };
    };
    if (strategy.type === "OnDelete") {
      return;
    }
    const from = Math.max(start, Number(strategy.rollingUpdate?.partition ?? 0));
    const ordered = pods.filter((pod) => ordinalOf(pod) >= from && ordinalOf(pod) < end).sort((a, b) => ordinalOf(b) - ordinalOf(a));
    for (const pod of ordered) {
      if (views.pods.isLeaving(pod)) {
        return;
      }
      if (pod.metadata?.labels?.[REVISION_LABEL] !== revisionOf(set)) {
        await deletePod(set, pod);
        return;
      }
      if (!isAvailable(set, pod)) {
        return;
      }
    }
  }

  async function updateStatus(set: StatefulSet): Promise<number | undefined> {
    const pods = views.pods.by("owner", set.metadata?.uid ?? "").filter((pod) => !isEnded(pod));
    const revision = revisionOf(set);
    const verdicts = pods.map((pod) => availabilityOf(pod, Number(set.spec.minReadySeconds ?? 0), clock.wallMs()));
    const updated = pods.filter((pod) => pod.metadata?.labels?.[REVISION_LABEL] === revision).length;
    const isDone = updated === pods.length && pods.length === (set.spec.replicas ?? 1);
    const currentRevision = isDone ? revision : (set.status?.currentRevision ?? revision);
    const status = {
      replicas: pods.length,
      availableReplicas: verdicts.filter(({ kind }) => kind === "available").length,
      ...withoutZeros({
        readyReplicas: pods.filter(isReady).length,
        updatedReplicas: updated,
        currentReplicas: pods.filter((pod) => pod.metadata?.labels?.[REVISION_LABEL] === currentRevision).length,
      }),
      currentRevision,
      updateRevision: revision,
      collisionCount: 0,
      observedGeneration: set.metadata?.generation ?? 0,
    };
    views.statefulSets.wrote(await writeStatus(client, StatefulSets, set, status));
    const waits = verdicts.flatMap((verdict) => (verdict.kind === "soon" ? [verdict.afterMs] : []));
    return waits.length > 0 ? Math.min(...waits) : undefined;
  }

  const loop = startWorkLoop({ name: "statefulset-controller", context, reconcile });
  views.statefulSets.onChange(({ object }) => loop.add(keyOf(object)));
  views.pods.onChange(({ object }) => {
    const owner = controllerOf(object);
    if (owner?.kind === "StatefulSet") {
      loop.add(`${object.metadata?.namespace}/${owner.name}`);
    }
  });
}

function revisionOf(set: StatefulSet): string {
  return `${set.metadata?.name}-${contentHash(set.spec.template)}`;
}

function isMemberName(name: string, { metadata }: StatefulSet): boolean {
  const prefix = `${metadata?.name}-`;
  return name.startsWith(prefix) && /^\d+$/.test(name.slice(prefix.length));
}

function ordinalOf(pod: Pod): number {
  return Number(/-(\d+)$/.exec(pod.metadata?.name ?? "")?.[1] ?? -1);
}
