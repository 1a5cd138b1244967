/** Says which waiting pods have preferences that can keep their nodes from being consolidated. Rule S-192. */
import type { Clock } from "@joinery/kube";
import type { PodShape } from "@joinery/scheduling";
import type { Logger } from "../logger.ts";
import { type PodRecord, podKey } from "../state/pod-record.ts";

const DAY_MS = 24 * 60 * 60 * 1000;
const PODS_NAMED_MAX = 10;

export interface PreferenceNotice {
  /** One line for all pods that were not told of within a day; none if there are none. */
  tell(pods: Iterable<PodRecord>): void;
}

export function createPreferenceNotice(clock: Clock, log: Logger): PreferenceNotice {
  const toldAtMs = new Map<string, number>();
  return {
    tell(pods) {
      const nowMs = clock.monotonicMs();
      for (const [uid, atMs] of toldAtMs) if (nowMs - atMs >= DAY_MS) toldAtMs.delete(uid);
      const names: string[] = [];
      for (const pod of pods) {
        const { uid } = pod.metadata;
        if (toldAtMs.has(uid) || !canHinderConsolidation(pod.shape)) continue;
        toldAtMs.set(uid, nowMs);
        names.push(podKey(pod));
      }
      if (names.length === 0) return;
      const Pods =
        names.slice(0, PODS_NAMED_MAX).join(", ") + (names.length > PODS_NAMED_MAX ? ` and ${names.length - PODS_NAMED_MAX} other(s)` : "");
      log.info({ Pods }, "pods prefer to be apart or to be spread, which can keep nodes from being consolidated");
    },
  };
}

function canHinderConsolidation({ affinity, topologySpreadConstraints = [] }: PodShape): boolean {
  const isApart = (affinity?.podAntiAffinity?.preferredDuringSchedulingIgnoredDuringExecution ?? []).length > 0;
  return isApart || topologySpreadConstraints.some(({ whenUnsatisfiable }) => whenUnsatisfiable === "ScheduleAnyway");
}
