/**
 * Binds claims: to a volume made in the zone of the node that the scheduler chose (WaitForFirstConsumer), to one in any zone
 * (Immediate), or to a free volume that was there before. Deletes volumes with their claims.
 */
import type { PersistentVolume, PersistentVolumeClaim, StorageClass } from "@joinery/api";
import { PersistentVolumeClaims, PersistentVolumes, parseResources } from "@joinery/api";
import { isAlreadyExists, isNotFound, keyOf, parseKey } from "@joinery/kube";
import { between } from "../kubelet/pod-runtime.ts";
import { storageClassOf } from "../scheduler/volume-filter.ts";
import type { ClusterContext } from "../world/context.ts";
import { startWorkLoop } from "../world/work-loop.ts";
import { EBS_PROVISIONER } from "./storage-classes.ts";

export interface ProvisionerOptions {
  /** Zones that volumes without a chosen node may be made in. */
  readonly zones: readonly string[];
  /** From the wish to the volume. */
  readonly createMs: readonly [number, number];
}

const PROVISIONER = "volume.kubernetes.io/storage-provisioner";
const PROVISIONER_BETA = "volume.beta.kubernetes.io/storage-provisioner";
const SELECTED_NODE = "volume.kubernetes.io/selected-node";
const ZONE = "topology.kubernetes.io/zone";
const BYTES_MIN = 1024 ** 3;

