import { describe, expect, test } from "vitest";
import { DEFAULT_GATES, type FeatureGates } from "./feature-gates.ts";
import { type CloudProviderName, readSettings } from "./read-settings.ts";
import { type Settings, settingTable } from "./setting-table.ts";
import { parseFlag } from "./setting-values.ts";

interface Case {
  readonly rule: string;
  readonly flags?: Partial<Settings>;
  readonly env?: Readonly<Record<string, string>>;
  readonly provider?: CloudProviderName;
  readonly settings?: Partial<Settings>;
  readonly gates?: Partial<FeatureGates>;
  readonly messages?: readonly RegExp[];
}

const cases: readonly Case[] = [
  {
    rule: "defaults (scenario 1)",
    flags: { clusterName: "c" },
    settings: {
      metricsPort: 8080,
      healthProbePort: 8081,
      kubeClientQps: 200,
      kubeClientBurst: 300,
      logLevel: "info",
      batchMaxDuration: 10_000,
      batchIdleDuration: 1000,
      preferencePolicy: "Respect",
      minValuesPolicy: "Strict",
      optimize: "default",
      nodeOverheadPrice: 0.005,
    },
    gates: DEFAULT_GATES,
  },
  { rule: "O-1: environment over default", env: { METRICS_PORT: "9000" }, settings: { metricsPort: 9000 } },
  { rule: "O-1: flag over environment", env: { METRICS_PORT: "9000" }, flags: { metricsPort: 9100 }, settings: { metricsPort: 9100 } },
  {
    rule: "O-3: an unreadable variable is ignored",
    env: { KUBE_CLIENT_BURST: "many", BATCH_MAX_DURATION: "soon" },
    settings: { kubeClientBurst: 300, batchMaxDuration: 10_000 },
  },
  { rule: "O-4: presence wins, even if empty", env: { LOG_OUTPUT_PATHS: "" }, settings: { logOutputPaths: "" } },
  { rule: "O-5: booleans of the environment", env: { DISABLE_LEADER_ELECTION: "T" }, settings: { disableLeaderElection: true } },
  { rule: "O-21: CPU requests that make no sense", env: { CPU_REQUESTS: "-50" }, settings: { cpuRequests: 1000 } },
  { rule: "O-21: CPU requests", env: { CPU_REQUESTS: "250" }, settings: { cpuRequests: 250 } },
  { rule: "O-22: no such level", env: { LOG_LEVEL: "warn" }, messages: [/LOG_LEVEL.*"warn"/] },
  { rule: "O-22: empty is info", env: { LOG_LEVEL: "" }, settings: { logLevel: "" } },
  {
    rule: "O-25: durations",
    env: { BATCH_MAX_DURATION: "1m30s", BATCH_IDLE_DURATION: "500ms" },
    settings: { batchMaxDuration: 90_000, batchIdleDuration: 500 },
  },
  { rule: "O-27: case counts", env: { PREFERENCE_POLICY: "respect" }, messages: [/preference-policy: "respect"/] },
  { rule: "O-28", env: { MIN_VALUES_POLICY: "Best" }, messages: [/min-values-policy: "Best"/] },
  { rule: "effort", env: { OPTIMIZE: "max" }, settings: { optimize: "max" } },
  { rule: "no such effort", env: { OPTIMIZE: "hard" }, messages: [/OPTIMIZE.*"hard" is no effort; use off, default or max/] },
  { rule: "price of a node", env: { NODE_OVERHEAD_PRICE: "0.01" }, settings: { nodeOverheadPrice: 0.01 } },
  { rule: "price of a node below 0", flags: { nodeOverheadPrice: -1 }, messages: [/node-overhead-price: must not be below 0, is -1/] },
  {
    rule: "O-54: unknown gates are ignored",
    env: { FEATURE_GATES: "Hello=true,SpotToSpotConsolidation=true" },
    gates: { ...DEFAULT_GATES, SpotToSpotConsolidation: true },
  },
  {
    rule: "O-53: blanks",
    env: { FEATURE_GATES: " SpotToSpotConsolidation\t= false , NodeRepair =true" },
    gates: { ...DEFAULT_GATES, NodeRepair: true },
  },
  { rule: "O-4, O-18: no name", env: { LEADER_ELECTION_NAME: "" }, messages: [/^leader-election-name .* must not be empty/] },
  {
    rule: "O-81: no name where there is no election",
    env: { LEADER_ELECTION_NAME: "", DISABLE_LEADER_ELECTION: "true" },
    gates: DEFAULT_GATES,
  },
  { rule: "O-55: empty is all defaults", env: { FEATURE_GATES: "" }, gates: DEFAULT_GATES },
  { rule: "O-55: no value", env: { FEATURE_GATES: "NodeRepair" }, messages: [/feature-gates: "NodeRepair" has no value/] },
  { rule: "O-55: no boolean", env: { FEATURE_GATES: "NodeRepair=yes" }, messages: [/"yes" of NodeRepair/] },
  ...(Object.keys(DEFAULT_GATES) as (keyof FeatureGates)[]).map((gate) => ({
    rule: `O-56: ${gate} alone`,
    env: { FEATURE_GATES: `${gate}=${!DEFAULT_GATES[gate]}` },
    gates: { ...DEFAULT_GATES, [gate]: !DEFAULT_GATES[gate] },
  })),
  {
    rule: "O-8, O-32, O-33, O-37, O-39, O-42: all violations together (scenario 12)",
    provider: "aws",
    env: { CLUSTER_ENDPOINT: "hello" },
    flags: { reservedEnis: -1, vmMemoryOverheadPercent: -0.1, amiRefreshInterval: 59_000 },
    messages: [
      /^cluster-name: missing field/,
      /^cluster-endpoint: "hello"/,
      /^vm-memory/,
      /^reserved-enis/,
      /^ami-refresh-interval: must be at least 1m, is 59s/,
    ],
  },
  {
    rule: "O-7: core's faults before the provider's",
    provider: "aws",
    env: { LOG_LEVEL: "warn", FEATURE_GATES: "NodeRepair" },
    flags: { reservedEnis: -1 },
    messages: [/^log-level/, /^feature-gates/, /^cluster-name/, /^reserved-enis/],
  },
  ...["/path", "https://"].map((clusterEndpoint) => ({
    rule: `O-33: ${clusterEndpoint}`,
    provider: "aws" as const,
    flags: { clusterName: "c", clusterEndpoint },
    messages: [/^cluster-endpoint/],
  })),
];

