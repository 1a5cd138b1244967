/** What of storage the input may lack, or name wrongly, where pods have no place because of their claims. Rules S-22…S-24. */
import {
  DEFAULT_CLASS_ANNOTATION,
  type Kind,
  type KubeObject,
  type PersistentVolumeClaim,
  PersistentVolumeClaims,
  PersistentVolumes,
  StorageClasses,
} from "@joinery/api";
import { nearWord } from "@joinery/scheduling";
import { listText } from "../lint/words.ts";
import { keyOf } from "../object-key.ts";
import type { ObjectsOf } from "./file-kube-client.ts";

const STORAGE: readonly Kind[] = [PersistentVolumeClaims, PersistentVolumes, StorageClasses];

/** Claims that are told of one fault. */
const CLAIMS_SHOWN = 3;

/**
 * A sentence each, without a full stop.
 * @param faulty `namespace/name` of claims that cannot be used
 * @param of with the claims that StatefulSets will make
 */
export function storageHints(faulty: ReadonlySet<string>, of: ObjectsOf): readonly string[] {
  if (faulty.size === 0) return [];
  const missing = STORAGE.filter((kind) => of<KubeObject>(kind).length === 0).map(({ kind }) => kind);
  const none =
    missing.length === 0
      ? []
      : [
          `The input has no ${missing.join(", no ")}; what the volumes of pods need may only be missing here: add kubectl get pvc,pv,sc -A -o json`,
        ];
  return [...none, ...wrongNames(faulty, of, new Set(missing))];
}

/** Kinds of which the input has some, so that it is the name that is wrong, or one object that was forgotten. */
function wrongNames(faulty: ReadonlySet<string>, of: ObjectsOf, missing: ReadonlySet<string>): readonly string[] {
  const claims = new Map(of(PersistentVolumeClaims).map((claim) => [keyOf(claim), claim]));
  const classes = of(StorageClasses).map(({ metadata }) => metadata?.name ?? "");
  const volumes = of(PersistentVolumes).map(({ metadata }) => metadata?.name ?? "");
  const claimsOf = new Map<string, string[]>();
  for (const key of [...faulty].sort()) {
    const hint = hintOf(key, claims.get(key), { claims, classes, volumes, missing });
    if (hint !== undefined) claimsOf.set(hint, [...(claimsOf.get(hint) ?? []), key]);
  }
  return Array.from(claimsOf, ([hint, keys]) => `${hint} (${listText(keys, CLAIMS_SHOWN)})`);
}

interface Known {
  readonly claims: ReadonlyMap<string, PersistentVolumeClaim>;
  readonly classes: readonly string[];
  readonly volumes: readonly string[];
  readonly missing: ReadonlySet<string>;
}

function hintOf(key: string, claim: PersistentVolumeClaim | undefined, { claims, classes, volumes, missing }: Known): string | undefined {
  if (claim === undefined) {
    if (missing.has(PersistentVolumeClaims.kind)) return undefined;
    const [namespace = "", name = ""] = key.split("/");
    const beside = [...claims.values()].filter(({ metadata }) => metadata?.namespace === namespace);
    const elsewhere = [...claims.values()].find(({ metadata }) => metadata?.name === name)?.metadata?.namespace;
    if (elsewhere !== undefined)
      return `PersistentVolumeClaim ${name} is in namespace ${elsewhere}, and a pod can only use claims of its own`;
    return notThere(
      `PersistentVolumeClaim ${name}`,
      name,
      beside.map(({ metadata }) => metadata?.name ?? ""),
    );
  }
  const { volumeName, storageClassName = "" } = claim.spec;
  if (volumeName) {
    if (missing.has(PersistentVolumes.kind) || volumes.includes(volumeName)) return undefined;
    return notThere(`PersistentVolume ${volumeName}`, volumeName, volumes);
  }
  if (missing.has(StorageClasses.kind)) return undefined;
  if (storageClassName === "")
    return `Claims name no StorageClass and none of the input is the default; write storageClassName: ${classes.length === 1 ? classes[0] : `one of ${listText([...classes].sort())}`}, or mark one with ${DEFAULT_CLASS_ANNOTATION}: "true"`;
  if (classes.includes(storageClassName)) return undefined;
  return notThere(`StorageClass ${storageClassName}`, storageClassName, classes);
}

function notThere(what: string, name: string, known: readonly string[]): string {
  const near = nearWord(name, known);
  if (near !== undefined) return `${what} is not in the input; did you mean ${near}?`;
  const others = known.length === 0 ? "" : `, which has ${listText([...known].sort())}`;
  return `${what} is not in the input${others}; name one that is there, or add it to the files`;
}
