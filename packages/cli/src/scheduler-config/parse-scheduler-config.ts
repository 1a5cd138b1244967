/** The document of `--scheduler-config` → default constraints, or everything that is wrong with it. Rules S-157, O-57…O-59. */
import type { TopologySpreadConstraint } from "@joinery/api";
import { qualifiedName } from "../manifests/built-in/names.ts";
import { checkShape, describe, isRecord } from "../manifests/built-in/shapes.ts";
import type { FieldPath } from "../manifests/field-path.ts";
import { formatFieldPath } from "../manifests/field-path.ts";
import type { Document } from "../manifests/manifest.ts";
import type { InputProblem } from "../manifests/problem.ts";
import { readJson } from "../manifests/read-json.ts";
import { readYaml } from "../manifests/read-yaml.ts";
import { TextLines } from "../manifests/text-lines.ts";

export type SchedulerConfigOutcome =
  | { readonly kind: "config"; readonly constraints: readonly TopologySpreadConstraint[] }
  | { readonly kind: "invalid"; readonly problems: readonly InputProblem[] };

type Report = (path: FieldPath, message: string) => void;

const LIST: FieldPath = ["podTopologySpread", "defaultConstraints"];

/** YAML or JSON. `file` is how the text is called in messages. An empty text is no configuration. */
export function parseSchedulerConfig(text: string, file: string): SchedulerConfigOutcome {
  const { documents, problems: found } = read(text, file);
  const problems: InputProblem[] = [...found];
  if (documents.length > 1) {
    const at = documents[1]!.locate([]);
    problems.push({ severity: "error", file, ...at, path: "", message: "there is a second document; a configuration is one document" });
  }
  const [document] = documents;
  if (problems.length > 0) return { kind: "invalid", problems };
  if (document === undefined) return { kind: "config", constraints: [] };
  const whole = wholeConfiguration(document.value);
  if (whole !== undefined)
    return {
      kind: "invalid",
      problems: [{ severity: "error", file, ...document.locate(whole.path), path: formatFieldPath(whole.path), message: whole.message }],
    };
  check(document.value, (path, message) =>
    problems.push({ severity: "error", file, ...document.locate(path), path: formatFieldPath(path), message }),
  );
  return problems.length > 0 ? { kind: "invalid", problems } : { kind: "config", constraints: constraintsOf(document.value) };
}

