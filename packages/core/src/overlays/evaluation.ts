/** Looks at all NodeOverlays together: says of each whether it holds, and puts those that do in force. Rules L-225…L-237. */
import { invalidityMessage, type KubeObject, type NodeOverlay } from "@joinery/api";
import type { Cache, Change } from "@joinery/kube";
import { isNotFound } from "@joinery/kube";
import { evaluateOverlays, type OverlayVerdict, type PoolOffer } from "@joinery/scheduling";
import type { Rooms } from "../rooms.ts";
import { messageOf } from "../runtime/answers.ts";
import { createLoop, type Loop, type Source } from "../runtime/loop.ts";
import { once, SINGLETON } from "../runtime/source.ts";
import { again, RetryLater, type Step } from "../runtime/step.ts";
import { setOverlayCondition, type WishedCondition } from "../state/conditions.ts";
import { isManaged } from "../state/managed.ts";
import type { OverlayStore } from "./overlay-store.ts";

/** L-236: types that the provider gains are looked at now and then. */
const PERIOD_MS = 6 * 3_600_000;

/**
 * The loop of `nodeoverlay.controller`.
 * @param onNewPools called when pools can be used that could not before
 */
export function createOverlayLoop(rooms: Rooms, store: OverlayStore, onNewPools: () => void): Loop {
  return createLoop(
    {
      name: "nodeoverlay.controller",
      find: (key) => (key === SINGLETON ? rooms : undefined),
      reconciler: { reconcile: (_, signal) => evaluate(rooms, store, onNewPools, signal) },
      sources: [once, whatMatters(rooms)],
      workers: 1,
      backoff: { baseMs: 100, bucket: { perSecond: 10, burst: 100 } },
    },
    rooms,
  );
}

async function evaluate(rooms: Rooms, store: OverlayStore, onNewPools: () => void, signal: AbortSignal): Promise<Step> {
  const { caches, cluster, vocabulary, clock } = rooms;
  const { offers, errors } = await offersOfAllPools(rooms, signal);
  // What is in the caches now is decided about; a change from here on wakes this loop again.
  const overlays = [...caches.nodeOverlays.values()];
  const { verdicts, overlays: holding } = evaluateOverlays(overlays, offers, vocabulary);
  for (const overlay of overlays) {
    const verdict = verdicts.get(overlay.metadata?.name ?? "");
    if (verdict !== undefined) await saveVerdict(overlay, verdict, rooms, clock.wallMs(), signal);
  }
  const isAnyNew = offers.some(({ nodePool }) => !store.hasEvaluated(nodePool));
  store.replace(holding, new Set(offers.map(({ nodePool }) => nodePool.metadata?.uid ?? "")));
  cluster.consolidation.bump();
  if (isAnyNew) onNewPools();
  if (errors.length > 0) throw new AggregateError(errors, `getting instance types, ${errors.map(messageOf).join("; ")}`);
  return again(PERIOD_MS);
}

/** L-225: a pool whose types cannot be had stays unevaluated; the others do not suffer. */
async function offersOfAllPools(
  { caches, provider }: Rooms,
  signal: AbortSignal,
): Promise<{ readonly offers: readonly PoolOffer[]; readonly errors: readonly unknown[] }> {
  const offers: PoolOffer[] = [];
  const errors: unknown[] = [];
  for (const nodePool of caches.nodePools.values()) {
    if (!isManaged(nodePool.spec.template.spec.nodeClassRef, provider.nodeClassKinds)) continue;
    try {
      offers.push({ nodePool, instanceTypes: await provider.instanceTypes(nodePool, signal) });
    } catch (error) {
      signal.throwIfAborted();
      errors.push(error);
    }
  }
  return { offers, errors };
}

/** L-235: an overlay that somebody else has changed or deleted meanwhile makes the whole pass begin anew, and nothing is in force yet. */
async function saveVerdict(overlay: NodeOverlay, verdict: OverlayVerdict, { writes }: Rooms, nowMs: number, signal: AbortSignal) {
  try {
    await writes.saveNodeOverlay(overlay, setOverlayCondition(overlay, conditionOf(verdict), nowMs), signal);
  } catch (error) {
    if (isNotFound(error)) throw new RetryLater();
    throw error;
  }
}

export function conditionOf(verdict: OverlayVerdict): WishedCondition {
  const type = "ValidationSucceeded";
  switch (verdict.kind) {
    case "valid":
      return { type, status: "True" };
    case "invalid":
      return { type, status: "False", reason: "RuntimeValidation", message: invalidityMessage(verdict.invalid) };
    case "conflict": {
      const { other, about, instanceType, nodePool } = verdict;
      const message = `conflict with another overlay: "${other}" of equal weight sets ${about} of ${instanceType} in NodePool "${nodePool}" too`;
      return { type, status: "False", reason: "Conflict", message };
    }
  }
}

/** L-237: what comes, goes, or gets another spec. */
function whatMatters({ caches }: Rooms): Source {
  return (wake) => {
    const follow = <T extends KubeObject>(cache: Cache<T>) => cache.onChange((change) => isNewSpec(change) && wake(SINGLETON));
    const unsubscribes = [follow(caches.nodeOverlays), follow(caches.nodePools), caches.onNodeClassChange(() => wake(SINGLETON))];
    return () => {
      for (const unsubscribe of unsubscribes) unsubscribe();
    };
  };
}

function isNewSpec(change: Change<KubeObject>): boolean {
  return change.type !== "updated" || change.object.metadata?.generation !== change.previous.metadata?.generation;
}
