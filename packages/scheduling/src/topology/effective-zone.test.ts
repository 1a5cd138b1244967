import { expect, test } from "vitest";
import type { VolumeClaim } from "../problem.ts";
import { aPod, aPool, aProblem, bound, type PodWish, type ProblemWish, zoneSpread } from "../testing/builders.ts";
import { effectiveZones } from "./effective-zone.ts";

const ZONE = "topology.kubernetes.io/zone";
const labels = { app: "x" };
const labelSelector = { matchLabels: labels };
const inZones = (...values: string[]) => [{ key: ZONE, operator: "In" as const, values }];
const byZone = zoneSpread(labels);
const spread: PodWish = { labels, spec: { topologySpreadConstraints: [byZone] } };
const term = { topologyKey: ZONE, labelSelector };
const near: PodWish = { affinity: { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [term] } } };
const apart: PodWish = { labels, affinity: { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [term] } } };
const mounting: PodWish = { spec: { volumes: [{ name: "c", persistentVolumeClaim: { claimName: "c" } }] } };
const disk = (...alternatives: VolumeClaim["alternatives"]) => new Map([["default/c", { alternatives }]]);
const running = (...zones: string[]) => zones.map((zone, at) => bound({ labels }, { name: `n${at}`, labels: { [ZONE]: zone } }));
const preferring: PodWish = {
  affinity: {
    nodeAffinity: { preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 1, preference: { matchExpressions: inZones("z1") } }] },
  },
};

test.each<{ what: string; pod: PodWish; more?: ProblemWish; zone: string }>([
  { what: "nothing", pod: {}, zone: "flexible" },
  { what: "one zone", pod: { nodeSelector: { [ZONE]: "z1" } }, zone: "z1" },
  { what: "one zone under its old name", pod: { nodeSelector: { "failure-domain.beta.kubernetes.io/zone": "z1" } }, zone: "z1" },
  { what: "several", pod: { terms: [inZones("z1", "z2")] }, zone: "flexible" },
  { what: "all but one", pod: { terms: [[{ key: ZONE, operator: "NotIn", values: ["z1"] }]] }, zone: "flexible" },
  {
    what: "two that exclude each other",
    pod: { spec: { nodeSelector: { [ZONE]: "z1" } }, terms: [[...inZones("z2"), ...inZones("z1")]] },
    zone: "none",
  },
  { what: "a zone that it only prefers", pod: preferring, zone: "flexible" },
  { what: "a volume in z2", pod: mounting, more: { claims: disk(inZones("z2")) }, zone: "z2" },
  { what: "a volume in either of two", pod: mounting, more: { claims: disk(inZones("z1"), inZones("z2")) }, zone: "flexible" },
  { what: "a volume that may be anywhere", pod: mounting, more: { claims: disk(inZones("z1"), []) }, zone: "flexible" },
  {
    what: "a volume in z2 and the zone z1",
    pod: { ...mounting, nodeSelector: { [ZONE]: "z1" } },
    more: { claims: disk(inZones("z2")) },
    zone: "none",
  },
  { what: "a spread over empty zones", pod: spread, zone: "flexible" },
  { what: "a spread that only z3 keeps even", pod: spread, more: { boundPods: running("z1", "z2") }, zone: "z3" },
  {
    what: "such a spread and the zone z1",
    pod: { ...spread, nodeSelector: { [ZONE]: "z1" } },
    more: { boundPods: running("z2") },
    zone: "z1",
  },
  { what: "company that is in z2", pod: near, more: { boundPods: running("z2") }, zone: "z2" },
  { what: "company that is nowhere", pod: near, zone: "none" },
  { what: "a zone without its like", pod: apart, more: { boundPods: running("z1", "z3") }, zone: "z2" },
  { what: "a zone without its like, where all have one", pod: apart, more: { boundPods: running("z1", "z2", "z3") }, zone: "none" },
  {
    what: "company that is in z2, in a zone that no pool has",
    pod: near,
    more: { boundPods: running("z2"), pools: [aPool({ requirements: [...inZones("z1")] })] },
    zone: "z2",
  },
])("S-193: a pod that wants $what: $zone", ({ pod, more = {}, zone }) => {
  const waiting = aPod(pod);
  const problem = aProblem({ ...more, pods: [waiting], options: { preferencePolicy: "Respect" } });
  expect(effectiveZones(problem)(waiting.shape)).toBe(zone);
});
