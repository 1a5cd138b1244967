import { expect, test } from "vitest";
import { again, asleep, type Step, soonest } from "./step.ts";

const stuck: Step = { kind: "stuck", reason: { kind: "x", message: "x" } };

test.each<{ what: string; steps: readonly Step[]; winner: Step }>([
  { what: "nothing to wait for", steps: [], winner: asleep },
  { what: "the sooner of two", steps: [again(5000), again(1000), again(3000)], winner: again(1000) },
  { what: "at once before all", steps: [again(1000), again(0)], winner: again(0) },
  { what: "a wake-up before sleep", steps: [asleep, again(9000)], winner: again(9000) },
  { what: "a wake-up before being stuck", steps: [stuck, again(9000)], winner: again(9000) },
  { what: "being stuck before sleep", steps: [asleep, stuck], winner: stuck },
])("L-16: $what", ({ steps, winner }) => {
  expect(soonest(steps)).toEqual(winner);
});

test("a wake-up that is overdue is due at once", () => {
  expect(again(-5)).toEqual(again(0));
});
