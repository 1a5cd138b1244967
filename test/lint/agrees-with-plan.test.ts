/** `lint` and `plan` ask one solver: what lint calls impossible has no place in a plan, and what has none is not passed over in silence. */
import { existsSync, readdirSync } from "node:fs";
import { join, relative } from "node:path";
import { describe, expect, test } from "vitest";
import { runJoinery } from "../plan/run-joinery.ts";
import { casesFolder, findingsOf } from "./lint-joinery.ts";

const IMPOSSIBLE = new Set([
  "missing-toleration",
  "unknown-label",
  "unknown-label-value",
  "request-too-large",
  "unschedulable-workload",
  "spread-without-domains",
  "affinity-without-match",
]);

/** Findings that explain why pods have no place now. */
const EXPLANATIONS = new Set([
  ...IMPOSSIBLE,
  "runtime-invalid",
  "contradictory-requirements",
  "pool-without-types",
  "min-values-unreachable",
  "limit-too-small",
  "node-class-missing",
  "node-class-not-ready",
  "zone-without-offerings",
  "anti-affinity-crowded",
  "storage-missing",
]);

const catalog = join(import.meta.dirname, "catalog.json");
const examples = join(import.meta.dirname, "../../docs/examples");
const cases = readdirSync(casesFolder).flatMap((rule) =>
  ["good.yaml", "bad.yaml"].map((file) => ({ source: join(casesFolder, rule, file), options: ["--catalog", catalog] })),
);
const documented = readdirSync(examples)
  .filter((name) => existsSync(join(examples, name, "manifests")) && !existsSync(join(examples, name, "catalog.json")))
  .map((name) => ({ source: join(examples, name, "manifests"), options: ["--region", "us-east-1"] }));
/** Its pods wait for room within a limit, not for ever. */
const WAITING = new Set(["docs/examples/09-limits/manifests"]);

describe.each([...cases, ...documented].map((input) => ({ ...input, name: relative(process.cwd(), input.source) })))("$name", (input) => {
  test("agree", async () => {
    const findings = findingsOf(await runJoinery(["lint", input.name, ...input.options, "-o", "json"]));
    const plan = JSON.parse((await runJoinery(["plan", input.name, ...input.options, "-o", "json"])).out);
    const entries: { pod: string; reasons: { code: string }[] }[] = plan.unschedulable;
    const unplaced = entries.map(({ pod }) => pod);
    const impossible = findings.filter(({ rule, severity }) => severity === "error" && IMPOSSIBLE.has(rule)).map(({ object }) => object);
    for (const object of impossible) expect(unplaced, `pods of ${object}`).toEqual(expect.arrayContaining([firstPodOf(object)]));
    // What the next solve places is not wrong.
    const isOnlyWaiting = entries.every(({ reasons }) => reasons.every(({ code }) => code === "next-solve"));
    const isExplained = isOnlyWaiting || WAITING.has(input.name) || findings.some(({ rule }) => EXPLANATIONS.has(rule));
    expect({ unplaced, isExplained }).toEqual({ unplaced, isExplained: true });
  });
});

/** `shop/Deployment/web` → `shop/web-0`. */
function firstPodOf(object: string): string {
  const parts = object.split("/");
  const [namespace, name] = parts.length === 3 ? [parts[0], parts[2]] : ["default", parts[1]];
  return `${namespace}/${name}-0`;
}
