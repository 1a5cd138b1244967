import { expect, test } from "vitest";
import { nodeClaimName } from "./node-claim-name.ts";

const free = () => false;

test("S-9: two replicas that plan for the same pods arrive at the same name, whatever the order", () => {
  expect(nodeClaimName("default", ["b", "a"], free)).toBe(nodeClaimName("default", ["a", "b"], free));
  expect(nodeClaimName("default", ["a"], free)).toMatch(/^default-[bcdfghjklmnpqrstvwxz2456789]{5}$/);
});

test("S-9: a node that is wanted again for the same pods gets another name", () => {
  const first = nodeClaimName("default", ["a"], free);
  expect(nodeClaimName("default", ["a"], (name) => name === first)).not.toBe(first);
});

test("S-179: long pool names are cut as the API server cuts them", () => {
  expect(nodeClaimName("p".repeat(63), ["a"], free)).toHaveLength(63);
});
