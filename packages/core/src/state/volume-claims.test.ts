import type { KubeObject, PersistentVolume, PersistentVolumeClaim, StorageClass } from "@joinery/api";
import { expect, test } from "vitest";
import type { Caches } from "./caches.ts";
import type { PodRecord } from "./pod-record.ts";
import { volumeClaims, volumeFaults, volumeLimits } from "./volume-claims.ts";

type World = Parameters<typeof volumeFaults>[1];

const named = <T extends KubeObject>(objects: readonly T[]) =>
  ({
    find: (key: string) => objects.find(({ metadata }) => key === [metadata?.namespace, metadata?.name].filter(Boolean).join("/")),
  }) as Caches[keyof Caches];

function world(wish: {
  claim?: Partial<PersistentVolumeClaim["spec"]> & { phase?: "Lost"; bound?: boolean; deleting?: boolean };
  volume?: PersistentVolume;
  storageClass?: StorageClass;
}): World {
  const { phase, bound, deleting, ...spec } = wish.claim ?? {};
  const claim: PersistentVolumeClaim = {
    metadata: {
      name: "c",
      namespace: "default",
      ...(bound && { annotations: { "pv.kubernetes.io/bind-completed": "" } }),
      ...(deleting && { deletionTimestamp: "2026-01-01T00:00:00Z" }),
    },
    spec,
    ...(phase && { status: { phase } }),
  };
  const csiNode = {
    metadata: { name: "n" },
    spec: { drivers: [{ name: "d1", allocatable: { count: 3 } }, { name: "d2" }, { name: "d3", allocatable: {} }] },
  };
  return {
    claims: named(wish.claim === undefined ? [] : [claim]),
    volumes: named(wish.volume === undefined ? [] : [wish.volume]),
    storageClasses: named(wish.storageClass === undefined ? [] : [wish.storageClass]),
    csiNodes: named([csiNode]),
  } as World;
}

const shape = { namespace: "default", labels: {}, requests: {}, tolerations: [], claimNames: ["c"] };
const late: StorageClass = { metadata: { name: "late" }, provisioner: "ebs.csi.aws.com", volumeBindingMode: "WaitForFirstConsumer" };
const disk = (spec: PersistentVolume["spec"]): PersistentVolume => ({ metadata: { name: "v" }, spec });

test.each<{ rule: string; wish: Parameters<typeof world>[0]; fault: string | undefined }>([
  { rule: "T4 S-22 absent", wish: {}, fault: "persistentvolumeclaim default/c does not exist" },
  { rule: "T6 S-22 deleting", wish: { claim: { deleting: true } }, fault: "persistentvolumeclaim default/c is being deleted" },
  { rule: "T6 S-22 lost", wish: { claim: { phase: "Lost" } }, fault: "persistentvolumeclaim default/c has lost its volume" },
  { rule: "T5 S-23 bound, class missing", wish: { claim: { volumeName: "v", bound: true }, volume: disk({}) }, fault: undefined },
  {
    rule: "T5 S-23 not bound completely",
    wish: { claim: { volumeName: "v" }, volume: disk({}) },
    fault: "persistentvolumeclaim default/c is not bound to its volume yet",
  },
  {
    rule: "S-23 volume missing",
    wish: { claim: { volumeName: "v", bound: true } },
    fault: "persistentvolume v of persistentvolumeclaim default/c does not exist",
  },
  {
    rule: "T6 S-24 class empty",
    wish: { claim: { storageClassName: "" } },
    fault: "unbound persistentvolumeclaim default/c must name a storage class",
  },
  {
    rule: "T6 S-24 class missing",
    wish: { claim: { storageClassName: "late" } },
    fault: "storageclass late of persistentvolumeclaim default/c does not exist",
  },
  {
    rule: "T6 S-24 Immediate",
    wish: { claim: { storageClassName: "late" }, storageClass: { ...late, volumeBindingMode: "Immediate" } },
    fault: "persistentvolumeclaim default/c waits for its storage class to bind it",
  },
  { rule: "S-24 waits for the pod", wish: { claim: { storageClassName: "late" }, storageClass: late }, fault: undefined },
])("$rule", ({ wish, fault }) => {
  const expected = fault === undefined ? [] : [{ kind: "invalid-volume", claim: "default/c", message: fault }];
  expect(volumeFaults(shape, world(wish))).toEqual(expected);
});

const zone = { key: "topology.kubernetes.io/zone", operator: "In", values: ["z1"] } as const;
const host = { key: "kubernetes.io/hostname", operator: "In", values: ["h"] } as const;
const affinity = (...terms: (readonly (typeof zone | typeof host)[])[]) => ({
  required: { nodeSelectorTerms: terms.map((matchExpressions) => ({ matchExpressions })) },
});

test.each([
  { rule: "S-126 CSI volume", spec: { csi: { driver: "d" } }, claim: { alternatives: [], driver: "d" } },
  { rule: "S-126 in-tree volume", spec: { awsElasticBlockStore: {} }, claim: { alternatives: [], driver: "ebs.csi.aws.com" } },
  { rule: "S-126 other source", spec: { nfs: {} }, claim: { alternatives: [] } },
  { rule: "T34 S-123 local", spec: { local: {}, nodeAffinity: affinity([host], [zone]) }, claim: { alternatives: [[], [zone]] } },
  { rule: "T34 S-123 CSI", spec: { csi: { driver: "d" }, nodeAffinity: affinity([host]) }, claim: { alternatives: [[host]], driver: "d" } },
  { rule: "S-122 empty terms", spec: { nodeAffinity: affinity([]) }, claim: { alternatives: [] } },
])("$rule", ({ spec, claim }) => {
  const caches = world({ claim: { volumeName: "v", bound: true }, volume: disk(spec) });
  expect(volumeClaims([{ shape } as unknown as PodRecord], [], caches).get("default/c")).toEqual(claim);
});

test("S-122, S-126: a class's topologies, and the CSI name of an in-tree provisioner", () => {
  const storageClass: StorageClass = {
    ...late,
    provisioner: "kubernetes.io/gce-pd",
    allowedTopologies: [{ matchLabelExpressions: [{ key: zone.key, values: ["z1"] }] }, {}],
  };
  const found = volumeClaims([{ shape } as unknown as PodRecord], [], world({ claim: { storageClassName: "late" }, storageClass }));
  expect(found.get("default/c")).toEqual({ alternatives: [[zone]], driver: "pd.csi.storage.gke.io" });
});

test("S-127, V-73: without a count a driver has no limit", () => {
  const { POSITIVE_INFINITY } = Number;
  expect(volumeLimits("n", world({}))).toEqual({ d1: 3, d2: POSITIVE_INFINITY, d3: POSITIVE_INFINITY });
  expect(volumeLimits("other", world({}))).toBeUndefined();
});
