/** A representative pod shape for each DaemonSet. Rules S-51, S-66, L-32. */
import { type DaemonSet, type KubeObject, type NodeAffinity, type Pod, withDefaultedRequests } from "@joinery/api";
import type { Cache } from "@joinery/kube";
import type { DaemonSetShape, PodShape } from "@joinery/scheduling";
import type { PodRecord } from "./pod-record.ts";

/** A DaemonSet as the controller keeps it. */
export interface DaemonSetRecord extends KubeObject {
  readonly metadata: { readonly name: string; readonly namespace: string; readonly uid: string; readonly resourceVersion: string };
  /** Of a pod made from the template, with limits for requests that are not there. */
  readonly templateShape: PodShape;
}

export function daemonSetRecord({ metadata = {}, spec }: DaemonSet, shapeOf: (pod: Pod) => PodShape): DaemonSetRecord {
  const { name = "", namespace = "", uid = "", resourceVersion = "" } = metadata;
  const template: Pod = {
    metadata: { ...spec.template.metadata, name, namespace },
    spec: withDefaultedRequests(spec.template.spec),
  };
  return { metadata: { name, namespace, uid, resourceVersion }, templateShape: shapeOf(template) };
}

export interface DaemonSetShapes {
  all(): readonly DaemonSetShape[];
}

/** The newest pod of each DaemonSet speaks for it, since admission may have changed it; without one the template does. */
export function createDaemonSetShapes(daemonSets: Cache<DaemonSetRecord>, pods: Cache<PodRecord>): DaemonSetShapes {
  const merged = new Map<string, { readonly live: PodShape; readonly template: PodShape; readonly shape: PodShape }>();

  function shapeFor({ metadata: { uid }, templateShape }: DaemonSetRecord): PodShape {
    const live = newest(pods.by("daemonSet", uid))?.shape;
    if (live === undefined) return templateShape;
    const known = merged.get(uid);
    if (known?.live === live && known.template === templateShape) return known.shape;
    const shape = withNodeAffinity(live, templateShape.affinity?.nodeAffinity);
    merged.set(uid, { live, template: templateShape, shape });
    return shape;
  }

  return {
    all() {
      const shapes: DaemonSetShape[] = [];
      for (const daemonSet of daemonSets.values()) {
        const { namespace, name } = daemonSet.metadata;
        shapes.push({ key: `${namespace}/${name}`, shape: shapeFor(daemonSet) });
      }
      return shapes.sort((one, other) => (one.key < other.key ? -1 : 1));
    },
  };
}

function withNodeAffinity(shape: PodShape, nodeAffinity: NodeAffinity | undefined): PodShape {
  return nodeAffinity === undefined ? shape : { ...shape, affinity: { ...shape.affinity, nodeAffinity } };
}

/** Equal times: by name, so that a solve repeats exactly. */
function newest(pods: Iterable<PodRecord>): PodRecord | undefined {
  let best: PodRecord | undefined;
  for (const pod of pods) {
    if (best === undefined || pod.createdAtMs > best.createdAtMs) best = pod;
    else if (pod.createdAtMs === best.createdAtMs && pod.metadata.name > best.metadata.name) best = pod;
  }
  return best;
}
