/** Claims, volumes and storage classes that the input names and does not have: the pods wait for them. Rules S-22…S-24, S-126. */
import {
  DEFAULT_CLASS_ANNOTATION,
  isDefaultClass,
  type Kind,
  type PersistentVolumeClaim,
  PersistentVolumeClaims,
  PersistentVolumes,
  StatefulSets,
  StorageClasses,
} from "@joinery/api";
import { nearWord } from "@joinery/scheduling";
import type { FieldPath } from "../../manifests/field-path.ts";
import type { Manifest } from "../../manifests/manifest.ts";
import type { Facts } from "../facts.ts";
import type { Remark } from "../finding.ts";
import { nameOf, namespaceOf } from "../located.ts";
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

interface Place {
  readonly manifest: Manifest;
  readonly path: FieldPath;
}

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
    } else yield missing(PersistentVolumeClaims, name, beside, place, facts);
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
      yield missing(PersistentVolumes, volumeName, volumeNames, { manifest, path: [...path, "volumeName"] }, facts);
  } else if (storageClassName) {
    const place = { manifest, path: [...path, "storageClassName"] };
    if (!classNames.includes(storageClassName)) yield missing(StorageClasses, storageClassName, classNames, place, facts);
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

/** Of a cluster all there is is known; of files it may be elsewhere. */
function gravity({ kind }: Kind, { wholeKinds }: Facts): "error" | "warning" {
  return wholeKinds.has(kind) ? "error" : "warning";
}

function missing(of: Kind, name: string, known: readonly string[], place: Place, facts: Facts): Remark {
  const { kind } = of;
  if (known.length === 0 && !facts.wholeKinds.has(kind)) {
    const message = `the input has no ${kind} here; whether ${name} exists was not checked, and without it plan finds no place for the pods`;
    return { ...place, severity: "note", message, instead: `the ${kind} among the files` };
  }
  const near = nearWord(name, known);
  const others = known.length === 0 ? "" : `, only ${listText([...known].sort())}`;
  return {
    ...place,
    severity: gravity(of, facts),
    message: `there is no ${kind} ${name} in the input${others}, so the pods wait`,
    instead: near ?? (known.length === 0 ? `a ${kind} of that name` : `one of these, or a ${kind} of that name among the files`),
  };
}
