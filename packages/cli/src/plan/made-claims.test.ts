import type { KubeObject } from "@joinery/api";
import { expect, test } from "vitest";
import type { RawObject } from "../manifests/manifest.ts";
import { createObjectSource } from "./input.ts";
import { claimsFor } from "./made-claims.ts";

const BOUND = { "pv.kubernetes.io/bind-completed": "yes" };

const sourceOf = (...objects: readonly object[]) =>
  createObjectSource(objects.map((object) => ({ object: object as RawObject, file: "f", locate: () => undefined })));
const claim = (spec: object, metadata: object = {}, rest: object = {}) => ({
  apiVersion: "v1",
  kind: "PersistentVolumeClaim",
  metadata: { name: "data", ...metadata },
  spec,
  ...rest,
});
const annotationsOf = (object: KubeObject | undefined) => object?.metadata?.annotations;

test.each([
  { name: "it names its volume", object: claim({ volumeName: "pv" }), annotations: BOUND },
  { name: "it names none", object: claim({}), annotations: undefined },
  { name: "the name is empty", object: claim({ volumeName: "" }), annotations: undefined },
  {
    name: "its own annotations stay",
    object: claim({ volumeName: "pv" }, { annotations: { team: "a" } }),
    annotations: { team: "a", ...BOUND },
  },
  { name: "a server says that it is not bound yet", object: claim({ volumeName: "pv" }, { resourceVersion: "7" }), annotations: undefined },
  { name: "its status says so", object: claim({ volumeName: "pv" }, {}, { status: { phase: "Pending" } }), annotations: undefined },
])("S-23: whether a claim of manifests counts as bound: $name", ({ object, annotations }) => {
  expect(annotationsOf(claimsFor([], sourceOf(object))[0])).toEqual(annotations);
});

const standard = { apiVersion: "storage.k8s.io/v1", kind: "StorageClass", metadata: { name: "standard" }, provisioner: "p" };
const asDefault = (name: string) => ({
  ...standard,
  metadata: { name, annotations: { "storageclass.kubernetes.io/is-default-class": "true" } },
});

test.each([
  { name: "none is the default", objects: [standard, claim({})], className: undefined },
  { name: "of two defaults the first by name", objects: [asDefault("b"), asDefault("a"), claim({})], className: "a" },
  { name: "the claim names one", objects: [asDefault("a"), claim({ storageClassName: "b" })], className: "b" },
  { name: "the claim wants none", objects: [asDefault("a"), claim({ storageClassName: "" })], className: "" },
  { name: "the claim names its volume", objects: [asDefault("a"), claim({ volumeName: "pv" })], className: undefined },
])("S-22: the default class that admission writes into a claim: $name", ({ objects, className }) => {
  expect(claimsFor([], sourceOf(...objects))[0]?.spec.storageClassName).toBe(className);
});

const podOf = (name: string, volume: object, metadata: object = {}) => ({
  metadata: { name, namespace: "default", ...metadata },
  spec: { containers: [], volumes: [{ name: "data", ...volume }] },
});
const set = {
  apiVersion: "apps/v1",
  kind: "StatefulSet",
  metadata: { name: "db" },
  spec: { volumeClaimTemplates: [{ metadata: { name: "data" }, spec: { storageClassName: "gp3" } }] },
};
const OWNED = { ownerReferences: [{ apiVersion: "apps/v1", kind: "StatefulSet", name: "db", uid: "u" }] };

test.each([
  {
    name: "from the claim template of its StatefulSet",
    pod: podOf("db-0", { persistentVolumeClaim: { claimName: "data-db-0" } }, OWNED),
    made: ["data-db-0"],
  },
  {
    name: "from an ephemeral volume",
    pod: podOf("web", { ephemeral: { volumeClaimTemplate: { spec: { storageClassName: "gp3" } } } }),
    made: ["web-data"],
  },
  { name: "not where nobody would make it", pod: podOf("web", { persistentVolumeClaim: { claimName: "elsewhere" } }), made: [] },
])("S-22, S-126: a claim that the input lacks is made $name", ({ pod, made }) => {
  const claims = claimsFor([pod as unknown as Parameters<typeof claimsFor>[0][number]], sourceOf(set));
  expect(claims.map(({ metadata, spec }) => [metadata?.name, spec.storageClassName])).toEqual(made.map((name) => [name, "gp3"]));
});
