/** docs/operations.md says what the code does: every flag, gate, metric, event and line of the log, no more and no less. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { AWS_VOCABULARY, Ec2NodeClasses } from "@joinery/api";
import { createAwsMetrics } from "@joinery/aws";
import { createController, createMetricsRegistry } from "@joinery/core";
import { createRandom, createVirtualClock, type Transport } from "@joinery/kube";
import { Command } from "commander";
import { describe, expect, test } from "vitest";
import { addControllerCommand } from "../commands/controller.ts";
import type { Surroundings } from "../surroundings.ts";
import { DEFAULT_GATES, type FeatureGates } from "./feature-gates.ts";
import { GATES_WITHOUT_EFFECT } from "./gate-effects.ts";
import { registerProcessMetrics } from "./process-metrics.ts";
import { environmentName, settingTable } from "./setting-table.ts";

const root = join(import.meta.dirname, "../../../..");
const doc = readFileSync(join(root, "docs/operations.md"), "utf8");

/** The rows of the tables under a heading. */
function rowsUnder(heading: string): string[] {
  const start = doc.indexOf(`\n## ${heading}\n`);
  expect(start, `heading ${heading}`).toBeGreaterThanOrEqual(0);
  const section = doc.slice(start + 1).split(/\n## /)[0] ?? "";
  return section.split("\n").filter((line) => line.startsWith("| `"));
}

const keyOf = (row: string) => /^\| `([^`]+)`/.exec(row)?.[1] ?? row;
const byText = (rows: readonly string[]) => [...rows].sort();

describe("flags", () => {
  const settings = Object.values(settingTable);
  const rowOf = (setting: (typeof settings)[number]) => {
    const { flag, kind, fallback, help } = setting;
    const value = kind === "duration" ? `${Number(fallback) / 1000}s` : String(fallback);
    return `| \`--${flag}\` | \`${environmentName(setting)}\` | ${value === "" ? "" : `\`${value}\``} | ${help} |`;
  };

  test("each has its row, with its variable and its default", () => {
    expect(byText(rowsUnder("Flags and environment variables"))).toEqual(
      byText(settings.filter(({ isWithoutEffect }) => !isWithoutEffect).map(rowOf)),
    );
  });

  test("those that change nothing are told apart", () => {
    expect(byText(rowsUnder("Flags without effect"))).toEqual(byText(settings.filter(({ isWithoutEffect }) => isWithoutEffect).map(rowOf)));
  });

  test("so are those that are no settings of Karpenter's", () => {
    const program = new Command();
    addControllerCommand(program, { env: {} } as Surroundings);
    const flags = (program.commands[0]?.options ?? []).filter(({ hidden }) => !hidden).flatMap(({ long }) => long ?? []);
    expect(flags.length).toBeGreaterThan(25);
    expect(flags.filter((flag) => !new RegExp(`\`${flag}[ \`]`).test(doc))).toEqual([]);
  });

  /** O-9…O-44, V-3. Joinery's own defaults: O-15. The gates' default is the empty text, which means the same (O-55). */
  test.each([
    ["karpenter-service", ""],
    ["metrics-port", 8080],
    ["health-probe-port", 8081],
    ["kube-client-qps", 200],
    ["kube-client-burst", 300],
    ["enable-profiling", false],
    ["disable-controller-warmup", false],
    ["disable-leader-election", false],
    ["disable-cluster-state-observability", false],
    ["leader-election-name", "karpenter-leader-election"],
    ["leader-election-namespace", ""],
    ["memory-limit", -1],
    ["cpu-requests", 1000],
    ["log-level", "info"],
    ["log-output-paths", "stdout"],
    ["log-error-output-paths", "stderr"],
    ["batch-max-duration", 10_000],
    ["batch-idle-duration", 1000],
    ["preference-policy", "Respect"],
    ["min-values-policy", "Strict"],
    ["ignore-dra-requests", true],
    ["feature-gates", ""],
    ["scheduler-config", ""],
    ["legacy-node-repair", false],
    ["cluster-name", ""],
    ["cluster-endpoint", ""],
    ["cluster-ca-bundle", ""],
    ["isolated-vpc", false],
    ["eks-control-plane", false],
    ["vm-memory-overhead-percent", 0.075],
    ["interruption-queue", ""],
    ["reserved-enis", 0],
    ["disable-dry-run", false],
    ["enable-zonal-shift", false],
    ["ami-refresh-interval", 60_000],
    ["subnet-refresh-interval", 60_000],
    ["aws-feature-gates", ""],
  ])("O-9…O-44, V-3: Karpenter's --%s is there, %s by default", (flag, fallback) => {
    expect(settings.find((setting) => setting.flag === flag)).toMatchObject({ fallback });
  });
});

