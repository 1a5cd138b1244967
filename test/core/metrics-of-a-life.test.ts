/**
 * The metrics of a leader while a cluster lives in the sandbox: each series has exactly the labels that the documentation's table gives its
 * name, and those of objects end with them. Rules O-174, O-191, O-233, O-234, O-236.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { AWS_VOCABULARY, NodePools } from "@joinery/api";
import { expect, test } from "vitest";
import { aSimulation, type Simulation } from "../failover/simulation.ts";

const MINUTE = 60_000;
const doc = readFileSync(join(import.meta.dirname, "../../docs/operations.md"), "utf8");
const wellKnown = [...AWS_VOCABULARY.wellKnown].map((key) =>
  key
    .slice(key.lastIndexOf("/") + 1)
    .toLowerCase()
    .replaceAll("-", "_"),
);

interface Documented {
  readonly type: string;
  readonly labels: readonly string[];
}

/** By name, the rows of the table. */
const documented: ReadonlyMap<string, Documented> = new Map(
  [...doc.matchAll(/^\| `(\w+)` \| (counter|gauge|histogram|summary) \| (.*?) \| .* \|$/gm)].map(([, name = "", type = "", cell = ""]) => {
    const named = [...cell.matchAll(/`(\w+)`/g)].map(([, label = ""]) => label);
    const labels = cell.includes("one per well-known label") ? [...named, ...wellKnown] : named;
    return [name, { type, labels: [...new Set(labels)].sort() }];
  }),
);

async function scrape({ processes }: Simulation): Promise<string[]> {
  const leader = processes.find(({ isLeading }) => isLeading);
  const text = await leader!.controller.registry.metrics();
  return text.split("\n").filter((line) => line !== "" && !line.startsWith("#"));
}

/** The metric that a line is of, and its labels without those of the format itself. */
function read(line: string): { readonly name: string; readonly labels: readonly string[] } {
  const [, series = "", labelText = ""] = /^(\w+)(?:{(.*)})? \S+$/.exec(line) ?? [];
  const labels = [...labelText.matchAll(/(\w+)="(?:[^"\\]|\\.)*"/g)].map(([, label = ""]) => label);
  const name = documented.has(series) ? series : series.replace(/_(bucket|sum|count)$/, "");
  return { name, labels: labels.filter((label) => label !== "le" && label !== "quantile").sort() };
}

async function until({ clock }: Simulation, what: string, isDone: () => boolean): Promise<void> {
  if (!(await clock.runUntil(isDone, 20 * MINUTE))) throw new Error(`never: ${what}`);
}

test("O-191, O-233, O-234: a leader's series have the labels of the documentation; O-174, O-236: they end with their objects", async () => {
  const simulation = await aSimulation({ seed: 1 });
  const { world, clock, user } = simulation;
  try {
    await simulation.deploy("web", 6, "900m", "1Gi");
    await until(simulation, "all run", () => world.pods().length >= 6 && simulation.pendingPods().length === 0);
    await clock.advance(10_000);
    const living = await scrape(simulation);
    const names = (await simulation.nodeClaims()).flatMap(({ metadata, status }) => [metadata!.name!, status!.nodeName!]);
    expect(names.length).toBeGreaterThan(0);
    for (const name of names)
      expect(
        living.some((line) => line.includes(`"${name}"`)),
        name,
      ).toBe(true);

    const isWeb = (name: string) => name.startsWith("web-");
    const pods = world.pods().flatMap(({ metadata }) => (isWeb(metadata?.name ?? "") ? [metadata!.name!] : []));
    await simulation.scale("web", 0);
    void user.delete(NodePools, { name: "default" });
    await until(
      simulation,
      "all gone",
      () => world.instances().length === 0 && !world.pods().some(({ metadata }) => isWeb(metadata!.name!)),
    );
    await clock.advance(MINUTE);
    expect(await simulation.nodeClaims()).toEqual([]);
    const after = await scrape(simulation);
    for (const name of [...names, ...pods])
      expect(
        after.filter((line) => line.includes(`"${name}"`)),
        name,
      ).toEqual([]);
    const ofPool = /^(operator_nodepool_\w+{.*[{,]name="default"|karpenter_nodepools_(usage|limit|cost_total){.*nodepool="default")/;
    expect(living.filter((line) => ofPool.test(line)).length).toBeGreaterThan(0);
    expect(after.filter((line) => ofPool.test(line))).toEqual([]);

    const seen = new Set<string>();
    for (const line of [...living, ...after]) {
      const { name, labels } = read(line);
      const row = documented.get(name);
      expect(row, line).toBeDefined();
      expect(labels, line).toEqual(row?.labels);
      seen.add(name);
    }
    // Most of the table is met in such a life; enough that a table which is not read would be noticed.
    expect(seen.size).toBeGreaterThan(70);
  } finally {
    await simulation.stop();
  }
});
