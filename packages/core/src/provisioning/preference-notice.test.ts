import { createVirtualClock } from "@joinery/kube";
import { expect, test } from "vitest";
import { silentLogger } from "../logger.ts";
import type { PodRecord } from "../state/pod-record.ts";
import { createPreferenceNotice } from "./preference-notice.ts";

const HOUR_MS = 3_600_000;
const term = { weight: 1, podAffinityTerm: { topologyKey: "zone" } };
const aPod = (name: string, shape: object): PodRecord =>
  ({ metadata: { name, namespace: "ns", uid: name }, shape }) as unknown as PodRecord;

test("S-192: once per pod and day, of preferred anti-affinity and of spreads that may be broken", async () => {
  const clock = createVirtualClock({ startMs: 0 });
  const told: unknown[] = [];
  const notice = createPreferenceNotice(clock, { ...silentLogger, info: (fields: { readonly Pods?: unknown }) => told.push(fields.Pods) });
  const pods = [
    aPod("plain", {}),
    aPod("hard", { topologySpreadConstraints: [{ whenUnsatisfiable: "DoNotSchedule" }] }),
    aPod("apart", { affinity: { podAntiAffinity: { preferredDuringSchedulingIgnoredDuringExecution: [term] } } }),
    aPod("spread", { topologySpreadConstraints: [{ whenUnsatisfiable: "ScheduleAnyway" }] }),
  ];
  notice.tell(pods);
  expect(told).toEqual(["ns/apart, ns/spread"]);
  await clock.advance(23 * HOUR_MS);
  notice.tell(pods);
  expect(told).toHaveLength(1);
  await clock.advance(HOUR_MS);
  notice.tell(pods);
  expect(told).toHaveLength(2);
});
