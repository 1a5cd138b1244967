/** Of each event: type, subject, under which key it is told once and for how long, and its text. Section 9.2 of the operations chapter. */
import type { NodeClaim, NodePool, VolumeAttachment } from "@joinery/api";
import { expect, test } from "vitest";
import { failedConsistencyCheck, insufficientCapacity, launchFailedForPod, unregisteredTaintMissing } from "../lifecycle/events.ts";
import { failedScheduling, noCompatibleInstanceTypes, nominated } from "../provisioning/events.ts";
import { nodeRecord } from "../state/node-record.ts";
import {
  awaitingVolumes,
  claimExpiring,
  disrupted,
  evicted,
  evictionRefused,
  nodeExpiring,
  podsAreWaiting,
  protection,
} from "../termination/events.ts";
import { aPodRecord } from "../testing/pod-records.ts";
import type { CoreEvent } from "./event.ts";

const MINUTE_MS = 60_000;
const START = Date.parse("2026-01-01T00:00:00Z");
const identity = { name: "p", namespace: "team", uid: "pod-uid" };
const pod = aPodRecord({ ...identity, spec: { terminationGracePeriodSeconds: 90 } });
const node = nodeRecord({ metadata: { name: "n", uid: "node-uid" } });
const claim = { metadata: { name: "c", uid: "claim-uid" } } as NodeClaim;
const pool = { metadata: { name: "web", uid: "pool-uid" } } as NodePool;
const attachments = (count: number) =>
  Array.from(
    { length: count },
    (_, at): VolumeAttachment => ({
      metadata: { name: `va-${at}` },
      spec: { nodeName: "n", attacher: "ebs", source: {} },
    }),
  );
const wished = (value: string) => {
  const annotations = { "karpenter.sh/do-not-disrupt": value };
  return protection(aPodRecord({ ...identity, annotations, status: { startTime: "2026-01-01T00:00:00Z" } }), START + 5 * MINUTE_MS);
};

const onPod = { apiVersion: "v1", kind: "Pod", name: "p", namespace: "team", uid: "pod-uid" };
const onNode = { apiVersion: "v1", kind: "Node", name: "n", uid: "node-uid" };
const onClaim = { apiVersion: "karpenter.sh/v1", kind: "NodeClaim", name: "c", uid: "claim-uid" };
const onPool = { apiVersion: "karpenter.sh/v1", kind: "NodePool", name: "web", uid: "pool-uid" };
const invalid = 'Ignoring annotation karpenter.sh/do-not-disrupt: "soon" is neither "true" nor a positive duration';

type Told = Pick<CoreEvent, "subject" | "type" | "reason" | "message" | "dedupe" | "windowMs" | "bucket">;

