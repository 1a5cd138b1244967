/**
 * The claims that a cluster would have for its pods, where the input has the pods or their workloads alone: the StatefulSet controller
 * makes them from claim templates, others from ephemeral volumes, and admission writes the default class into them. Rules S-22, S-126.
 */
import {
  BIND_COMPLETED_ANNOTATION,
  isDefaultClass,
  type PersistentVolumeClaim,
  PersistentVolumeClaims,
  type Pod,
  StatefulSets,
  type StorageClass,
  StorageClasses,
} from "@joinery/api";
import { keyOf } from "../object-key.ts";
import type { ObjectSource } from "./input.ts";

type ClaimTemplate = Partial<Pick<PersistentVolumeClaim, "metadata" | "spec">>;

/** Those of the input, and one for each claim that a pod mounts and somebody would have made. */
export function claimsFor(pods: readonly Pod[], objects: ObjectSource): readonly PersistentVolumeClaim[] {
  const defaultClass = defaultClassName(objects.of(StorageClasses));
  const given = objects.of(PersistentVolumeClaims);
  const claims = new Map(given.map((claim) => [keyOf(claim), claim]));
  const sets = new Map(
    objects.of(StatefulSets).map((set) => [keyOf(set), (set.spec.volumeClaimTemplates ?? []) as readonly ClaimTemplate[]]),
  );
  for (const pod of pods) {
    const { namespace, name } = pod.metadata ?? {};
    const templates = sets.get(`${namespace}/${ownerName(pod)}`) ?? [];
    for (const volume of pod.spec.volumes ?? []) {
      const made = volume.persistentVolumeClaim?.claimName;
      const spec = made === undefined ? volume.ephemeral?.volumeClaimTemplate?.spec : templateOf(templates, made, name)?.spec;
      const claimName = made ?? `${name}-${volume.name}`;
      const key = `${namespace}/${claimName}`;
      if (spec !== undefined && !claims.has(key)) claims.set(key, { metadata: { name: claimName, namespace, uid: key }, spec });
    }
  }
  return Array.from(claims.values(), (claim) => asBound(withDefaultClass(claim, defaultClass)));
}

/** A claim of manifests that names its volume is bound to it as soon as both are there; one of a server says itself whether it is (S-23). */
function asBound(claim: PersistentVolumeClaim): PersistentVolumeClaim {
  if (!claim.spec.volumeName || claim.metadata?.resourceVersion !== undefined || claim.status?.phase !== undefined) return claim;
  const annotations = { ...claim.metadata?.annotations, [BIND_COMPLETED_ANNOTATION]: "yes" };
  return { ...claim, metadata: { ...claim.metadata, annotations } };
}

function templateOf(templates: readonly ClaimTemplate[], claimName: string, podName: string | undefined) {
  return templates.find(({ metadata }) => `${metadata?.name}-${podName}` === claimName);
}

function withDefaultClass(claim: PersistentVolumeClaim, defaultClass: string | undefined): PersistentVolumeClaim {
  if (defaultClass === undefined || claim.spec.storageClassName !== undefined || claim.spec.volumeName) return claim;
  return { ...claim, spec: { ...claim.spec, storageClassName: defaultClass } };
}

/** Of several, the first by name. */
function defaultClassName(classes: readonly StorageClass[]): string | undefined {
  const defaults = classes.filter(isDefaultClass);
  return defaults.map(({ metadata }) => metadata?.name ?? "").sort()[0];
}

function ownerName({ metadata }: Pod): string | undefined {
  return metadata?.ownerReferences?.find(({ kind }) => kind === "StatefulSet")?.name;
}
