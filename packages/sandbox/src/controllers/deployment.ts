/** Deployments: one ReplicaSet per revision of the template, and the walk from the old ones to the new one. */
import type { Deployment, ReplicaSet } from "@joinery/api";
import { Deployments, ReplicaSets } from "@joinery/api";
import { isAlreadyExists, isNotFound, keyOf } from "@joinery/kube";
import type { ClusterContext } from "../world/context.ts";
import { startWorkLoop } from "../world/work-loop.ts";
import { adoptOrphans } from "./adoption.ts";
import { deploymentConditions } from "./deployment-status.ts";
import { contentHash } from "./fnv.ts";
import { controllerOf, isEnded } from "./pod-facts.ts";
import { controllerReference } from "./pod-template.ts";
import {
  byRevision,
  DESIRED_REPLICAS,
  isSameTemplate,
  MAX_REPLICAS,
  POD_TEMPLATE_HASH,
  proportionalSteps,
  REVISION,
  type Rollout,
  replicasOf,
  revisionOf,
  rollingBounds,
  scaleSteps,
} from "./rollout.ts";
import { writeStatus } from "./status-writer.ts";

const REVISION_HISTORY = "deployment.kubernetes.io/revision-history";
const KEPT_APART = new Set([
  "kubectl.kubernetes.io/last-applied-configuration",
  "deprecated.deployment.rollback.to",
  REVISION,
  REVISION_HISTORY,
  DESIRED_REPLICAS,
  MAX_REPLICAS,
]);

/** A namesake's ReplicaSet is collected within moments. */
const NAME_TAKEN_MS = 500;

