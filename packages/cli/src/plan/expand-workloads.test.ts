import type { KubeObject } from "@joinery/api";
import { describe, expect, test } from "vitest";
import { expandWorkloads } from "./expand-workloads.ts";
import { createObjectSource } from "./input.ts";

interface Case {
  readonly name: string;
  readonly objects: readonly object[];
  readonly pods: readonly string[];
}

const template = { metadata: { labels: { app: "web" } }, spec: { containers: [{ name: "main", image: "x" }] } };
const workload = (kind: string, name: string, replicas: number | undefined, metadata: object = {}, spec: object = {}) => ({
  apiVersion: "apps/v1",
  kind,
  metadata: { name, ...metadata },
  spec: { ...(replicas !== undefined && { replicas }), selector: { matchLabels: { app: "web" } }, template, ...spec },
});
const job = (name: string, spec: object, status: object = {}) => ({
  apiVersion: "batch/v1",
  kind: "Job",
  metadata: { name },
  spec: { template, ...spec },
  status,
});
const ownedBy = (kind: string, name: string) => ({ ownerReferences: [{ apiVersion: "apps/v1", kind, name, uid: "u", controller: true }] });
const pod = (name: string, metadata: object = {}, status: object = { phase: "Running" }) => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name, ...metadata },
  spec: template.spec,
  status,
});

const cases: readonly Case[] = [
  { name: "a Deployment stands for its replicas", objects: [workload("Deployment", "web", 2)], pods: ["default/web-0", "default/web-1"] },
  { name: "replicas default to one", objects: [workload("Deployment", "web", undefined)], pods: ["default/web-0"] },
  { name: "none at zero", objects: [workload("StatefulSet", "web", 0)], pods: [] },
  { name: "in its namespace", objects: [workload("ReplicaSet", "web", 1, { namespace: "shop" })], pods: ["shop/web-0"] },
  {
    name: "minus the pods that it owns through its ReplicaSets",
    objects: [
      workload("Deployment", "web", 3),
      workload("ReplicaSet", "web-1", 3, ownedBy("Deployment", "web")),
      workload("ReplicaSet", "web-2", 0, ownedBy("Deployment", "web")),
      pod("web-1-a", ownedBy("ReplicaSet", "web-1")),
      pod("web-2-a", ownedBy("ReplicaSet", "web-2")),
    ],
    pods: ["default/web-0"],
  },
  {
    name: "minus the pods of ReplicaSets that the input leaves out, told by their names and labels",
    objects: [
      workload("Deployment", "web", 4),
      pod("web-1-a", { labels: { app: "web" }, ...ownedBy("ReplicaSet", "web-1") }),
      pod("web-2-a", { labels: { app: "web" }, ...ownedBy("ReplicaSet", "web-2") }),
      pod("web-2-b", { labels: { app: "web" }, ...ownedBy("ReplicaSet", "web-2") }, { phase: "Pending" }),
      pod("web-canary-1-a", { labels: { app: "web" }, ...ownedBy("ReplicaSet", "web-canary-1") }),
      pod("web-3-a", { labels: { app: "other" }, ...ownedBy("ReplicaSet", "web-3") }),
      pod("web-2-c", { labels: { app: "web" }, namespace: "n", ...ownedBy("ReplicaSet", "web-2") }),
    ],
    pods: ["default/web-0"],
  },
  {
    name: "a ReplicaSet whose Deployment is missing stands for itself",
    objects: [workload("ReplicaSet", "web-1", 2, ownedBy("Deployment", "web")), pod("a", ownedBy("ReplicaSet", "web-1"))],
    pods: ["default/web-1-0"],
  },
  {
    name: "minus pods without owner that it selects",
    objects: [workload("Deployment", "web", 2), pod("a", { labels: { app: "web" } })],
    pods: ["default/web-0"],
  },
  {
    name: "a pod of somebody else does not count, however its labels are",
    objects: [workload("Deployment", "web", 1), pod("a", { labels: { app: "web" }, ...ownedBy("StatefulSet", "db") })],
    pods: ["default/web-0"],
  },
  {
    name: "a pod of another namespace does not count",
    objects: [workload("Deployment", "web", 1), pod("a", { labels: { app: "web" }, namespace: "n" })],
    pods: ["default/web-0"],
  },
  {
    name: "names that exist are skipped",
    objects: [workload("Deployment", "web", 2), pod("web-0"), pod("web-2")],
    pods: ["default/web-1", "default/web-3"],
  },
  {
    name: "two workloads of one name share no pod name",
    objects: [workload("Deployment", "web", 1), job("web", {})],
    pods: ["default/web-0", "default/web-1"],
  },
  {
    name: "ended and terminating pods are replaced",
    objects: [
      workload("ReplicaSet", "web", 2),
      pod("a", ownedBy("ReplicaSet", "web"), { phase: "Failed" }),
      pod("b", { ...ownedBy("ReplicaSet", "web"), deletionTimestamp: "2026-01-01T00:00:00Z" }),
    ],
    pods: ["default/web-0", "default/web-1"],
  },
  {
    name: "except in a StatefulSet, whose terminating pod still has the name",
    objects: [
      workload("StatefulSet", "web", 2),
      pod("web-0", { ...ownedBy("StatefulSet", "web"), deletionTimestamp: "2026-01-01T00:00:00Z" }),
    ],
    pods: ["default/web-1"],
  },
  {
    name: "a Job stands for its parallelism",
    objects: [job("j", { parallelism: 3 })],
    pods: ["default/j-0", "default/j-1", "default/j-2"],
  },
  { name: "and for no more than its completions", objects: [job("j", { parallelism: 3, completions: 1 })], pods: ["default/j-0"] },
  { name: "no pods of a suspended Job", objects: [job("j", { suspend: true })], pods: [] },
  { name: "no pods of a Job that is over", objects: [job("j", {}, { conditions: [{ type: "Complete", status: "True" }] })], pods: [] },
  {
    name: "pods of a Job count also when they have ended",
    objects: [job("j", { parallelism: 2 }), pod("a", ownedBy("Job", "j"), { phase: "Succeeded" })],
    pods: ["default/j-0"],
  },
  {
    name: "a ReplicationController selects with a bare map",
    objects: [
      { ...workload("ReplicationController", "web", 2, {}, { selector: { app: "web" } }), apiVersion: "v1" },
      pod("a", { labels: { app: "web" } }),
    ],
    pods: ["default/web-0"],
  },
  {
    name: "DaemonSets and CronJobs are not expanded",
    objects: [workload("DaemonSet", "web", undefined), { ...job("c", {}), kind: "CronJob" }],
    pods: [],
  },
];

function expand(objects: readonly object[]) {
  return expandWorkloads(
    createObjectSource(
      objects.map((object) => ({ object: object as KubeObject as never, file: "f", locate: () => ({ line: 1, column: 1 }) })),
    ),
  );
}

describe("workloads are expanded", () => {
  test.each(cases)("$name", ({ objects, pods }) => {
    expect(expand(objects).map(({ metadata }) => `${metadata?.namespace}/${metadata?.name}`)).toEqual(pods);
  });

  test("a StatefulSet's pods mount the claims of its templates", () => {
    const [made] = expand([workload("StatefulSet", "db", 1, {}, { volumeClaimTemplates: [{ metadata: { name: "data" } }] })]);
    expect(made?.spec.volumes).toEqual([{ name: "data", persistentVolumeClaim: { claimName: "data-db-0" } }]);
  });
});