export function startProvisioner(context: ClusterContext, { zones, createMs }: ProvisionerOptions): void {
  const { views, clock } = context;
  const client = context.client("persistentvolume-binder");
  const events = context.events("persistentvolume-controller");
  /** Claim UID → when its volume will be there, in monotonic milliseconds. */
  const creating = new Map<string, number>();

  async function reconcile(key: string): Promise<number | undefined> {
    const claim = views.claims.find(key);
    if (claim === undefined || views.claims.isLeaving(claim)) {
      return undefined;
    }
    if (claim.status?.phase === "Bound") {
      return undefined;
    }
    const named = claim.spec.volumeName;
    if (named !== undefined && named !== "") {
      const volume = views.volumes.find(named);
      if (volume !== undefined) {
        await bind(claim, volume);
      }
      return undefined;
    }
    const storageClass = storageClassOf(claim, views);
    const free = findFree(claim, storageClass);
    if (free !== undefined) {
      await bind(claim, free);
      return undefined;
    }
    return storageClass === undefined ? missClass(claim) : provision(claim, storageClass);
  }

  function missClass(claim: PersistentVolumeClaim): undefined {
    const name = claim.spec.storageClassName;
    if (name === undefined || name === "") {
      const message = "no persistent volumes available for this claim and no storage class is set";
      events.publish(claim, { reason: "FailedBinding", message });
    } else {
      events.publish(claim, { type: "Warning", reason: "ProvisioningFailed", message: `storageclass.storage.k8s.io "${name}" not found` });
    }
  }

  /** The claim names its provisioner, as external ones look for it there. */
  async function handOver(claim: PersistentVolumeClaim, provisioner: string): Promise<void> {
    if (claim.metadata?.annotations?.[PROVISIONER] !== provisioner) {
      const annotations = { [PROVISIONER]: provisioner, [PROVISIONER_BETA]: provisioner };
      const body = { metadata: { annotations } };
      views.claims.wrote(await client.patch(PersistentVolumeClaims, parseKey(keyOf(claim)), { type: "merge", body }));
    }
    const message = `Waiting for a volume to be created either by the external provisioner '${provisioner}' or manually by the system administrator. If volume creation is delayed, please verify that the provisioner is running and correctly registered.`;
    events.publish(claim, { reason: "ExternalProvisioning", message });
  }

  async function provision(claim: PersistentVolumeClaim, storageClass: StorageClass): Promise<number | undefined> {
    const nodeName = claim.metadata?.annotations?.[SELECTED_NODE];
    if (storageClass.volumeBindingMode === "WaitForFirstConsumer" && nodeName === undefined) {
      await setPhasePending(claim);
      const message = "waiting for first consumer to be created before binding";
      events.publish(claim, { reason: "WaitForFirstConsumer", message });
      return undefined;
    }
    if (storageClass.provisioner !== EBS_PROVISIONER) {
      await handOver(claim, storageClass.provisioner);
      return undefined; // nobody here makes such volumes: the claim waits, as in a cluster without its driver
    }
    const uid = claim.metadata?.uid ?? "";
    const random = context.chance(`volume/${uid}`);
    const readyAtMs = creating.get(uid) ?? clock.monotonicMs() + between(random, createMs);
    creating.set(uid, readyAtMs);
    if (readyAtMs > clock.monotonicMs()) {
      return readyAtMs - clock.monotonicMs();
    }
    creating.delete(uid);
    const zone =
      (nodeName === undefined ? undefined : views.nodes.find(nodeName)?.metadata?.labels?.[ZONE]) ??
      pickZone(storageClass, random.below(1 << 20));
    const volume = await createVolume(claim, storageClass, zone);
    await bind(claim, volume);
    events.publish(claim, { reason: "ProvisioningSucceeded", message: `Successfully provisioned volume ${volume.metadata?.name}` });
    return undefined;
  }

  function pickZone(storageClass: StorageClass, draw: number): string {
    const allowed = (storageClass.allowedTopologies ?? []).flatMap(({ matchLabelExpressions = [] }) =>
      matchLabelExpressions.flatMap(({ key, values }) => (key === ZONE ? values : [])),
    );
    const from = allowed.length > 0 ? allowed : zones;
    return from[draw % from.length] ?? "";
  }

  async function createVolume(claim: PersistentVolumeClaim, storageClass: StorageClass, zone: string): Promise<PersistentVolume> {
    const uid = claim.metadata?.uid ?? "";
    const name = `pvc-${uid}`;
    const rest = storageClass as { readonly reclaimPolicy?: string };
    const volume: PersistentVolume = {
      apiVersion: "v1",
      kind: "PersistentVolume",
      metadata: { name, annotations: { "pv.kubernetes.io/provisioned-by": storageClass.provisioner } },
      spec: {
        capacity: { storage: claim.spec.resources?.requests?.storage ?? "1Gi" },
        accessModes: claim.spec.accessModes ?? ["ReadWriteOnce"],
        persistentVolumeReclaimPolicy: rest.reclaimPolicy ?? "Delete",
        storageClassName: storageClass.metadata?.name,
        volumeMode: "Filesystem",
        csi: { driver: storageClass.provisioner, volumeHandle: `vol-0${uid.replaceAll("-", "").slice(0, 16)}` },
        claimRef: claimReference(claim),
        nodeAffinity: { required: { nodeSelectorTerms: [{ matchExpressions: [{ key: ZONE, operator: "In", values: [zone] }] }] } },
      },
    };
    try {
      const created = await client.create(PersistentVolumes, volume);
      views.volumes.wrote(created);
      return created;
    } catch (error) {
      if (!isAlreadyExists(error)) {
        throw error;
      }
      return client.get(PersistentVolumes, { name });
    }
  }

  /** A volume that somebody made beforehand: same class, large enough, reserved for nobody else. The smallest that fits. */
  function findFree(claim: PersistentVolumeClaim, storageClass: StorageClass | undefined): PersistentVolume | undefined {
    const bytes = parseResources(claim.spec.resources?.requests).storage ?? BYTES_MIN;
    const className = claim.spec.storageClassName ?? storageClass?.metadata?.name ?? "";
    const size = ({ spec }: PersistentVolume): number => parseResources(spec.capacity).storage ?? 0;
    return views.volumes
      .values()
      .filter(({ spec, status }) => {
        const isReserved = spec.claimRef?.name === claim.metadata?.name && spec.claimRef?.namespace === claim.metadata?.namespace;
        const isFree = isReserved ? (spec.claimRef?.uid ?? claim.metadata?.uid) === claim.metadata?.uid : spec.claimRef === undefined;
        return isFree && status?.phase !== "Released" && (spec.storageClassName ?? "") === className && size({ spec }) >= bytes;
      })
      .sort((a, b) => size(a) - size(b) || (keyOf(a) < keyOf(b) ? -1 : 1))[0];
  }

  async function bind(claim: PersistentVolumeClaim, volume: PersistentVolume): Promise<void> {
    const volumeKey = { name: volume.metadata?.name ?? "" };
    const claimKey = parseKey(keyOf(claim));
    if (volume.spec.claimRef?.uid !== claim.metadata?.uid) {
      views.volumes.wrote(
        await client.patch(PersistentVolumes, volumeKey, { type: "merge", body: { spec: { claimRef: claimReference(claim) } } }),
      );
    }
    views.volumes.wrote(
      await client.patch(PersistentVolumes, volumeKey, { type: "merge", body: { status: { phase: "Bound" } } }, { subresource: "status" }),
    );
    const annotations = { "pv.kubernetes.io/bind-completed": "yes", "pv.kubernetes.io/bound-by-controller": "yes" };
    await client.patch(PersistentVolumeClaims, claimKey, {
      type: "merge",
      body: { metadata: { annotations }, spec: { volumeName: volumeKey.name } },
    });
    const status = { phase: "Bound", accessModes: claim.spec.accessModes ?? ["ReadWriteOnce"], capacity: volume.spec.capacity };
    views.claims.wrote(
      await client.patch(PersistentVolumeClaims, claimKey, { type: "merge", body: { status } }, { subresource: "status" }),
    );
  }

  async function setPhasePending(claim: PersistentVolumeClaim): Promise<void> {
    if (claim.status?.phase === undefined) {
      views.claims.wrote(
        await client.patch(
          PersistentVolumeClaims,
          parseKey(keyOf(claim)),
          { type: "merge", body: { status: { phase: "Pending" } } },
          { subresource: "status" },
        ),
      );
    }
  }

  /** The volumes of a deleted claim go with it, or stay as Released. */
  async function release(volumeName: string): Promise<number | undefined> {
    const volume = views.volumes.find(volumeName);
    const { claimRef } = volume?.spec ?? {};
    if (volume === undefined || claimRef === undefined || views.volumes.isLeaving(volume)) {
      return undefined;
    }
    const claim = views.claims.find(`${claimRef.namespace}/${claimRef.name}`);
    if (claim !== undefined && (claimRef.uid === undefined || claim.metadata?.uid === claimRef.uid)) {
      return undefined;
    }
    const key = { name: volumeName };
    if (volume.spec.persistentVolumeReclaimPolicy === "Delete") {
      views.volumes.leaving(volume);
      await client.delete(PersistentVolumes, key, { uid: volume.metadata?.uid }).catch((error: unknown) => {
        if (!isNotFound(error)) {
          throw error;
        }
      });
    } else if (volume.status?.phase !== "Released") {
      views.volumes.wrote(
        await client.patch(PersistentVolumes, key, { type: "merge", body: { status: { phase: "Released" } } }, { subresource: "status" }),
      );
    }
    return undefined;
  }

  const claims = startWorkLoop({ name: "persistentvolume-binder", context, reconcile });
  const volumes = startWorkLoop({ name: "persistentvolume-reclaimer", context, reconcile: release });
  views.claims.onChange((change) => {
    if (change.type !== "deleted") {
      claims.add(keyOf(change.object));
      return;
    }
    creating.delete(change.object.metadata?.uid ?? "");
    if (change.object.spec.volumeName !== undefined) {
      volumes.add(change.object.spec.volumeName);
    }
  });
  const addUnbound = (): void => {
    for (const claim of views.claims.values()) {
      if (claim.status?.phase !== "Bound") {
        claims.add(keyOf(claim));
      }
    }
  };
  views.storageClasses.onChange(addUnbound);
  views.volumes.onChange((change) => {
    if (change.type === "added") {
      addUnbound();
    }
  });
}

function claimReference(claim: PersistentVolumeClaim) {
  return {
    apiVersion: "v1",
    kind: "PersistentVolumeClaim",
    namespace: claim.metadata?.namespace,
    name: claim.metadata?.name,
    uid: claim.metadata?.uid,
  };
}
