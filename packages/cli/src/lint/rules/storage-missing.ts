/** Claims, volumes and storage classes that the input names and does not have: the pods wait for them. Rules S-22…S-24, S-126. */
import {
  DEFAULT_CLASS_ANNOTATION,
  isDefaultClass,
  type PersistentVolumeClaim,
  PersistentVolumeClaims,
  PersistentVolumes,
  StatefulSets,
  StorageClasses,
} from "@joinery/api";
import type { Facts } from "../facts.ts";
import type { Remark } from "../finding.ts";
import { nameOf, namespaceOf } from "../located.ts";
import { gravity, missingObject, type Place } from "../missing-object.ts";
import type { Rule } from "../rule.ts";
import { listText } from "../words.ts";
import type { Workload } from "../workloads.ts";

export const storageMissing: Rule = {
  name: "storage-missing",
  severity: "error",
  summary: "A claim, volume or storage class that pods need is not in the input.",
  *check(facts) {
    const known = knownStorage(facts);
    for (const workload of facts.workloads) {
      // What runs has its volumes.
      if (!workload.isRunning) yield* claimsOf(workload, known, facts);
    }
    for (const { object, manifest } of facts.objects.of(PersistentVolumeClaims)) {
      if (object.status?.phase !== "Bound") yield* sourceOf(object.spec, { manifest, path: ["spec"] }, known, facts);
    }
    for (const { object, manifest } of facts.objects.of(StatefulSets)) {
      const templates = (object.spec.volumeClaimTemplates ?? []) as readonly Pick<PersistentVolumeClaim, "spec">[];
      for (const [index, { spec }] of templates.entries())
        yield* sourceOf(spec, { manifest, path: ["spec", "volumeClaimTemplates", index, "spec"] }, known, facts);
    }
  },
};

const HAPPENS = { missing: "so the pods wait", unknown: "without it plan finds no place for the pods" };

/** What the input has. */
interface KnownStorage {
  readonly claims: readonly PersistentVolumeClaim[];
  readonly claimNames: ReadonlyMap<string, readonly string[]>;
  readonly volumeNames: readonly string[];
  readonly classNames: readonly string[];
  readonly hasDefaultClass: boolean;
}

function knownStorage({ objects }: Facts): KnownStorage {
  const claims = objects.of(PersistentVolumeClaims).map(({ object }) => object);
  const classes = objects.of(StorageClasses).map(({ object }) => object);
  const byNamespace = Map.groupBy(claims, namespaceOf);
  return {
    claims,
    claimNames: new Map(Array.from(byNamespace, ([namespace, ofIt]) => [namespace, ofIt.map(nameOf)])),
    volumeNames: objects.of(PersistentVolumes).map(({ object }) => nameOf(object)),
    classNames: classes.map(nameOf),
    hasDefaultClass: classes.some(isDefaultClass),
  };
}

function* claimsOf({ spec, namespace, manifest, path }: Workload, known: KnownStorage, facts: Facts): Iterable<Remark> {
  const beside = known.claimNames.get(namespace) ?? [];
  for (const [index, { persistentVolumeClaim, ephemeral }] of (spec.volumes ?? []).entries()) {
    const at = [...path, "spec", "volumes", index];
    const template = ephemeral?.volumeClaimTemplate?.spec;
    if (template !== undefined)
      yield* sourceOf(template, { manifest, path: [...at, "ephemeral", "volumeClaimTemplate", "spec"] }, known, facts);
    const name = persistentVolumeClaim?.claimName;
    if (name === undefined || beside.includes(name)) continue;
    const elsewhere = known.claims.find((claim) => nameOf(claim) === name);
    const place = { manifest, path: [...at, "persistentVolumeClaim", "claimName"] };
    if (elsewhere !== undefined) {
      yield {
        ...place,
        severity: gravity(PersistentVolumeClaims, facts),
        message: `PersistentVolumeClaim ${name} is in namespace ${namespaceOf(elsewhere)}, and pods can only use claims of their own, so they wait`,
        instead: `a claim in namespace ${namespace}, or the pods in ${namespaceOf(elsewhere)}`,
      };
    } else yield missingObject(PersistentVolumeClaims, name, beside, place, facts, HAPPENS);
  }
}

/** Where the volume of a claim is to come from. */
function* sourceOf(
  { volumeName, storageClassName }: PersistentVolumeClaim["spec"],
  { manifest, path }: Place,
  { volumeNames, classNames, hasDefaultClass }: KnownStorage,
  facts: Facts,
): Iterable<Remark> {
  if (volumeName) {
    if (!volumeNames.includes(volumeName))
      yield missingObject(PersistentVolumes, volumeName, volumeNames, { manifest, path: [...path, "volumeName"] }, facts, HAPPENS);
  } else if (storageClassName) {
    const place = { manifest, path: [...path, "storageClassName"] };
    if (!classNames.includes(storageClassName)) yield missingObject(StorageClasses, storageClassName, classNames, place, facts, HAPPENS);
  } else if (storageClassName === undefined && classNames.length > 0 && !hasDefaultClass) {
    yield {
      manifest,
      path,
      severity: gravity(StorageClasses, facts),
      message: "the claim names no storage class and none of the input is the default, so nothing makes its volume and its pods wait",
      instead: `storageClassName: ${listText([...classNames].sort())}, or ${DEFAULT_CLASS_ANNOTATION}: "true" on one of them`,
    };
  }
}
