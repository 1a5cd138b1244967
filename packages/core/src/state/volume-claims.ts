/**
 * PersistentVolumeClaims as scheduling sees them: where their volumes can be reached and which driver attaches them; and which pods
 * cannot be planned for because of theirs. Rules S-22…S-25, S-122, S-123, S-126, S-127, V-73.
 */
import {
  BIND_COMPLETED_ANNOTATION,
  HOSTNAME_LABEL,
  type NodeSelectorTerm,
  type PersistentVolume,
  type PersistentVolumeClaim,
} from "@joinery/api";
import type { BoundPods, PodShape, Reason, RequirementItem, VolumeClaim } from "@joinery/scheduling";
import type { Caches } from "./caches.ts";
import type { PodRecord } from "./pod-record.ts";

type VolumeCaches = Pick<Caches, "claims" | "volumes" | "storageClasses" | "csiNodes">;

const EBS_DRIVER = "ebs.csi.aws.com";

/** In-tree provisioners and the CSI drivers that took over from them (S-126). */
const CSI_DRIVERS: Readonly<Record<string, string>> = {
  "kubernetes.io/aws-ebs": EBS_DRIVER,
  "kubernetes.io/gce-pd": "pd.csi.storage.gke.io",
  "kubernetes.io/azure-disk": "disk.csi.azure.com",
  "kubernetes.io/azure-file": "file.csi.azure.com",
  "kubernetes.io/cinder": "cinder.csi.openstack.org",
  "kubernetes.io/vsphere-volume": "csi.vsphere.vmware.com",
  "kubernetes.io/portworx-volume": "pxd.portworx.com",
};

/** Of all claims that these pods mount; one that does not exist is left out (S-126, V-73). */
export function volumeClaims(
  pods: Iterable<PodRecord>,
  bound: readonly BoundPods[],
  caches: VolumeCaches,
): ReadonlyMap<string, VolumeClaim> {
  const found = new Map<string, VolumeClaim>();
  const add = ({ namespace, claimNames = [] }: PodShape) => {
    for (const name of claimNames) {
      const key = `${namespace}/${name}`;
      const claim = found.has(key) ? undefined : caches.claims.find(key);
      if (claim !== undefined) found.set(key, volumeClaim(claim, caches));
    }
  };
  for (const { shape } of pods) add(shape);
  for (const { shape } of bound) add(shape);
  return found;
}

/** Attachments that the CSI drivers of a node have published; undefined before any has (S-127, V-73). */
export function volumeLimits(nodeName: string, { csiNodes }: VolumeCaches): Readonly<Record<string, number>> | undefined {
  const drivers = csiNodes.find(nodeName)?.spec.drivers ?? [];
  if (drivers.length === 0) return undefined;
  return Object.fromEntries(drivers.map(({ name, allocatable }) => [name, allocatable?.count ?? Number.POSITIVE_INFINITY]));
}

/** Why no plan may be made for a pod with these claims; empty when nothing is wrong. */
export function volumeFaults({ namespace, claimNames = [] }: PodShape, caches: VolumeCaches): readonly Reason[] {
  return claimNames.flatMap((name): readonly Reason[] => {
    const claim = `${namespace}/${name}`;
    const message = faultOf(claim, caches.claims.find(claim), caches);
    return message === undefined ? [] : [{ kind: "invalid-volume", claim, message }];
  });
}

function faultOf(key: string, claim: PersistentVolumeClaim | undefined, caches: VolumeCaches): string | undefined {
  if (claim === undefined) return `persistentvolumeclaim ${key} does not exist`;
  if (claim.metadata?.deletionTimestamp !== undefined) return `persistentvolumeclaim ${key} is being deleted`;
  if (claim.status?.phase === "Lost") return `persistentvolumeclaim ${key} has lost its volume`;
  return claim.spec.volumeName ? boundFault(key, claim, caches) : unboundFault(key, claim, caches);
}

/** S-23. */
function boundFault(key: string, { metadata, spec }: PersistentVolumeClaim, { volumes }: VolumeCaches): string | undefined {
  const name = spec.volumeName!;
  const volume = volumes.find(name);
  if (volume === undefined) return `persistentvolume ${name} of persistentvolumeclaim ${key} does not exist`;
  if (volume.metadata?.deletionTimestamp !== undefined) return `persistentvolume ${name} of persistentvolumeclaim ${key} is being deleted`;
  if (metadata?.annotations?.[BIND_COMPLETED_ANNOTATION] === undefined)
    return `persistentvolumeclaim ${key} is not bound to its volume yet`;
  return undefined;
}

/** S-24. */
function unboundFault(key: string, { spec }: PersistentVolumeClaim, { storageClasses }: VolumeCaches): string | undefined {
  const { storageClassName = "" } = spec;
  if (storageClassName === "") return `unbound persistentvolumeclaim ${key} must name a storage class`;
  const storageClass = storageClasses.find(storageClassName);
  if (storageClass === undefined) return `storageclass ${storageClassName} of persistentvolumeclaim ${key} does not exist`;
  if (storageClass.volumeBindingMode === "Immediate") return `persistentvolumeclaim ${key} waits for its storage class to bind it`;
  return undefined;
}

function volumeClaim({ spec }: PersistentVolumeClaim, { volumes, storageClasses }: VolumeCaches): VolumeClaim {
  if (spec.volumeName) {
    const volume = volumes.find(spec.volumeName);
    return volume === undefined ? { alternatives: [] } : boundVolume(volume);
  }
  const storageClass = storageClasses.find(spec.storageClassName ?? "");
  if (storageClass === undefined) return { alternatives: [] };
  const { provisioner, allowedTopologies = [] } = storageClass;
  const alternatives = allowedTopologies
    .map(({ matchLabelExpressions = [] }) => matchLabelExpressions.map(({ key, values }) => ({ key, operator: "In" as const, values })))
    .filter((items) => items.length > 0);
  return { alternatives, driver: CSI_DRIVERS[provisioner] ?? provisioner };
}

function boundVolume({ spec }: PersistentVolume): VolumeClaim {
  const isOfHost = spec.local !== undefined || spec.hostPath !== undefined;
  const driver = spec.csi?.driver ?? (spec.awsElasticBlockStore === undefined ? undefined : EBS_DRIVER);
  const terms = (spec.nodeAffinity?.required?.nodeSelectorTerms ?? []).filter(({ matchExpressions = [] }) => matchExpressions.length > 0);
  return { alternatives: terms.map((term) => alternative(term, isOfHost)), ...(driver !== undefined && { driver }) };
}

/** S-123: a volume on a node's own disk comes back as a new one when the pod goes elsewhere. */
function alternative({ matchExpressions = [] }: NodeSelectorTerm, isOfHost: boolean): readonly RequirementItem[] {
  return isOfHost ? matchExpressions.filter(({ key }) => key !== HOSTNAME_LABEL) : matchExpressions;
}