export function startDeployments(context: ClusterContext): void {
  const { views, clock } = context;
  const client = context.client("deployment-controller");
  const events = context.events("deployment-controller");

  async function reconcile(key: string): Promise<number | undefined> {
    const deployment = views.deployments.find(key);
    if (deployment === undefined || views.deployments.isLeaving(deployment)) {
      return undefined;
    }
    const adopter = { owner: deployment, apiVersion: "apps/v1", kind: "Deployment" };
    await adoptOrphans(adopter, { client, kind: ReplicaSets, view: views.replicaSets });
    const sets = byRevision(
      views.replicaSets.by("owner", deployment.metadata?.uid ?? "").filter((set) => !views.replicaSets.isLeaving(set)),
    );
    const found = sets.find((set) => isSameTemplate(set.spec.template, deployment.spec.template));
    if (found === undefined && deployment.spec.paused === true) {
      return scalePaused(deployment, sets);
    }
    const older = sets.filter((set) => set !== found);
    const newest = found === undefined ? await createRevision(deployment, older) : await claimRevision(deployment, found, older);
    if (newest === undefined) {
      return NAME_TAKEN_MS;
    }
    const rollout: Rollout = { deployment, newest, older, hasRunningOldPods: hasRunningPods(older) };
    for (const { set, replicas } of scaleSteps(rollout)) {
      await scale(deployment, set, replicas);
    }
    await dropHistory(deployment, older);
    const current = (set: ReplicaSet): ReplicaSet => views.replicaSets.find(keyOf(set)) ?? set;
    return updateStatus(deployment, older.map(current), current(newest), found === undefined);
  }

  /** No new template while paused; the pods that there are may still become more or fewer. */
  async function scalePaused(deployment: Deployment, sets: readonly ReplicaSet[]): Promise<number | undefined> {
    for (const { set, replicas } of proportionalSteps(deployment, sets) ?? []) {
      await scale(deployment, set, replicas);
    }
    const active = sets.filter((set) => replicasOf(set) > 0);
    const only = active.length > 1 ? undefined : (active[0] ?? sets.at(-1));
    if (only !== undefined && replicasOf(only) !== replicasOf(deployment)) {
      await scale(deployment, only, replicasOf(deployment));
    }
    const current = sets.map((set) => views.replicaSets.find(keyOf(set)) ?? set);
    return updateStatus(deployment, current, undefined, false);
  }

  /** undefined when the name is taken for now. */
  async function createRevision(deployment: Deployment, older: readonly ReplicaSet[]): Promise<ReplicaSet | undefined> {
    const { template } = deployment.spec;
    const hash = contentHash({ template, collisions: deployment.status?.collisionCount ?? 0 });
    const labels = { ...template.metadata?.labels, [POD_TEMPLATE_HASH]: hash };
    const set: ReplicaSet = {
      apiVersion: "apps/v1",
      kind: "ReplicaSet",
      metadata: {
        name: `${deployment.metadata?.name}-${hash}`,
        namespace: deployment.metadata?.namespace,
        labels,
        annotations: { ...ownAnnotations(deployment), [REVISION]: String(nextRevision(older)), ...scaleAnnotations(deployment) },
        ownerReferences: [controllerReference(deployment, "apps/v1", "Deployment")],
      },
      spec: {
        replicas: 0,
        selector: {
          ...deployment.spec.selector,
          matchLabels: { ...deployment.spec.selector?.matchLabels, [POD_TEMPLATE_HASH]: hash },
        },
        template: { ...template, metadata: { ...template.metadata, labels } },
        ...(deployment.spec.minReadySeconds === undefined ? {} : { minReadySeconds: deployment.spec.minReadySeconds }),
      },
    };
    const created = await client.create(ReplicaSets, set).catch((error: unknown) => {
      if (!isAlreadyExists(error)) {
        throw error;
      }
      return resolveTaken(deployment, set);
    });
    if (created === undefined) {
      return undefined;
    }
    views.replicaSets.wrote(created);
    await setRevision(deployment, nextRevision(older));
    return created;
  }

  /**
   * Who has the name: this Deployment itself, seen late; a namesake that was deleted and whose ReplicaSet has not been collected yet;
   * or another template of ours with the same hash, which the collision count tells apart from now on.
   */
  async function resolveTaken(deployment: Deployment, wish: ReplicaSet): Promise<ReplicaSet | undefined> {
    const taken = await client.find(ReplicaSets, nameOf(wish));
    if (taken === undefined || controllerOf(taken)?.uid !== deployment.metadata?.uid) {
      return undefined;
    }
    if (isSameTemplate(taken.spec.template, deployment.spec.template)) {
      return taken;
    }
    const collisionCount = Number(deployment.status?.collisionCount ?? 0) + 1;
    views.deployments.wrote(await writeStatus(client, Deployments, deployment, { collisionCount }));
    return undefined;
  }

  /** A template that was there before (a rollback) becomes the newest revision again. */
  async function claimRevision(deployment: Deployment, set: ReplicaSet, older: readonly ReplicaSet[]): Promise<ReplicaSet> {
    const revision = Math.max(revisionOf(set), nextRevision(older));
    const minReadySeconds = deployment.spec.minReadySeconds ?? 0;
    await setRevision(deployment, revision);
    const annotations = changedAnnotations(deployment, set, revision);
    if (Object.keys(annotations).length === 0 && (set.spec.minReadySeconds ?? 0) === minReadySeconds) {
      return set;
    }
    const body = { metadata: { annotations }, spec: { minReadySeconds: minReadySeconds || null } };
    const patched = await client.patch(ReplicaSets, nameOf(set), { type: "merge", body });
    views.replicaSets.wrote(patched);
    return patched;
  }

  async function setRevision(deployment: Deployment, revision: number): Promise<void> {
    if (deployment.metadata?.annotations?.[REVISION] !== String(revision)) {
      const body = { metadata: { annotations: { [REVISION]: String(revision) } } };
      views.deployments.wrote(await client.patch(Deployments, nameOf(deployment), { type: "merge", body }));
    }
  }

  async function scale(deployment: Deployment, set: ReplicaSet, replicas: number): Promise<void> {
    const before = replicasOf(set);
    const body = { metadata: { annotations: scaleAnnotations(deployment) }, spec: { replicas } };
    views.replicaSets.wrote(await client.patch(ReplicaSets, nameOf(set), { type: "merge", body }));
    if (replicas === before) {
      return; // only the figures on it have changed
    }
    const verb = replicas > before ? "up" : "down";
    const message = `Scaled ${verb} replica set ${set.metadata?.name} from ${before} to ${replicas}`;
    events.publish(deployment, { reason: "ScalingReplicaSet", message });
  }

  async function dropHistory(deployment: Deployment, older: readonly ReplicaSet[]): Promise<void> {
    const limit = Number(deployment.spec.revisionHistoryLimit ?? 10);
    const empty = older.filter((set) => replicasOf(set) === 0 && Number(set.status?.replicas ?? 0) === 0);
    for (const set of empty.slice(0, Math.max(0, empty.length - limit))) {
      views.replicaSets.leaving(set);
      await client.delete(ReplicaSets, nameOf(set), { uid: set.metadata?.uid, propagationPolicy: "Background" }).catch((error: unknown) => {
        if (!isNotFound(error)) {
          throw error;
        }
      });
    }
  }

  function hasRunningPods(sets: readonly ReplicaSet[]): boolean {
    return sets.some((set) => views.pods.by("owner", set.metadata?.uid ?? "").some((pod) => !isEnded(pod)));
  }

  async function updateStatus(
    deployment: Deployment,
    older: readonly ReplicaSet[],
    newest: ReplicaSet | undefined,
    isNew: boolean,
  ): Promise<number | undefined> {
    const now = views.deployments.find(keyOf(deployment)) ?? deployment;
    const { status, afterMs } = deploymentConditions({ deployment: now, older, newest, isNew, nowMs: clock.wallMs() });
    views.deployments.wrote(await writeStatus(client, Deployments, now, status));
    return afterMs;
  }

  const loop = startWorkLoop({ name: "deployment-controller", context, reconcile });
  views.deployments.onChange(({ object }) => loop.add(keyOf(object)));
  views.replicaSets.onChange(({ object }) => addOwner(object));
  views.pods.onChange((change) => {
    // Recreate waits for the last old pod; everything else shows in the ReplicaSets.
    const owner = controllerOf(change.object);
    if (change.type === "deleted" && owner?.kind === "ReplicaSet") {
      const set = views.replicaSets.find(`${change.object.metadata?.namespace}/${owner.name}`);
      if (set !== undefined) {
        addOwner(set);
      }
    }
  });

  function addOwner(set: ReplicaSet): void {
    const owner = controllerOf(set);
    if (owner?.kind === "Deployment") {
      loop.add(`${set.metadata?.namespace}/${owner.name}`);
    }
  }
}

