/** ControllerRevisions: the past templates of DaemonSets and StatefulSets, which `kubectl rollout history` shows and `undo` brings back. */
import type { DaemonSet, KubeObject, StatefulSet } from "@joinery/api";
import { kind } from "@joinery/api";
import { isAlreadyExists, isNotFound, type KubeClient } from "@joinery/kube";
import { contentHash } from "./fnv.ts";
import { controllerOf } from "./pod-facts.ts";
import { controllerReference } from "./pod-template.ts";

export interface ControllerRevision extends KubeObject {
  readonly revision: number;
  readonly data?: unknown;
}

export const ControllerRevisions = kind<ControllerRevision>("apps", "v1", "ControllerRevision", "controllerrevisions", true);

export interface Revisions {
  /** Sees to it that the template has a revision, the highest of all, and that no more are kept than asked for. */
  ensure(owner: DaemonSet | StatefulSet, ownerKind: "DaemonSet" | "StatefulSet"): Promise<void>;
}

const HISTORY_DEFAULT = 10;

/** The server counts a DaemonSet's templates here. */
const TEMPLATE_GENERATION = "deprecated.daemonset.template.generation";

export function createRevisions(client: KubeClient): Revisions {
  /** Owner UID → hash of the template that was seen to last: most looks change nothing. */
  const seen = new Map<string, string>();
  return {
    async ensure(owner, ownerKind) {
      const hash = contentHash(owner.spec.template);
      const uid = owner.metadata?.uid ?? "";
      if (seen.get(uid) === hash) {
        return;
      }
      const name = `${owner.metadata?.name}-${hash}`;
      const namespace = owner.metadata?.namespace;
      const { items } = await client.list(ControllerRevisions, { namespace });
      const own = items.filter((one) => controllerOf(one)?.uid === uid).sort((a, b) => a.revision - b.revision);
      const newest = own.at(-1);
      const revision = (newest?.revision ?? 0) + 1;
      const known = own.find(({ metadata }) => metadata?.name === name);
      if (known === undefined) {
        await client.create(ControllerRevisions, revisionOf(owner, ownerKind, { name, hash, revision })).catch(ignoring(isAlreadyExists));
      } else if (known !== newest) {
        await client.patch(ControllerRevisions, { name, namespace }, { type: "merge", body: { revision } });
      }
      const past = own.filter((one) => one !== known);
      const limit = Number(owner.spec.revisionHistoryLimit ?? HISTORY_DEFAULT);
      for (const old of past.slice(0, Math.max(0, past.length - limit))) {
        await client.delete(ControllerRevisions, { name: old.metadata?.name ?? "", namespace }).catch(ignoring(isNotFound));
      }
      seen.set(uid, hash);
    },
  };
}

interface RevisionFacts {
  readonly name: string;
  readonly hash: string;
  readonly revision: number;
}

function revisionOf(owner: DaemonSet | StatefulSet, ownerKind: string, { name, hash, revision }: RevisionFacts): ControllerRevision {
  const labels = owner.spec.template.metadata?.labels;
  return {
    apiVersion: "apps/v1",
    kind: "ControllerRevision",
    metadata: {
      name,
      namespace: owner.metadata?.namespace,
      // Each of both controllers has its own label, and only one of them notes the template's generation.
      ...(ownerKind === "StatefulSet"
        ? { labels: { ...labels, "controller.kubernetes.io/hash": hash } }
        : { labels: { ...labels, "controller-revision-hash": hash }, annotations: generationAnnotation(owner) }),
      ownerReferences: [controllerReference(owner, "apps/v1", ownerKind)],
    },
    // As a patch of the owner: `undo` applies it as it stands.
    data: { spec: { template: { $patch: "replace", ...owner.spec.template } } },
    revision,
  };
}

function generationAnnotation({ metadata }: KubeObject): Record<string, string> {
  const generation = metadata?.annotations?.[TEMPLATE_GENERATION];
  return generation === undefined ? {} : { [TEMPLATE_GENERATION]: generation };
}

function ignoring(isHarmless: (error: unknown) => boolean): (error: unknown) => void {
  return (error) => {
    if (!isHarmless(error)) {
      throw error;
    }
  };
}
