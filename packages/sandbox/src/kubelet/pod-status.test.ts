/** What a kubelet says of a pod in each phase. */
import { expect, test } from "vitest";
import { aPod } from "../world/builders.ts";
import { crashedStatus, endedStatus, runningStatus, startingStatus } from "./pod-status.ts";

const NOW_MS = Date.parse("2026-01-01T00:00:00Z");
const PLACE = { hostIp: "10.0.0.1", podIp: "10.64.0.2", nowMs: NOW_MS };
const RUNS = { restartCount: 0, startedMs: NOW_MS };
const initContainers = [
  { name: "setup", image: "setup:1" },
  { name: "proxy", image: "proxy:1", restartPolicy: "Always" },
];

test.each([
  { what: "starting", status: startingStatus(aPod(), PLACE), phase: "Pending", ready: "False" },
  { what: "running", status: runningStatus(aPod(), true, RUNS, PLACE), phase: "Running", ready: "True" },
  { what: "running but not ready", status: runningStatus(aPod(), false, RUNS, PLACE), phase: "Running", ready: "False" },
  { what: "crashed", status: crashedStatus(aPod(), { ...RUNS, restartCount: 2 }, 20_000, NOW_MS), phase: "Running", ready: "False" },
  { what: "done", status: endedStatus(aPod(), { exitCode: 0 }, RUNS, NOW_MS), phase: "Succeeded", ready: "False" },
  { what: "failed", status: endedStatus(aPod(), { exitCode: 3 }, RUNS, NOW_MS), phase: "Failed", ready: "False" },
])("a pod that is $what: $phase, Ready=$ready", ({ status, phase, ready }) => {
  expect(status.phase).toBe(phase);
  expect(status.conditions?.find(({ type }) => type === "Ready")?.status).toBe(ready);
  expect(JSON.parse(JSON.stringify(status))).toEqual(status); // nothing undefined: it goes to the server as it stands
});

test("init containers have ended when the pod runs; sidecars run with it", () => {
  const pod = aPod({ spec: { initContainers } });
  expect(startingStatus(pod, PLACE).conditions).toContainEqual(expect.objectContaining({ type: "Initialized", status: "False" }));
  expect(runningStatus(pod, true, RUNS, PLACE).initContainerStatuses).toMatchObject([
    { name: "setup", ready: true, state: { terminated: { exitCode: 0 } } },
    { name: "proxy", ready: true, started: true, state: { running: {} } },
  ]);
});

test("a transition time stays while the status stays", () => {
  const pod = aPod();
  const first = runningStatus(pod, true, RUNS, PLACE);
  const again = runningStatus({ ...pod, status: first }, true, RUNS, { ...PLACE, nowMs: NOW_MS + 60_000 });
  expect(again.conditions).toEqual(first.conditions);
});
