/** The law can be broken, by each thing that it forbids; and what the controller does is within it. */
import type { Node, NodeClaim, Pod } from "@joinery/api";
import { describe, expect, test } from "vitest";
import { checkNodePatch, checkPodPatch } from "./own-fields.ts";

const metadata = { name: "n", resourceVersion: "7" };
const foreign = { key: "team", value: "a", effect: "NoSchedule" } as const;
const unregistered = { key: "karpenter.sh/unregistered", effect: "NoExecute" } as const;
const disrupted = { key: "karpenter.sh/disrupted", effect: "NoSchedule" } as const;
const startup = { key: "cni", effect: "NoSchedule" } as const;
const node: Node = {
  metadata: { ...metadata, labels: { owner: "me" }, finalizers: ["example.com/mine", "karpenter.sh/termination"] },
  spec: { taints: [foreign, unregistered] },
};
const claim = { metadata: { labels: { team: "t1" } }, spec: { startupTaints: [startup] } } as unknown as NodeClaim;

describe("L-93, L-94, L-98, L-104, L-128, L-130: a Node", () => {
  test.each<{ does: string; body: object }>([
    { does: "is registered", body: { metadata: { ...metadata, labels: { team: "t1", "karpenter.sh/registered": "true" } } } },
    { does: "gets startup taints", body: { metadata, spec: { taints: [foreign, startup] } } },
    { does: "is cordoned", body: { metadata, spec: { taints: [foreign, unregistered, disrupted] } } },
    { does: "is released", body: { metadata: { ...metadata, finalizers: ["example.com/mine"] } } },
  ])("$does", ({ body }) => {
    expect(() => checkNodePatch(node, body, claim)).not.toThrow();
  });

  test.each<{ told: string; body: object }>([
    { told: "it is changed whatever its version is", body: { metadata: { name: "n", labels: {} } } },
    { told: "version 6 is changed, and it has version 7", body: { metadata: { ...metadata, resourceVersion: "6" } } },
    { told: "taint team:NoSchedule of somebody else is removed", body: { metadata, spec: { taints: [unregistered] } } },
    { told: "taint x:NoSchedule is added", body: { metadata, spec: { taints: [foreign, unregistered, { ...foreign, key: "x" }] } } },
    { told: "owner is removed", body: { metadata: { ...metadata, labels: { owner: null } } } },
    { told: "owner=you is neither its own nor the NodeClaim's", body: { metadata: { ...metadata, labels: { owner: "you" } } } },
    { told: "finalizer example.com/mine is removed", body: { metadata: { ...metadata, finalizers: [] } } },
    { told: "unschedulable is not the controller's", body: { metadata, spec: { unschedulable: true } } },
    { told: "status is not the controller's", body: { metadata, status: {} } },
  ])("$told", ({ told, body }) => {
    expect(() => checkNodePatch(node, body, claim)).toThrow(`only its own is written: Node n: ${told}`);
  });
});

describe("V-86, V-87: a pod", () => {
  const pod = (kind: string) =>
    ({
      metadata: { ...metadata, ownerReferences: [{ apiVersion: "apps/v1", kind, name: "x", uid: "x", controller: true }] },
      spec: { containers: [] },
    }) as Pod;
  const cost = { "controller.kubernetes.io/pod-deletion-cost": "-1" };

  test("gets a deletion cost", () => {
    expect(() => checkPodPatch(pod("ReplicaSet"), { metadata: { resourceVersion: "7", annotations: cost } })).not.toThrow();
  });

  test.each<{ told: string; kind?: string; body: object }>([
    { told: "it is changed whatever its version is", body: { metadata: { annotations: cost } } },
    { told: "annotation mine is not the controller's", body: { metadata: { resourceVersion: "7", annotations: { mine: "1" } } } },
    { told: "labels is not the controller's", body: { metadata: { resourceVersion: "7", labels: {} } } },
    { told: "spec is not the controller's", body: { metadata: { resourceVersion: "7" }, spec: {} } },
    { told: "it is a Job pod", kind: "Job", body: { metadata: { resourceVersion: "7", annotations: cost } } },
  ])("$told", ({ told, kind = "ReplicaSet", body }) => {
    expect(() => checkPodPatch(pod(kind), body)).toThrow(`only its own is written: pod n: ${told}`);
  });
});
