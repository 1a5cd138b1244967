import type { Taint } from "@joinery/api";
import { expect, test } from "vitest";
import { taintText } from "./taints.ts";

const taint: Taint = { key: "k", value: "950", effect: "NoSchedule" };

test("S-114: how a taint is written", () => {
  expect(taintText(taint)).toBe("k=950:NoSchedule");
  expect(taintText({ key: "k", effect: "NoExecute" })).toBe("k:NoExecute");
});
