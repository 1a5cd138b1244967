/** The shapes of a problem's pods, each once, and which of them each pod has. */
import type { PodShape, PodToPlace } from "../problem.ts";

export interface DistinctShapes {
  readonly list: readonly PodShape[];
  /** By pod: index into `list`. */
  readonly ofPod: Uint32Array;
}

export function distinctShapes(pods: readonly PodToPlace[]): DistinctShapes {
  const list: PodShape[] = [];
  const ofPod = new Uint32Array(pods.length);
  const known = new Map<PodShape, number>();
  for (let pod = 0; pod < pods.length; pod++) {
    const { shape } = pods[pod]!;
    let index = known.get(shape);
    if (index === undefined) {
      index = list.length;
      known.set(shape, index);
      list.push(shape);
    }
    ofPod[pod] = index;
  }
  return { list, ofPod };
}