/** No window: the two minutes of O-243. No bucket: not limited. */
const ROWS: readonly { readonly rule: string; readonly event: CoreEvent | undefined; readonly told: Told }[] = [
  {
    rule: "O-248",
    event: failedScheduling(pod, [{ kind: "no-node-pool" }]),
    told: {
      subject: onPod,
      type: "Warning",
      reason: "FailedScheduling",
      message: expect.stringMatching(/^Failed to schedule pod, ./),
      dedupe: ["pod-uid"],
      windowMs: 5 * MINUTE_MS,
    },
  },
  {
    rule: "O-249, O-245",
    event: nominated(pod, { nodeClaim: "c", node: "n" }),
    told: {
      subject: onPod,
      type: "Normal",
      reason: "Nominated",
      message: "Pod should schedule on: nodeclaim/c, node/n",
      dedupe: ["pod-uid"],
      bucket: "Nominated",
    },
  },
  {
    rule: "O-250",
    event: noCompatibleInstanceTypes(pool, { kind: "no-offering", nodePool: "web", message: "" }),
    told: {
      subject: onPool,
      type: "Warning",
      reason: "NoCompatibleInstanceTypes",
      message: "NodePool requirements filtered out all compatible available instance types",
      dedupe: ["pool-uid"],
      windowMs: MINUTE_MS,
    },
  },
  {
    rule: "O-250 (minValues)",
    event: noCompatibleInstanceTypes(pool, { kind: "min-values", nodePool: "web", labels: [] }),
    told: {
      subject: onPool,
      type: "Warning",
      reason: "NoCompatibleInstanceTypes",
      message: "NodePool requirements filtered out all compatible available instance types due to minValues incompatibility",
      dedupe: ["pool-uid"],
      windowMs: MINUTE_MS,
    },
  },
  {
    rule: "O-259",
    event: evicted(pod, "Drifted"),
    told: { subject: onPod, type: "Normal", reason: "Evicted", message: "Evicted pod: Drifted", dedupe: ["p"] },
  },
  {
    rule: "O-260",
    event: disrupted(pod, "2026-01-01T00:05:00Z", 40),
    told: {
      subject: onPod,
      type: "Normal",
      reason: "Disrupted",
      message: expect.stringMatching(/terminationTime 2026-01-01T00:05:00Z .* 40 seconds .* 90s .* bypasses the PDB .* do-not-disrupt/),
      dedupe: ["p"],
    },
  },
  {
    rule: "O-261",
    event: podsAreWaiting(node, 3),
    told: {
      subject: onNode,
      type: "Warning",
      reason: "FailedDraining",
      message: "Failed to drain node, 3 pods are waiting to be evicted",
      dedupe: ["n"],
    },
  },
  {
    rule: "O-261 (a window of its own, L-152)",
    event: evictionRefused(node, "team/p", "evicting pod violates a PDB"),
    told: {
      subject: onNode,
      type: "Warning",
      reason: "FailedDraining",
      message: "Failed to drain node, evicting pod violates a PDB (team/p)",
      dedupe: ["n", "evicting pod violates a PDB"],
    },
  },
  {
    rule: "O-262",
    event: awaitingVolumes(node, attachments(5)),
    told: {
      subject: onNode,
      type: "Normal",
      reason: "AwaitingVolumeDetachment",
      message: "Awaiting deletion of bound volumeattachments (va-0, va-1, va-2, va-3, va-4)",
      dedupe: ["n"],
    },
  },
  {
    rule: "O-262 (more than five)",
    event: awaitingVolumes(node, attachments(7)),
    told: {
      subject: onNode,
      type: "Normal",
      reason: "AwaitingVolumeDetachment",
      message: "Awaiting deletion of bound volumeattachments (va-0, va-1, va-2, va-3, va-4 and 2 other(s))",
      dedupe: ["n"],
    },
  },
  ...[
    { event: nodeExpiring(node, "2026-01-01T00:05:00Z"), subject: onNode },
    { event: claimExpiring(claim, "2026-01-01T00:05:00Z"), subject: onClaim },
  ].map(({ event, subject }) => ({
    rule: `O-263 (${subject.kind})`,
    event,
    told: {
      subject,
      type: "Warning" as const,
      reason: "TerminationGracePeriodExpiring",
      message: "All pods will be deleted by 2026-01-01T00:05:00Z",
      dedupe: [subject.name],
    },
  })),
  {
    rule: "O-265",
    event: failedConsistencyCheck(claim, "less than promised"),
    told: {
      subject: onClaim,
      type: "Warning",
      reason: "FailedConsistencyCheck",
      message: "less than promised",
      dedupe: ["claim-uid", "less than promised"],
    },
  },
  {
    rule: "O-266",
    event: insufficientCapacity(claim, "no m5.large"),
    told: {
      subject: onClaim,
      type: "Warning",
      reason: "InsufficientCapacityError",
      message: "NodeClaim c event: no m5.large",
      dedupe: ["claim-uid"],
    },
  },
  {
    rule: "O-266, V-94",
    event: launchFailedForPod(pod, "c", "no m5.large"),
    told: {
      subject: onPod,
      type: "Warning",
      reason: "InsufficientCapacityError",
      message: "NodeClaim c nominated for this pod failed to launch: no m5.large",
      dedupe: ["pod-uid"],
      bucket: "InsufficientCapacityError",
    },
  },
  {
    rule: "O-266, V-95",
    event: insufficientCapacity(claim, "x".repeat(2000)),
    told: {
      subject: onClaim,
      type: "Warning",
      reason: "InsufficientCapacityError",
      message: `NodeClaim c event: ${"x".repeat(1021 - "NodeClaim c event: ".length)}...`,
      dedupe: ["claim-uid"],
    },
  },
  {
    rule: "O-267",
    event: unregisteredTaintMissing(claim),
    told: {
      subject: onClaim,
      type: "Warning",
      reason: "UnregisteredTaintMissing",
      message: expect.stringContaining("karpenter.sh/unregistered taint"),
      dedupe: ["claim-uid"],
    },
  },
  {
    rule: "O-268",
    event: wished("soon"),
    told: { subject: onPod, type: "Warning", reason: "InvalidDoNotDisruptAnnotation", message: invalid, dedupe: ["pod-uid", invalid] },
  },
  {
    rule: "O-269 (until)",
    event: wished("10m"),
    told: {
      subject: onPod,
      type: "Normal",
      reason: "DoNotDisruptUntil",
      message: "Pod may not be disrupted until 2026-01-01T00:10:00Z",
      dedupe: ["pod-uid", "2026-01-01T00:10:00Z"],
    },
  },
  {
    rule: "O-269 (elapsed)",
    event: wished("3m"),
    told: {
      subject: onPod,
      type: "Normal",
      reason: "DoNotDisruptGracePeriodElapsed",
      message: "Pod may be disrupted since 2026-01-01T00:03:00Z",
      dedupe: ["pod-uid"],
    },
  },
];

test.each(ROWS)("$rule: $told.reason", ({ event, told }) => {
  expect(event).toEqual(told);
});
