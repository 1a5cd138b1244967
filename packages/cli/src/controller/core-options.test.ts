import { DEFAULT_OPTIONS } from "@joinery/core";
import { describe, expect, test } from "vitest";
import { coreOptions } from "./core-options.ts";
import { DEFAULT_GATES, type FeatureGates, parseFeatureGates } from "./feature-gates.ts";
import { GATES_WITHOUT_EFFECT } from "./gate-effects.ts";
import { type ReadSettings, readSettings } from "./read-settings.ts";

function read(env: Readonly<Record<string, string>> = {}): ReadSettings {
  const outcome = readSettings({}, env, "kwok");
  if (outcome.kind === "invalid") throw new Error(outcome.messages.join());
  return outcome;
}

describe("feature gates", () => {
  const { settings, gates } = read();
  const plain = coreOptions(settings, gates);

  test("what nobody sets is as core has it", () => {
    expect({ ...DEFAULT_OPTIONS, ...plain }).toEqual(DEFAULT_OPTIONS);
  });

  test.each([
    { rule: "O-47", gate: "ReservedCapacity", stands: true, option: "isReservedCapacityOn" },
    { rule: "O-48", gate: "NodeOverlay", stands: false, option: "isNodeOverlayOn" },
    { rule: "O-49", gate: "StaticCapacity", stands: false, option: "isStaticCapacityOn" },
    { rule: "O-50", gate: "CapacityBuffer", stands: false, option: "isCapacityBufferOn" },
    { rule: "V-2", gate: "PodDeletionCostManagement", stands: false, option: "isPodDeletionCostManaged" },
  ] as const)("$rule: $gate is $stands unless said otherwise, and turns $option alone", ({ gate, stands, option }) => {
    expect(DEFAULT_GATES[gate]).toBe(stands);
    const turned: FeatureGates = { ...gates, [gate]: !stands };
    expect(coreOptions(settings, turned)).toEqual({ ...plain, [option]: !stands });
  });

  test("each gate either turns an option or is told to do nothing", () => {
    for (const gate of Object.keys(DEFAULT_GATES) as (keyof FeatureGates)[]) {
      const isTaken = JSON.stringify(coreOptions(settings, { ...gates, [gate]: !gates[gate] })) !== JSON.stringify(plain);
      expect(isTaken, gate).toBe(!GATES_WITHOUT_EFFECT.includes(gate));
    }
  });

  test.each(["Drift=false", "Drift=true", " Drift = 0 "])("O-52: %s is no gate any more, and nobody is told off for it", (text) => {
    expect(parseFeatureGates(text)).toEqual({ kind: "gates", gates: DEFAULT_GATES, unknown: [] });
  });
});

test.each([
  { rule: "O-21", env: { CPU_REQUESTS: "250" }, options: { cpuRequestsMillicores: 250 } },
  { rule: "O-21", env: { CPU_REQUESTS: "0" }, options: { cpuRequestsMillicores: 1000 } },
  { rule: "O-25, O-26", env: { BATCH_MAX_DURATION: "20s", BATCH_IDLE_DURATION: "2s" }, options: { batchMaxMs: 20_000, batchIdleMs: 2000 } },
  {
    rule: "O-27, O-28",
    env: { PREFERENCE_POLICY: "Ignore", MIN_VALUES_POLICY: "BestEffort" },
    options: { preferencePolicy: "Ignore", minValuesPolicy: "BestEffort" },
  },
  { rule: "O-29", env: { IGNORE_DRA_REQUESTS: "false" }, options: { isDraIgnored: false } },
  { rule: "O-17", env: { DISABLE_CLUSTER_STATE_OBSERVABILITY: "true" }, options: { isClusterStateObservabilityDisabled: true } },
])("$rule: $env reaches core", ({ env, options }) => {
  const { settings, gates } = read(env as unknown as Record<string, string>);
  expect(coreOptions(settings, gates)).toMatchObject(options);
});
