/** From the arguments of `joinery lint` to its output. */
import { createRealClock, createSystemRandom } from "@joinery/kube";
import { nearWord } from "@joinery/scheduling";
import { version } from "../build-info.ts";
import type { LintFlags } from "../commands/lint.ts";
import { CommandError, exitStatus } from "../exit-status.ts";
import { readInput } from "../live/read-input.ts";
import { readBuiltInCatalogue, readCatalogueFile } from "../plan/catalogue.ts";
import { gatesOf } from "../plan/run-plan.ts";
import { readSchedulerConfig } from "../scheduler-config/read-scheduler-config.ts";
import type { Surroundings } from "../surroundings.ts";
import type { Finding, Severity } from "./finding.ts";
import { lint } from "./lint.ts";
import { renderText } from "./render-text.ts";
import type { Rule } from "./rule.ts";
import { RULES } from "./rules.ts";
import { toSarif } from "./sarif.ts";

const GRAVITY: Readonly<Record<Severity, number>> = { note: 0, warning: 1, error: 2 };

/** True when there is no error among the findings. Throws `CommandError` on bad input, before anything is looked at. */
export async function runLint(names: readonly string[], flags: LintFlags, surroundings: Surroundings): Promise<boolean> {
  const rules = rulesWithout(flags.skip);
  const gates = gatesOf(flags.featureGates, surroundings.err);
  const defaultSpread = await readSchedulerConfig(flags.schedulerConfig);
  const clock = createRealClock();
  const wants = { lint: true, overlays: gates.NodeOverlay, buffers: gates.CapacityBuffer, defaultSpread: defaultSpread.length > 0 };
  const { loaded } = await readInput(names, flags, { wants, clock }, surroundings);
  const catalogue = await (flags.catalog === undefined ? readBuiltInCatalogue(flags.region) : readCatalogueFile(flags.catalog));
  const request = {
    loaded,
    catalogue,
    clock,
    random: createSystemRandom(),
    defaultSpread,
    hasOverlays: gates.NodeOverlay,
  };
  const all = await lint(request, rules);
  const findings = all.filter(({ severity }) => GRAVITY[severity] >= GRAVITY[flags.severity]);
  surroundings.out.write(render(findings, flags.output, surroundings));
  return !findings.some(({ severity }) => severity === "error");
}

function rulesWithout(skipped: readonly string[]): readonly Rule[] {
  const names = RULES.map(({ name }) => name);
  const unknown = skipped.find((name) => !names.includes(name));
  if (unknown === undefined) return RULES.filter(({ name }) => !skipped.includes(name));
  const intended = nearWord(unknown, names);
  const hint = intended === undefined ? `the rules are ${names.join(", ")}` : `did you mean ${intended}?`;
  throw new CommandError(`there is no rule "${unknown}"; ${hint}`, exitStatus.badInput);
}

function render(findings: readonly Finding[], output: LintFlags["output"], { out }: Surroundings): string {
  switch (output) {
    case "json":
      return `${JSON.stringify({ apiVersion: "joinery.dev/v1", kind: "LintReport", findings }, undefined, 2)}\n`;
    case "sarif":
      return `${JSON.stringify(toSarif(findings, RULES, version), undefined, 2)}\n`;
    case "text":
      return renderText(findings, out);
  }
}
