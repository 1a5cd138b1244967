/** VolumeAttachments: a volume is attached to the node of a pod that uses it, and let go after the last one. Both take a while. */
import type { Pod, VolumeAttachment } from "@joinery/api";
import { PersistentVolumeClaims, VolumeAttachments } from "@joinery/api";
import { isAlreadyExists, isNotFound, keyOf } from "@joinery/kube";
import { fnv1a32 } from "../controllers/fnv.ts";
import { isEnded } from "../controllers/pod-facts.ts";
import { controllerReference } from "../controllers/pod-template.ts";
import { between } from "../kubelet/pod-runtime.ts";
import { claimNames } from "../scheduler/pod-info.ts";
import type { ClusterContext } from "../world/context.ts";
import { startWorkLoop } from "../world/work-loop.ts";

export interface AttacherOptions {
  readonly attachMs: readonly [number, number];
  readonly detachMs: readonly [number, number];
}

export function startAttacher(context: ClusterContext, { attachMs, detachMs }: AttacherOptions): void {
  const { views, clock } = context;
  const client = context.client("attachdetach-controller");
  const events = context.events("attachdetach-controller");
  /** Attachment → since when it is wanted or unwanted, and until when the change takes; monotonic milliseconds. */
  const changing = new Map<string, { readonly wish: boolean; readonly atMs: number }>();

  /** Key: `node/volume`. */
  async function reconcile(key: string): Promise<number | undefined> {
    const [nodeName = "", volumeName = ""] = key.split("/");
    const volume = views.volumes.find(volumeName);
    const name = attachmentName(nodeName, volumeName);
    const attachment = views.attachments.find(name);
    const users = podsUsing(nodeName, volumeName);
    const isWanted = users.length > 0 && volume?.spec.csi !== undefined && views.nodes.find(nodeName) !== undefined;
    if (isWanted && attachment === undefined) {
      await create(name, nodeName, volumeName, volume?.spec.csi?.driver ?? "");
    }
    const isAttached = attachment?.status?.attached === true;
    if (isWanted === isAttached && (isWanted || attachment === undefined)) {
      changing.delete(name);
      return undefined;
    }
    const waitMs = waitFor(name, isWanted);
    if (waitMs > 0) {
      return waitMs;
    }
    changing.delete(name);
    if (isWanted) {
      const body = { status: { attached: true } };
      views.attachments.wrote(await client.patch(VolumeAttachments, { name }, { type: "merge", body }, { subresource: "status" }));
      for (const pod of users) {
        events.publish(pod, { reason: "SuccessfulAttachVolume", message: `AttachVolume.Attach succeeded for volume "${volumeName}"` });
      }
    } else {
      await client.delete(VolumeAttachments, { name }).catch((error: unknown) => {
        if (!isNotFound(error)) {
          throw error;
        }
      });
    }
    return undefined;
  }

  function waitFor(name: string, wish: boolean): number {
    const known = changing.get(name);
    if (known?.wish === wish) {
      return known.atMs - clock.monotonicMs();
    }
    const ms = between(context.chance(`attach/${name}/${wish}`), wish ? attachMs : detachMs);
    changing.set(name, { wish, atMs: clock.monotonicMs() + ms });
    return ms;
  }

  async function create(name: string, nodeName: string, persistentVolumeName: string, attacher: string): Promise<void> {
    const attachment: VolumeAttachment = {
      apiVersion: "storage.k8s.io/v1",
      kind: "VolumeAttachment",
      metadata: { name },
      spec: { attacher, nodeName, source: { persistentVolumeName } },
    };
    try {
      views.attachments.wrote(await client.create(VolumeAttachments, attachment));
    } catch (error) {
      if (!isAlreadyExists(error)) {
        throw error;
      }
    }
  }

  /** Pods that hold the volume on the node: also those that are being stopped. */
  function podsUsing(nodeName: string, volumeName: string): Pod[] {
    return views.pods.by("node", nodeName).filter((pod) => !isEnded(pod) && volumesOf(pod).includes(volumeName));
  }

  function volumesOf(pod: Pod): string[] {
    return claimNames(pod).flatMap((claim) => views.claims.find(`${pod.metadata?.namespace}/${claim}`)?.spec.volumeName ?? []);
  }

  const loop = startWorkLoop({ name: "attachdetach-controller", context, reconcile });
  const addPod = (pod: Pod): void => {
    if (pod.spec.nodeName !== undefined && claimNames(pod).length > 0) {
      for (const volumeName of volumesOf(pod)) {
        loop.add(`${pod.spec.nodeName}/${volumeName}`);
      }
    }
  };
  views.pods.onChange(({ object }) => addPod(object));
  views.attachments.onChange(({ object }) => loop.add(`${object.spec.nodeName}/${object.spec.source.persistentVolumeName}`));
  views.nodes.onChange((change) => {
    if (change.type === "deleted") {
      for (const { spec } of views.attachments.by("node", change.object.metadata?.name ?? "")) {
        loop.add(`${spec.nodeName}/${spec.source.persistentVolumeName}`);
      }
    }
  });
  views.claims.onChange(({ object }) => {
    for (const pod of views.pods.by("claim", keyOf(object))) {
      addPod(pod);
    }
  });
  startEphemeralClaims(context);
}

function attachmentName(nodeName: string, volumeName: string): string {
  const hash = (part: number): string => fnv1a32(`${part}/${volumeName}/${nodeName}`).toString(16).padStart(8, "0");
  return `csi-${[1, 2, 3, 4, 5, 6, 7, 8].map(hash).join("")}`;
}

/** Generic ephemeral volumes: a claim per pod, owned by it. */
function startEphemeralClaims(context: ClusterContext): void {
  const { views } = context;
  const client = context.client("ephemeral-volume-controller");
  const loop = startWorkLoop({
    name: "ephemeral-volume-controller",
    context,
    async reconcile(key) {
      const pod = views.pods.find(key);
      if (pod === undefined || views.pods.isLeaving(pod) || isEnded(pod)) {
        return undefined;
      }
      for (const { name, ephemeral } of pod.spec.volumes ?? []) {
        const claimName = `${pod.metadata?.name}-${name}`;
        const template = ephemeral?.volumeClaimTemplate;
        if (template === undefined || views.claims.find(`${pod.metadata?.namespace}/${claimName}`) !== undefined) {
          continue;
        }
        const ownerReferences = [controllerReference(pod, "v1", "Pod")];
        const metadata = { name: claimName, namespace: pod.metadata?.namespace, ownerReferences };
        const claim = { apiVersion: "v1", kind: "PersistentVolumeClaim", metadata, spec: template.spec };
        try {
          views.claims.wrote(await client.create(PersistentVolumeClaims, claim));
        } catch (error) {
          if (!isAlreadyExists(error)) {
            throw error;
          }
        }
      }
      return undefined;
    },
  });
  views.pods.onChange((change) => {
    if (change.type === "added" && (change.object.spec.volumes ?? []).some(({ ephemeral }) => ephemeral !== undefined)) {
      loop.add(keyOf(change.object));
    }
  });
}
