import { expect, test } from "vitest";
import type { Finding } from "./finding.ts";
import { renderText } from "./render-text.ts";

const finding: Finding = {
  rule: "budget-blocks",
  severity: "warning",
  file: "pool.yaml",
  line: 3,
  column: 5,
  object: "NodePool/default",
  path: "spec.disruption.budgets[0].nodes",
  message: "what happens",
  instead: "what to write",
};

test("says place, gravity, rule and object, what happens, and what to write", () => {
  expect(renderText([finding], { style: (_, text) => text })).toBe(`pool.yaml
  3:5 warning [budget-blocks] NodePool/default: spec.disruption.budgets[0].nodes
      what happens
      instead: what to write

0 errors, 1 warning, 0 notes in 1 file
`);
});

test("colours by the terminal's own means only, so that pipes get none", () => {
  const marked = renderText([finding], { style: (style, text) => `<${style}>${text}</>` });
  expect(marked).toContain("<bold>pool.yaml</>");
  expect(marked).toContain("<yellow>warning</> <dim>[budget-blocks]</>");
});