function nextRevision(older: readonly ReplicaSet[]): number {
  return Math.max(0, ...older.map(revisionOf)) + 1;
}

/** A ReplicaSet shows the annotations of its Deployment, but for those that are about one of both alone. */
function ownAnnotations({ metadata }: Deployment): Record<string, string> {
  const names = Object.keys(metadata?.annotations ?? {}).filter((name) => !KEPT_APART.has(name));
  return Object.fromEntries(names.map((name) => [name, metadata?.annotations?.[name] ?? ""]));
}

/** What the newest ReplicaSet must say anew. One that comes back notes the revision that it had. */
function changedAnnotations(deployment: Deployment, set: ReplicaSet, revision: number): Record<string, string> {
  const before = set.metadata?.annotations ?? {};
  const wished: Record<string, string> = { ...ownAnnotations(deployment), [REVISION]: String(revision) };
  if (revision !== revisionOf(set) && before[REVISION] !== undefined) {
    wished[REVISION_HISTORY] = [before[REVISION_HISTORY], before[REVISION]].filter((text) => text !== undefined && text !== "").join(",");
  }
  return Object.fromEntries(Object.entries(wished).filter(([name, value]) => before[name] !== value));
}

function scaleAnnotations(deployment: Deployment): Record<string, string> {
  const desired = Number(deployment.spec.replicas ?? 1);
  return {
    [DESIRED_REPLICAS]: String(desired),
    [MAX_REPLICAS]: String(desired + (desired > 0 ? rollingBounds(deployment).surge : 0)),
  };
}

function nameOf(object: { readonly metadata?: { readonly name?: string; readonly namespace?: string } }): {
  readonly name: string;
  readonly namespace?: string;
} {
  return { name: object.metadata?.name ?? "", namespace: object.metadata?.namespace };
}
