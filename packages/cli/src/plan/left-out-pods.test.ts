import type { Pod } from "@joinery/api";
import { expect, test } from "vitest";
import { leftOutPods } from "./left-out-pods.ts";

function pod({ owner, ...rest }: { owner?: "DaemonSet" | "Node"; spec?: object; status?: object }): Pod {
  const apiVersion = owner === "Node" ? "v1" : "apps/v1";
  const ownerReferences = owner === undefined ? [] : [{ apiVersion, kind: owner, name: "o", uid: "u" }];
  return {
    metadata: { name: "p", namespace: "default", ownerReferences },
    spec: { containers: [], ...rest.spec },
    status: rest.status,
  } as unknown as Pod;
}

test("S-11, S-13: pods are counted by why they are left out; those that are planned or run are not", () => {
  const gated = { schedulingGates: [{ name: "g" }] };
  const pods = [
    pod({}),
    pod({ spec: { nodeName: "n" } }),
    pod({ owner: "DaemonSet", spec: { nodeName: "n" } }),
    pod({ spec: { nodeName: "n" }, status: { phase: "Succeeded" } }),
    pod({ status: { phase: "Failed" } }),
    pod({ spec: gated }),
    pod({ spec: gated, owner: "DaemonSet" }),
    pod({ status: { nominatedNodeName: "n" } }),
    pod({ owner: "DaemonSet" }),
    pod({ owner: "Node" }),
  ];
  expect(leftOutPods(pods)).toEqual([
    { count: 2, why: "behind a scheduling gate" },
    { count: 1, why: "nominated to a node by the scheduler" },
    { count: 1, why: "of DaemonSets (they come with their nodes)" },
    { count: 1, why: "mirrored from a node" },
    { count: 2, why: "ended already" },
  ]);
  expect(leftOutPods([pod({})])).toEqual([]);
});