test("V-2: each feature gate has its row, its default, and whether it does anything", () => {
  const gates = Object.keys(DEFAULT_GATES) as (keyof FeatureGates)[];
  const rows = rowsUnder("Feature gates");
  expect(rows.map(keyOf)).toEqual(gates);
  for (const [at, gate] of gates.entries()) {
    expect(rows[at]).toContain(`| \`${DEFAULT_GATES[gate]}\` |`);
    expect(/no effect in this version/.test(rows[at] ?? ""), gate).toBe(GATES_WITHOUT_EFFECT.includes(gate));
  }
});

describe("metrics", () => {
  const never: Transport = { send: () => new Promise(() => {}), stream: () => new Promise(() => {}), close: async () => {} };

  function registered() {
    const clock = createVirtualClock({ startMs: 0 });
    const registry = createMetricsRegistry();
    createController({
      transport: never,
      provider: { nodeClassKinds: [Ec2NodeClasses], vocabulary: AWS_VOCABULARY, create: () => Promise.reject(new Error("not run")) },
      clock,
      random: createRandom(1),
      registry,
      options: { isCapacityBufferOn: true, isPodDeletionCostManaged: true, isNodeOverlayOn: true, isStaticCapacityOn: true },
      build: { version: "", runtimeVersion: "", architecture: "", commit: "" },
    });
    registerProcessMetrics(registry, clock);
    createAwsMetrics(registry);
    return registry.getMetricsAsArray();
  }

  test("each has its row, with its type, and its labels where they are fixed", () => {
    const rows = new Map(rowsUnder("Metrics").map((row) => [keyOf(row), row]));
    const metrics = registered();
    expect(byText([...rows.keys()])).toEqual(byText(metrics.map(({ name }) => name)));
    for (const { name, type, help, ...rest } of metrics) {
      const { labelNames } = rest as { readonly labelNames?: readonly string[] };
      const [, , shownType, shownLabels, shownHelp] = (rows.get(name) ?? "").split("|").map((cell) => cell.trim());
      expect([shownType, shownHelp], name).toEqual([type, help]);
      // Of gauges that are computed when somebody looks, the tests beside them know the labels.
      if (labelNames !== undefined) expect(shownLabels, name).toBe(labelNames.map((label) => `\`${label}\``).join(" "));
    }
  });
});

/** The sources of the rooms that speak, without their tests. */
const sources = ["core", "kube", "cli", "aws"]
  .flatMap((room) => {
    const folder = join(root, "packages", room, "src");
    return (readdirSync(folder, { recursive: true }) as string[]).map((name) => join(folder, name));
  })
  .filter((name) => name.endsWith(".ts") && !name.endsWith(".test.ts") && !name.includes("/testing/"))
  .map((name) => ({ name, text: readFileSync(name, "utf8") }));

test("events: each reason of the table is in the sources, and each reason of an event is in the table", () => {
  const reasons = rowsUnder("Events").map(keyOf);
  const all = sources.map(({ text }) => text).join("\n");
  for (const reason of reasons) expect(all.includes(`"${reason}"`), reason).toBe(true);
  const emitted = sources
    .filter(({ name }) => /\/(events|condition-watch|leader-election|providers)\.ts$/.test(name))
    .flatMap(({ text }) => [...text.matchAll(/(?:reason: |aboutPod\(pod, )"([A-Z]\w+)"/g)].map(([, reason]) => reason ?? ""));
  expect(emitted.length).toBeGreaterThan(10);
  for (const reason of emitted) expect(reasons, reason).toContain(reason);
});

test("log: each message of the table is in the sources", () => {
  const messages = rowsUnder("Log").map(keyOf);
  expect(messages.length).toBeGreaterThan(20);
  const all = sources.map(({ text }) => text).join("\n");
  for (const message of messages) expect(all.includes(`"${message}"`), message).toBe(true);
});
