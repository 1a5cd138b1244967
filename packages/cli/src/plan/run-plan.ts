/** From the arguments of `joinery plan` to its output. */
import { createRealClock, createSystemRandom } from "@joinery/kube";
import { improvementOf, nearWord } from "@joinery/scheduling";
import { stringify } from "yaml";
import type { PlanFlags, PlanningFlags } from "../commands/plan.ts";
import { DEFAULT_GATES, type FeatureGates, parseFeatureGates } from "../controller/feature-gates.ts";
import { CommandError, exitStatus } from "../exit-status.ts";
import { readInput } from "../live/read-input.ts";
import { readSchedulerConfig } from "../scheduler-config/read-scheduler-config.ts";
import type { Surroundings } from "../surroundings.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { type Catalogue, readBuiltInCatalogue, readCatalogueFile } from "./catalogue.ts";
import { type IgnoredObjects, ignoredObjects } from "./ignored-objects.ts";
import { makePlan, type PlanRequest, type PlanResult } from "./make-plan.ts";
import { planSummary } from "./plan-summary.ts";
import { renderPlan } from "./render-plan.ts";

/** True when every pod has a place. Throws `CommandError` on bad input, before anything is planned. */
export async function runPlan(names: readonly string[], flags: PlanFlags, surroundings: Surroundings): Promise<boolean> {
  const { request, ignored, notes } = await readRequest(names, flags, surroundings);
  const result = await makePlan(request);
  surroundings.out.write(render(result, flags.output, { catalogue: request.catalogue, ignored, notes, surroundings }));
  return result.document.unschedulable.length === 0;
}

/** The arguments read, for `plan` and for `explain`. */
export async function readRequest(
  names: readonly string[],
  flags: PlanningFlags,
  surroundings: Surroundings,
): Promise<{ readonly request: PlanRequest; readonly ignored: readonly IgnoredObjects[]; readonly notes: readonly string[] }> {
  const gates = gatesOf(flags.featureGates, surroundings.err);
  const defaultSpread = await readSchedulerConfig(flags.schedulerConfig);
  const clock = createRealClock();
  const wants = { lint: false, overlays: gates.NodeOverlay, buffers: gates.CapacityBuffer, defaultSpread: defaultSpread.length > 0 };
  const { loaded, notes } = await readInput(names, flags, { wants, clock }, surroundings);
  const catalogue = await (flags.catalog === undefined ? readBuiltInCatalogue(flags.region) : readCatalogueFile(flags.catalog));
  const { preferencePolicy, minValuesPolicy, optimize, nodeOverheadPrice } = flags;
  const request: PlanRequest = {
    loaded,
    catalogue,
    clock,
    random: createSystemRandom(),
    preferencePolicy,
    minValuesPolicy,
    reservedCapacity: gates.ReservedCapacity ? "strict" : "ignored",
    defaultSpread,
    hasOverlays: gates.NodeOverlay,
    hasBuffers: gates.CapacityBuffer,
    improvement: improvementOf(optimize, nodeOverheadPrice),
  };
  return { request, ignored: ignoredObjects(loaded, gates), notes };
}

/** A gate that is misspelt would change the answer unseen; any other name that is not known is ignored as the controller does (O-54), and said. */
export function gatesOf(text: string, err: Terminal): FeatureGates {
  const outcome = parseFeatureGates(text);
  if (outcome.kind === "invalid") throw new CommandError(`feature-gates: ${outcome.message}`, exitStatus.badInput);
  const known = Object.keys(DEFAULT_GATES);
  for (const name of outcome.unknown) {
    const meant = known.find((one) => one.toLowerCase() === name.toLowerCase()) ?? nearWord(name, known);
    if (meant !== undefined)
      throw new CommandError(`feature-gates: there is no gate "${name}"; did you mean ${meant}?`, exitStatus.badInput);
    err.write(
      `${err.style("yellow", "warning:")} feature-gates: there is no gate "${name}", so it is ignored; the gates are ${known.join(", ")}\n`,
    );
  }
  return outcome.gates;
}

interface RenderContext {
  readonly catalogue: Catalogue;
  readonly ignored: readonly IgnoredObjects[];
  readonly notes: readonly string[];
  readonly surroundings: Surroundings;
}

function render(result: PlanResult, output: PlanFlags["output"], { catalogue, ignored, notes, surroundings }: RenderContext): string {
  const summary = planSummary({ result, catalogue, ignored, notes });
  const document = { ...result.document, ...(Object.keys(summary).length > 0 && { summary }) };
  switch (output) {
    case "json":
      return `${JSON.stringify(document, undefined, 2)}\n`;
    case "yaml":
      return stringify(document, { aliasDuplicateObjects: false, lineWidth: 0 });
    case "table":
      return renderPlan({ result, summary, catalogue, terminal: surroundings.out });
  }
}
