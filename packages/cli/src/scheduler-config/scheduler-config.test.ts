import { expect, test } from "vitest";
import { formatProblem } from "../manifests/problem.ts";
import { parseSchedulerConfig } from "./parse-scheduler-config.ts";
import { readSchedulerConfig } from "./read-scheduler-config.ts";

const ZONE = "topology.kubernetes.io/zone";
const withConstraint = (lines: string) => `podTopologySpread:\n  defaultConstraints:\n    - ${lines.split("\n").join("\n      ")}\n`;
const good = `maxSkew: 1\ntopologyKey: ${ZONE}\nwhenUnsatisfiable: DoNotSchedule`;

function problemsOf(text: string, file = "c.yaml"): readonly string[] {
  const outcome = parseSchedulerConfig(text, file);
  return outcome.kind === "invalid" ? outcome.problems.map(formatProblem) : [];
}

test("S-157, O-57: YAML and JSON are the same; empty is none", () => {
  const constraints = [{ maxSkew: 1, topologyKey: ZONE, whenUnsatisfiable: "DoNotSchedule", minDomains: 2, nodeTaintsPolicy: "Honor" }];
  const yaml = withConstraint(`${good}\nminDomains: 2\nnodeTaintsPolicy: Honor\nmatchLabelKeys: []`);
  expect(parseSchedulerConfig(yaml, "c.yaml")).toEqual({ kind: "config", constraints });
  const json = JSON.stringify({ podTopologySpread: { defaultConstraints: constraints } });
  expect(parseSchedulerConfig(json, "c.json")).toEqual({ kind: "config", constraints });
  for (const empty of ["", "# nothing\n", "{}", "podTopologySpread:\n", "podTopologySpread: {defaultConstraints: []}\n"]) {
    expect(parseSchedulerConfig(empty, "c.yaml")).toEqual({ kind: "config", constraints: [] });
  }
});

test.each([
  {
    fault: "unknown field",
    text: "podTopologySpreads: {}",
    expected: /^c\.yaml:1:1: podTopologySpreads: unknown field; only podTopologySpread/,
  },
  {
    fault: "unknown field inside",
    text: "podTopologySpread:\n  constraints: []",
    expected: /^c\.yaml:2:3: podTopologySpread\.constraints: unknown field/,
  },
  {
    fault: "unknown field of a constraint",
    text: withConstraint(`${good}\nmaxskew: 2`),
    expected: /^c\.yaml:6:7: .*\[0\]\.maxskew: unknown field; did you mean maxSkew\?$/,
  },
  {
    fault: "kube-scheduler's own configuration, with the list",
    text: `kind: KubeSchedulerConfiguration\nprofiles:\n- pluginConfig:\n  - name: NodeAffinity\n  - name: PodTopologySpread\n    args:\n      defaultConstraints: []\n`,
    expected:
      /^c\.yaml:7:7: profiles\[0\]\.pluginConfig\[1\]\.args\.defaultConstraints: .*of which this list alone counts here; want podTopologySpread/,
  },
  {
    fault: "kube-scheduler's own configuration, without one",
    text: "kind: KubeSchedulerConfiguration\nprofiles: [{}, null]\n",
    expected: /^c\.yaml:1:1: kind: a KubeSchedulerConfiguration without default constraints/,
  },
  { fault: "malformed", text: "podTopologySpread: [", expected: /^c\.yaml:\d+:\d+: is no YAML/ },
  { fault: "a list", text: "- a", expected: /^c\.yaml:1:\d+: must be an object, is a list/ },
  {
    fault: "maxSkew 0",
    text: withConstraint(good.replace("1", "0")),
    expected: /^c\.yaml:3:7: podTopologySpread\.defaultConstraints\[0\]\.maxSkew: must be at least 1, is 0$/,
  },
  { fault: "maxSkew is text", text: withConstraint(good.replace("1", "many")), expected: /maxSkew: must be a whole number, is "many"$/ },
  { fault: "no topologyKey", text: withConstraint("maxSkew: 1\nwhenUnsatisfiable: DoNotSchedule"), expected: /topologyKey: is missing/ },
  { fault: "topologyKey", text: withConstraint(good.replace(ZONE, "a b")), expected: /topologyKey: "a b" is no valid label/ },
  {
    fault: "whenUnsatisfiable",
    text: withConstraint(good.replace("DoNotSchedule", "Never")),
    expected: /whenUnsatisfiable: must be DoNotSchedule or ScheduleAnyway, is "Never"$/,
  },
  { fault: "labelSelector", text: withConstraint(`${good}\nlabelSelector: {}`), expected: /^c\.yaml:6:7: .*labelSelector: must be absent/ },
  { fault: "matchLabelKeys", text: withConstraint(`${good}\nmatchLabelKeys: [a]`), expected: /matchLabelKeys: must be absent$/ },
  {
    fault: "O-59: twice",
    text: withConstraint(good) + withConstraint(good).split("\n").slice(2).join("\n"),
    expected: /^c\.yaml:6:7: .*\[1\]: repeats topologyKey/,
  },
  { fault: "two documents", text: "{}\n---\n{}", expected: /a configuration is one document$/ },
])("S-157, O-58: $fault", ({ text, expected }) => {
  const problems = problemsOf(text);
  expect(problems).toHaveLength(1);
  expect(problems[0]).toMatch(expected);
});

test("O-59: the same key with the other whenUnsatisfiable is allowed", () => {
  const other = withConstraint(good.replace("DoNotSchedule", "ScheduleAnyway")).split("\n").slice(2).join("\n");
  expect(problemsOf(withConstraint(good) + other)).toEqual([]);
});

test("O-31: the document itself, a file, nothing; a file that is not there is said", async () => {
  expect(await readSchedulerConfig(withConstraint(good))).toHaveLength(1);
  expect(await readSchedulerConfig(`{"podTopologySpread":{}}`)).toEqual([]);
  expect(await readSchedulerConfig("  ")).toEqual([]);
  await expect(readSchedulerConfig("no-such.yaml")).rejects.toThrow("scheduler-config: cannot read no-such.yaml: no such file");
  await expect(readSchedulerConfig(withConstraint(`${good.replace("1", "0")}\nmatchLabelKeys: [a]`))).rejects.toThrow(
    /has 2 faults\nscheduler-config:3:7/,
  );
});
