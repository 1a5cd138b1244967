/** From the arguments of `joinery explain` to its output. */
import { stringify } from "yaml";
import type { ExplainFlags } from "../commands/explain.ts";
import { faultyClaims, inputHints } from "../plan/input-hints.ts";
import { namedPools, type Question, readQuestion } from "../plan/make-plan.ts";
import { readRequest } from "../plan/run-plan.ts";
import type { Surroundings } from "../surroundings.ts";
import { type Explanation, explainNode, explainPods } from "./explanation.ts";
import { renderExplanation } from "./render-explanation.ts";

export interface ExplainArguments {
  readonly subject: "pod" | "node";
  readonly name: string;
  readonly sources: readonly string[];
}

/** Throws `CommandError` on bad input, and where the input has no such subject. */
export async function runExplain(
  { subject, name, sources }: ExplainArguments,
  flags: ExplainFlags,
  surroundings: Surroundings,
): Promise<void> {
  const { request } = await readRequest(sources, flags, surroundings);
  const question = await readQuestion(request);
  const explained = subject === "pod" ? explainPods(name, question) : explainNode(name, question);
  const hints = hintsFor(explained, question);
  surroundings.out.write(render({ ...explained, ...(hints.length > 0 && { hints }) }, flags.output, surroundings));
}

function hintsFor({ reasons, funnel }: Explanation, { problem, source, objects, catalogue }: Question): readonly string[] {
  const empty = new Set(
    funnel.filter(({ stages: [first] }) => first?.stage === "node-pool" && first.out === 0).map(({ nodePool }) => nodePool),
  );
  return inputHints({
    faultyClaims: faultyClaims(reasons),
    emptyPools: namedPools(problem, empty),
    usedPools: namedPools(problem, new Set(funnel.map(({ nodePool }) => nodePool))),
    source,
    objects: objects.of,
    catalogue,
  });
}

function render(explanation: Explanation, output: ExplainFlags["output"], { out }: Surroundings): string {
  switch (output) {
    case "json":
      return `${JSON.stringify(explanation, undefined, 2)}\n`;
    case "yaml":
      return stringify(explanation, { aliasDuplicateObjects: false, lineWidth: 0 });
    case "text":
      return renderExplanation(explanation, out);
  }
}
