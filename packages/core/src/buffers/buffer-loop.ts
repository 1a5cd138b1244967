/** Says of each CapacityBuffer whether its room can be planned for, and keeps its virtual pods. Rules L-206…L-217, V-90…V-92. */
import type { CapacityBuffer, KubeObject } from "@joinery/api";
import { type Change, isNotFound, keyOf } from "@joinery/kube";
import type { ScalableKind } from "@joinery/scheduling";
import type { Rooms } from "../rooms.ts";
import { messageOf } from "../runtime/answers.ts";
import { createLoop, type Loop, type Source } from "../runtime/loop.ts";
import { changesOf } from "../runtime/source.ts";
import { asleep, type Step } from "../runtime/step.ts";
import type { BufferStore } from "./buffer-store.ts";
import { podsOfBuffer, readResolution, SCALABLE_KINDS, withResolution } from "./resolution.ts";

const WORKERS = 10;

/**
 * The loop of `capacitybuffer`.
 * @param trigger wakes the provisioner, for a buffer or (V-91) for none in particular
 */
export function createBufferLoop(rooms: Rooms, store: BufferStore, trigger: (uid?: string) => void): Loop {
  const { caches, writes } = rooms;
  return createLoop(
    {
      name: "capacitybuffer",
      find: caches.buffers.find,
      reconciler: { reconcile: (buffer, signal) => reconcile(buffer, rooms, store, trigger, signal) },
      gone(key) {
        store.remove(key);
        trigger();
      },
      sources: [changesOf(caches.buffers, undefined, writes.isOwn), whatBuffersReferTo(rooms)],
      workers: WORKERS,
      backoff: { baseMs: 100, bucket: { perSecond: 10, burst: 100 } },
    },
    rooms,
  );
}

async function reconcile(
  buffer: CapacityBuffer,
  rooms: Rooms,
  store: BufferStore,
  trigger: (uid?: string) => void,
  signal: AbortSignal,
): Promise<Step> {
  const { caches, clock, writes } = rooms;
  const { resolution, error } = await resolved(buffer, rooms, signal);
  let saved: CapacityBuffer;
  try {
    saved = await writes.saveBuffer(buffer, withResolution(buffer, resolution, clock.wallMs()), signal);
  } catch (failure) {
    if (isNotFound(failure)) return asleep;
    throw failure;
  }
  if (error !== undefined) throw error;
  const key = keyOf(buffer);
  const hasChanged = resolution.kind === "resolved" ? store.put(key, podsOfBuffer(saved, resolution.template, caches)) : store.remove(key);
  // L-216, V-90: also for one that cannot be resolved, so that what its room protected is no longer protected.
  if (hasChanged || saved !== buffer) trigger(buffer.metadata?.uid);
  return asleep;
}

/** L-209: what cannot be read is told in the condition too, and tried again. */
async function resolved(buffer: CapacityBuffer, rooms: Rooms, signal: AbortSignal) {
  try {
    const resolution = await readResolution(buffer, rooms, signal);
    const isError = resolution.kind === "unresolved" && resolution.isError;
    return { resolution, error: isError ? new Error(`resolving capacity buffer, ${resolution.message}`) : undefined };
  } catch (error) {
    signal.throwIfAborted();
    return { resolution: { kind: "unresolved", reason: "ResolutionFailed", message: messageOf(error), isError: true } as const, error };
  }
}

/** V-92: what comes, goes, or gets another spec; what only reports does not matter. */
function whatBuffersReferTo({ caches }: Rooms): Source {
  return (wake) => {
    const wakeThose = (isMeant: (buffer: CapacityBuffer) => boolean) => (change: Change<KubeObject>) => {
      if (change.type === "updated" && change.object.metadata?.generation === change.previous.metadata?.generation) return;
      const { namespace, name } = change.object.metadata ?? {};
      for (const buffer of caches.buffers.values()) {
        if (buffer.metadata?.namespace === namespace && refName(buffer) === name && isMeant(buffer)) wake(keyOf(buffer));
      }
    };
    const unsubscribes = (Object.keys(SCALABLE_KINDS) as ScalableKind[]).map((kind) =>
      caches.workloads[kind].onChange(wakeThose(({ spec }) => spec.scalableRef?.kind === kind)),
    );
    unsubscribes.push(
      // A PodTemplate has a generation only where the server counts one, so each change of it is looked at.
      caches.podTemplates.onChange(({ object }) => wakeThose(({ spec }) => spec.podTemplateRef !== undefined)({ type: "added", object })),
    );
    return () => {
      for (const unsubscribe of unsubscribes) unsubscribe();
    };
  };
}

function refName({ spec }: CapacityBuffer): string | undefined {
  return (spec.podTemplateRef ?? spec.scalableRef)?.name;
}
