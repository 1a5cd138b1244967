/** docs/formats.md holds every field that the commands print for programs, and every code of a reason. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";
import type { ReasonDocument } from "@joinery/scheduling";
import { describe, expect, test } from "vitest";
import { runJoinery } from "../plan/run-joinery.ts";

const root = join(import.meta.dirname, "../..");
const reference = readFileSync(join(root, "docs/formats.md"), "utf8");
const documented = new Set([...reference.matchAll(/`([^`\n]+)`/g)].map(([, word]) => word ?? ""));

/** Maps whose keys are not ours, what Kubernetes defines, the facts of single codes, and what is described once for several places. */
const NOT_OURS = [
  /^(newNodes\[\]|node)\.(labels|requests|daemonSetRequests)\./,
  /^(newNodes\[\]|node)\.(taints|startupTaints)\[\]\./,
  /\.(patch|secondPatch|morePatches\[\])\./,
  /reasons\[\]\.detail\./,
  /^otherPlaces\.(existingNodes|plannedNodes)\[\]\.(code|reason|count|names)$/,
  /^launch\.capacityTypes\[\]\.cheapest\.(instanceType|zone|pricePerHour)$/,
];

/** As they are called where they are described. */
const ALIASES: readonly (readonly [RegExp, string])[] = [
  [/^unschedulable\[\]\.(reasons|fix)([.[].*)$/, "$1$2"],
  [/^node\.(.+)$/, "newNodes[].$1"],
  [/^nearest\.domains\[\]/, "funnel[].stages[].domains[]"],
];

function pathsOf(value: unknown, path = ""): string[] {
  if (Array.isArray(value)) return value.flatMap((item) => pathsOf(item, `${path}[]`));
  if (typeof value !== "object" || value === null) return path.endsWith("[]") ? [] : [path];
  return [
    ...(path === "" || path.endsWith("[]") ? [] : [path]),
    ...Object.entries(value).flatMap(([key, item]) => pathsOf(item, path === "" ? key : `${path}.${key}`)),
  ];
}

/** A field is described by its own row, or a plain object by those of its fields. */
function undescribed(document: unknown): string[] {
  const paths = [...new Set(pathsOf(document))].filter((path) => !NOT_OURS.some((pattern) => pattern.test(path)));
  const named = paths.map((path) => ALIASES.reduce((name, [from, to]) => name.replace(from, to), path));
  const isDescribed = (path: string) => documented.has(path) || [...documented].some((word) => word.startsWith(`${path}.`));
  return named.filter((path) => !isDescribed(path));
}

const examples = join(root, "docs/examples");
const plans = readdirSync(examples).filter((name) => existsSync(join(examples, name, "plan.json")));

test.each(plans)("plan: every field of docs/examples/%s is described", (name) => {
  expect(undescribed(JSON.parse(readFileSync(join(examples, name, "plan.json"), "utf8")))).toEqual([]);
});

const cases = join(root, "test/explain/cases");
const catalog = ["--catalog", relative(process.cwd(), join(root, "test/explain/catalog.json")), "-o", "json"];

describe("explain, and the plan of the same", () => {
  test.each(readdirSync(cases))("every field of %s is described", async (file) => {
    const source = relative(process.cwd(), join(cases, file));
    const explained = JSON.parse((await runJoinery(["explain", "pod", "web", source, ...catalog])).out);
    const planned = JSON.parse((await runJoinery(["plan", source, ...catalog])).out);
    expect([...undescribed(explained), ...undescribed(planned)]).toEqual([]);
  });

  test.each([
    ["node", "default-1", "20-unschedulable"],
    ["pod", "inference-1", "06-gpu"],
    ["pod", "fits", "20-unschedulable"],
    ["node", "ip-10-0-1-10.ec2.internal", "12-existing-nodes"],
  ])("every field of %s %s in %s is described", async (subject, name, example) => {
    const source = relative(process.cwd(), join(examples, example, "manifests"));
    const run = await runJoinery(["explain", subject, name, source, "-o", "json"]);
    expect(run).toMatchObject({ status: 0, err: "" });
    expect(undescribed(JSON.parse(run.out))).toEqual([]);
  });
});

test("lint: every field is described", async () => {
  const source = relative(process.cwd(), join(root, "test/lint/cases/pool-without-types/bad.yaml"));
  const run = await runJoinery(["lint", source, "--catalog", relative(process.cwd(), join(root, "test/lint/catalog.json")), "-o", "json"]);
  expect(undescribed(JSON.parse(run.out))).toEqual([]);
});

/** A new code does not compile until it stands here, and fails until it is described. */
const CODES: Readonly<Record<ReasonDocument["code"], true>> = {
  "no-node-pool": true,
  "node-pool-not-ready": true,
  "untolerated-taint": true,
  "incompatible-requirements": true,
  "undefined-label": true,
  "insufficient-resources": true,
  "no-offering": true,
  "over-limit": true,
  "min-values": true,
  "host-port": true,
  "volume-topology": true,
  "volume-limit": true,
  "invalid-volume": true,
  "topology-spread": true,
  "pod-affinity": true,
  "pod-anti-affinity": true,
  unsupported: true,
  "invalid-requirement": true,
  "reserved-capacity": true,
  "next-solve": true,
  "opted-out": true,
};

test("the codes of reasons that are described are those that there are", () => {
  const table = reference.slice(reference.indexOf("## Reasons"), reference.indexOf("## Fixes"));
  const rows = [...table.matchAll(/^\| `([a-z-]+)` \|/gm)].map(([, code]) => code);
  expect(rows.toSorted()).toEqual(Object.keys(CODES).toSorted());
});
