/** What provisioning does for CapacityBuffers: plans for their virtual pods, and says what became of them. Rules L-220…L-224, S-201…S-203. */
import { isNotFound, keyOf } from "@joinery/kube";
import { type BufferOutcome, bufferCondition, type PodToPlace } from "@joinery/scheduling";
import type { Rooms } from "../rooms.ts";
import { messageOf } from "../runtime/answers.ts";
import type { BufferStore } from "./buffer-store.ts";
import { isReadyForProvisioning, podsOfBuffer, readResolution, withBufferCondition } from "./resolution.ts";

export interface ProvisionedBuffers {
  /** L-220: when first asked, everything is read that an earlier process found ready; so no plan is made without it. */
  virtualPods(signal: AbortSignal): Promise<readonly PodToPlace[]>;
  /**
   * L-222, L-224: writes the conditions and remembers which nodes keep room.
   * @param nodeKeys state key by the name that a node has in the problem
   */
  tell(outcome: BufferOutcome, nodeKeys: ReadonlyMap<string, string>, signal: AbortSignal): Promise<void>;
}

/** Where the gate is off. */
export const noBuffers: ProvisionedBuffers = { virtualPods: async () => NONE, tell: async () => {} };
const NONE: readonly PodToPlace[] = [];

export function createProvisionedBuffers(rooms: Rooms, store: BufferStore): ProvisionedBuffers {
  const { caches, clock, writes, log } = rooms;

  async function fill(signal: AbortSignal): Promise<void> {
    for (const buffer of caches.buffers.values()) {
      if (!isReadyForProvisioning(buffer)) continue;
      try {
        const resolution = await readResolution(buffer, rooms, signal);
        if (resolution.kind === "resolved") store.put(keyOf(buffer), podsOfBuffer(buffer, resolution.template, caches));
      } catch (error) {
        signal.throwIfAborted();
        log.error({ CapacityBuffer: buffer.metadata, error: messageOf(error) }, "cannot read what the buffer refers to");
      }
    }
    store.isFilled = true;
  }

  return {
    async virtualPods(signal) {
      if (!store.isFilled) await fill(signal);
      return store.virtualPods();
    },
    async tell({ places, podsByNode }, nodeKeys, signal) {
      store.notePodCounts(new Map([...podsByNode].map(([name, count]) => [nodeKeys.get(name) ?? name, count])));
      for (const buffer of caches.buffers.values()) {
        const condition = bufferCondition(isReadyForProvisioning(buffer), buffer.status?.replicas, places.get(keyOf(buffer)));
        if (condition === undefined) continue;
        const after = withBufferCondition(buffer, { type: "Provisioning", ...condition }, clock.wallMs());
        try {
          await writes.saveBuffer(buffer, after, signal);
        } catch (error) {
          signal.throwIfAborted();
          // L-223: said again with the next pass.
          if (!isNotFound(error))
            log.error({ CapacityBuffer: keyOf(buffer), error: messageOf(error) }, "cannot write the buffer's condition");
        }
      }
    },
  };
}