describe("settings of the controller", () => {
  test.each(cases)("$rule", ({ flags = {}, env = {}, provider = "kwok", settings, gates, messages }) => {
    const outcome = readSettings(flags, env, provider);
    if (messages !== undefined) {
      expect(outcome).toEqual({ kind: "invalid", messages: messages.map((message) => expect.stringMatching(message)) });
      return;
    }
    expect(outcome).toMatchObject({ kind: "settings", ...(settings && { settings }), ...(gates && { gates }) });
  });

  test("O-3: variables that are ignored are named, unless a flag stands in for them", () => {
    const env = { KUBE_CLIENT_QPS: "x", BATCH_MAX_DURATION: "soon", METRICS_PORT: "9000" };
    expect(readSettings({ clusterName: "c", batchMaxDuration: 5000 }, env, "aws")).toMatchObject({
      kind: "settings",
      ignored: [{ variable: "KUBE_CLIENT_QPS", value: "x", used: 200 }],
    });
  });

  test("O-2: the environment is read once; what changes in it later changes nothing", () => {
    const env: Record<string, string> = { METRICS_PORT: "9000", FEATURE_GATES: "NodeOverlay=true" };
    const outcome = readSettings({}, env, "kwok");
    env.METRICS_PORT = "9100";
    env.FEATURE_GATES = "";
    expect(outcome).toMatchObject({ settings: { metricsPort: 9000 }, gates: { NodeOverlay: true } });
  });

  test("settings without effect are named when they are given", () => {
    const outcome = readSettings({ clusterName: "c" }, { INTERRUPTION_QUEUE: "q" }, "aws");
    expect(outcome).toMatchObject({ kind: "settings", inert: ["interruption-queue"] });
  });
});

test.each([
  { kind: "bool", text: "true", value: true },
  { kind: "bool", text: "T", value: undefined },
  { kind: "int", text: "many", value: undefined },
  { kind: "int", text: "-1", value: -1 },
  { kind: "float", text: "0.5", value: 0.5 },
  { kind: "duration", text: "1h", value: 3_600_000 },
  { kind: "duration", text: "10", value: undefined },
] as const)("a flag of kind $kind: $text", ({ kind, text, value }) => {
  if (value === undefined) expect(() => parseFlag(kind, text)).toThrow(/is not valid; want/);
  else expect(parseFlag(kind, text)).toBe(value);
});

test("flags are unique", () => {
  const flags = Object.values(settingTable).map(({ flag }) => flag);
  expect(new Set(flags).size).toBe(flags.length);
});