function read(text: string, file: string): { readonly documents: readonly Document[]; readonly problems: readonly InputProblem[] } {
  const lines = new TextLines(text);
  const isJson = /^\uFEFF?\s*[{[]/.test(text) || file.endsWith(".json");
  if (isJson) {
    const json = readJson(text, lines);
    if (json.kind === "values") return { documents: json.documents, problems: [] };
    if (file.endsWith(".json")) {
      return { documents: [], problems: [{ severity: "error", file, ...json.at, path: "", message: json.message }] };
    }
  }
  const { documents, faults } = readYaml(text, lines);
  return { documents, problems: faults.map(({ message, at }) => ({ severity: "error", file, ...at, path: "", message })) };
}

/** What people have at hand is kube-scheduler's own configuration, of which Karpenter's document is a part. */
function wholeConfiguration(value: unknown): { readonly path: FieldPath; readonly message: string } | undefined {
  if (!isRecord(value) || value.kind !== "KubeSchedulerConfiguration") return undefined;
  const wanted = "want podTopologySpread: {defaultConstraints: […]}";
  for (const [profile, { pluginConfig }] of recordsIn(value.profiles).entries()) {
    for (const [plugin, { name, args }] of recordsIn(pluginConfig).entries()) {
      if (name !== "PodTopologySpread" || !isRecord(args) || !Array.isArray(args.defaultConstraints)) continue;
      const path = ["profiles", profile, "pluginConfig", plugin, "args", "defaultConstraints"];
      return {
        path,
        message: `the file is a KubeSchedulerConfiguration, of which this list alone counts here; ${wanted}, with this list in it`,
      };
    }
  }
  return { path: ["kind"], message: `a KubeSchedulerConfiguration without default constraints of PodTopologySpread; ${wanted}` };
}

function recordsIn(value: unknown): readonly Readonly<Record<string, unknown>>[] {
  return Array.isArray(value) ? value.map((one: unknown) => (isRecord(one) ? one : {})) : [];
}

function check(value: unknown, report: Report): void {
  const spread = fieldOf(value, [], "podTopologySpread", report);
  const list = fieldOf(spread, ["podTopologySpread"], "defaultConstraints", report);
  if (list === undefined || list === null) return;
  if (!Array.isArray(list)) {
    report(LIST, `must be a list, is ${describe(list)}`);
    return;
  }
  const seen = new Map<string, number>();
  for (const [index, constraint] of (list as readonly unknown[]).entries()) {
    const path = [...LIST, index];
    checkShape(constraint, "TopologySpreadConstraint", (_, at, message) => report([...path, ...at], message));
    if (isRecord(constraint)) checkConstraint(constraint as unknown as TopologySpreadConstraint, path, seen, report);
  }
}

/** The one field that an object of this document may have. */
function fieldOf(value: unknown, path: FieldPath, field: string, report: Report): unknown {
  if (value === undefined || value === null) return undefined;
  if (!isRecord(value)) {
    report(path, `must be an object, is ${describe(value)}; want ${field}`);
    return undefined;
  }
  for (const name in value) if (name !== field) report([...path, name], `unknown field; only ${field} is known here`);
  return value[field];
}

/** O-58, O-59. Fields of a wrong type have been reported. */
function checkConstraint(constraint: TopologySpreadConstraint, path: FieldPath, seen: Map<string, number>, report: Report): void {
  const { maxSkew, topologyKey, whenUnsatisfiable, labelSelector, matchLabelKeys } = constraint;
  if (!isAbsent(maxSkew) && Number.isInteger(maxSkew) && maxSkew <= 0) report([...path, "maxSkew"], `must be at least 1, is ${maxSkew}`);
  if (isAbsent(maxSkew)) report([...path, "maxSkew"], "is missing; give a whole number from 1");
  const keyFault = typeof topologyKey === "string" && topologyKey !== "" ? qualifiedName(topologyKey) : undefined;
  if (isAbsent(topologyKey) || topologyKey === "")
    report([...path, "topologyKey"], "is missing; name a node label such as topology.kubernetes.io/zone");
  else if (keyFault !== undefined) report([...path, "topologyKey"], `"${topologyKey}" is no valid label; ${keyFault}`);
  if (whenUnsatisfiable !== "DoNotSchedule" && whenUnsatisfiable !== "ScheduleAnyway")
    report([...path, "whenUnsatisfiable"], `must be DoNotSchedule or ScheduleAnyway, is ${describe(whenUnsatisfiable)}`);
  if (!isAbsent(labelSelector)) report([...path, "labelSelector"], "must be absent: it is told from Services and owners, pod by pod");
  if (!isAbsent(matchLabelKeys) && matchLabelKeys?.length !== 0) report([...path, "matchLabelKeys"], "must be absent");
  const pair = `${topologyKey} ${whenUnsatisfiable}`;
  const first = seen.get(pair);
  if (first !== undefined && !isAbsent(topologyKey))
    report(path, `repeats topologyKey ${topologyKey} with ${whenUnsatisfiable} of defaultConstraints[${first}]; give each pair once`);
  else seen.set(pair, path.at(-1) as number);
}

function isAbsent(value: unknown): boolean {
  return value === undefined || value === null;
}

/** Without what was given as null or empty. */
function constraintsOf(value: unknown): readonly TopologySpreadConstraint[] {
  const config = value as { podTopologySpread?: { defaultConstraints?: readonly TopologySpreadConstraint[] | null } | null };
  return (config.podTopologySpread?.defaultConstraints ?? []).map((constraint) => {
    const given = Object.entries(constraint).filter(([field, part]) => !isAbsent(part) && field !== "matchLabelKeys");
    return Object.fromEntries(given) as unknown as TopologySpreadConstraint;
  });
}
