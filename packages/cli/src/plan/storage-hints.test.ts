import type { KubeObject } from "@joinery/api";
import { expect, test } from "vitest";
import type { ObjectsOf } from "./file-kube-client.ts";
import { storageHints } from "./storage-hints.ts";

type Named = KubeObject & { readonly kind: string };

const named = (kind: string, name: string, spec?: object, namespace = "shop"): Named =>
  ({ kind, metadata: { name, namespace }, ...(spec && { spec }) }) as Named;
const classOf = (name: string) => named("StorageClass", name);
const volumeOf = (name: string) => named("PersistentVolume", name);
const claimOf = (name: string, spec: object, namespace?: string) => named("PersistentVolumeClaim", name, spec, namespace);
const hintsOf = (objects: readonly Named[], ...faulty: readonly string[]) => {
  const of = ((kind: { readonly kind: string }) => objects.filter((object) => object.kind === kind.kind)) as unknown as ObjectsOf;
  return storageHints(new Set(faulty), of);
};
const CLAIM = claimOf("other", { storageClassName: "gp3" });

test("whole kinds that the input lacks are named, with what to add", () => {
  expect(hintsOf([], "shop/a")).toEqual([
    "The input has no PersistentVolumeClaim, no PersistentVolume, no StorageClass; what the volumes of pods need may only be missing here: add kubectl get pvc,pv,sc -A -o json",
  ]);
  expect(hintsOf([])).toEqual([]);
});

test.each([
  {
    name: "S-24: a class that is nearly one that is there, of several claims",
    objects: [classOf("gp3"), claimOf("a", { storageClassName: "gp-3" }), claimOf("b", { storageClassName: "gp-3" })],
    says: "StorageClass gp-3 is not in the input; did you mean gp3? (shop/a and shop/b)",
  },
  {
    name: "S-24: a class that is like none",
    objects: [classOf("gp3"), classOf("efs"), claimOf("a", { storageClassName: "fast-ssd" })],
    says: "StorageClass fast-ssd is not in the input, which has efs and gp3; name one that is there, or add it to the files (shop/a)",
  },
  {
    name: "S-24: no class is named, and none is the default",
    objects: [classOf("gp3"), claimOf("a", {})],
    says: 'Claims name no StorageClass and none of the input is the default; write storageClassName: gp3, or mark one with storageclass.kubernetes.io/is-default-class: "true" (shop/a)',
  },
  {
    name: "S-22: a claim that is nearly one that is there",
    objects: [classOf("gp3"), CLAIM],
    faulty: "shop/otherr",
    says: "PersistentVolumeClaim otherr is not in the input; did you mean other? (shop/otherr)",
  },
  {
    name: "S-22: a claim of another namespace",
    objects: [classOf("gp3"), CLAIM],
    faulty: "web/other",
    says: "PersistentVolumeClaim other is in namespace shop, and a pod can only use claims of its own (web/other)",
  },
  {
    name: "S-23: a volume that is not there",
    objects: [classOf("gp3"), volumeOf("pv-1"), claimOf("a", { volumeName: "pv-2" })],
    says: "PersistentVolume pv-2 is not in the input; did you mean pv-1? (shop/a)",
  },
])("$name", ({ objects, faulty, says }) => {
  const all = [volumeOf("unused"), CLAIM, ...objects.filter((object) => object !== CLAIM)];
  const keys =
    faulty === undefined
      ? objects.filter(({ kind }) => kind === "PersistentVolumeClaim").map(({ metadata }) => `shop/${metadata?.name}`)
      : [faulty];
  expect(hintsOf(all, ...keys)).toEqual([says]);
});

test("what is in order is not remarked on", () => {
  expect(hintsOf([volumeOf("pv"), classOf("gp3"), CLAIM, claimOf("a", { volumeName: "pv" })], "shop/other", "shop/a")).toEqual([]);
});
