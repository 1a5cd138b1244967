import type { NodeClaim } from "@joinery/api";
import { expect, test } from "vitest";
import { censusOf, createNodeSlots } from "./node-slots.ts";

test.each([
  { what: "one after the other", held: 0, wants: [3, 2, 1], grants: [3, 2, 0] },
  { what: "beside one that exists", held: 1, wants: [4, 1], grants: [4, 0] },
  { what: "ten at once", held: 0, wants: Array(10).fill(1), grants: [1, 1, 1, 1, 1, 0, 0, 0, 0, 0] },
  { what: "more than the limit", held: 0, wants: [9], grants: [5] },
  { what: "over the limit already", held: 7, wants: [1], grants: [0] },
])("L-60: a limit of five, $what", ({ held, wants, grants }) => {
  const slots = createNodeSlots();
  expect(wants.map((wanted) => slots.reserve("a", { limit: 5, held, wanted }))).toEqual(grants);
  expect(slots.reserve("b", { limit: 5, held: 0, wanted: 1 })).toBe(1);
});

test("L-61, V-48: what is given back can be had again; what nobody holds cannot be given back", () => {
  const slots = createNodeSlots();
  slots.release("a", 3);
  expect(slots.reserve("a", { limit: 2, held: 0, wanted: 2 })).toBe(2);
  slots.release("a", 1);
  expect(slots.reserve("a", { limit: 2, held: 0, wanted: 2 })).toBe(1);
  slots.release("a", 9);
  expect(slots.reserve("a", { limit: Number.POSITIVE_INFINITY, held: 0, wanted: 99 })).toBe(99);
});

test("L-57, L-59: what is marked or going counts as going, launched or not; what is gone or of another pool not at all", () => {
  const claim = (name: string, wish: Partial<NodeClaim["metadata"]> = {}, providerID?: string): NodeClaim => ({
    metadata: { name, ...wish },
    spec: { nodeClassRef: { group: "g", kind: "k", name: "n" }, requirements: [] },
    ...(providerID && { status: { providerID } }),
  });
  const leaving = { deletionTimestamp: "2026-01-01T00:00:00Z" };
  const held = [
    claim("new"),
    claim("there", {}, "p1"),
    claim("marked", {}, "p2"),
    claim("going", leaving, "p3"),
    claim("given-up", leaving),
  ];
  const caches = { nodeClaims: { by: (_: string, pool: string) => (pool === "fixed" ? held : []) } };
  const cluster = { find: (key: string) => (key === "" ? undefined : { key }), isMarked: ({ key }: { key: string }) => key === "p2" };
  const names = (pool: string) => {
    const { active, deleting } = censusOf(pool, caches as never, cluster);
    return [active, deleting].map((claims) => claims.map(({ metadata }) => metadata?.name));
  };
  expect(names("fixed")).toEqual([
    ["new", "there"],
    ["marked", "going", "given-up"],
  ]);
  expect(names("other")).toEqual([[], []]);
});
