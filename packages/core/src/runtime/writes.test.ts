import { type KubeObject, NodeClaims } from "@joinery/api";
import { ApiError, type KubeClient } from "@joinery/kube";
import { expect, test } from "vitest";
import type { Caches } from "../state/caches.ts";
import { createWrites } from "./writes.ts";

const claim = { metadata: { name: "a", uid: "1" }, spec: { nodeClassRef: { group: "g", kind: "k", name: "n" }, requirements: [] } };
const leaving = { ...claim, metadata: { ...claim.metadata, deletionTimestamp: "2026-01-01T00:00:00Z", finalizers: ["x"] } };

test.each([
  { what: "is held by a finalizer", answer: async () => leaving, isDeleted: true, noted: [leaving] },
  { what: "is gone with it", answer: async () => undefined, isDeleted: true, noted: [] },
  {
    what: "was gone before",
    answer: async () => Promise.reject(new ApiError({ status: 404, reason: "NotFound", message: "not found" })),
    isDeleted: false,
    noted: [],
  },
])("L-17, L-86: a NodeClaim that is deleted and $what", async ({ answer, isDeleted, noted }) => {
  const seen: KubeObject[] = [];
  const asked: unknown[] = [];
  const kube = {
    delete: (kind: unknown, key: unknown, options: unknown) => {
      asked.push([kind, key, options]);
      return answer();
    },
  };
  const caches = { nodeClaims: { noteWritten: (object: KubeObject) => void seen.push(object) } };
  const writes = createWrites(kube as unknown as KubeClient, caches as unknown as Caches);
  expect(await writes.deleteNodeClaim(claim)).toBe(isDeleted);
  expect(seen).toEqual(noted);
  expect(asked).toEqual([[NodeClaims, { name: "a" }, { uid: "1" }]]);
});
