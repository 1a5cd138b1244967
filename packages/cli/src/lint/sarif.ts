/** Findings as SARIF 2.1.0, which code hosts and editors show beside the lines (OASIS, "Static Analysis Results Interchange Format"). */
import type { Finding } from "./finding.ts";
import type { Rule } from "./rule.ts";

const SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json";

export function toSarif(findings: readonly Finding[], rules: readonly Rule[], version: string): unknown {
  const indexes = new Map(rules.map(({ name }, index) => [name, index]));
  return {
    $schema: SCHEMA,
    version: "2.1.0",
    runs: [
      {
        tool: { driver: { name: "joinery lint", semanticVersion: version, rules: rules.map(reportingDescriptor) } },
        columnKind: "utf16CodeUnits",
        results: findings.map((finding) => result(finding, indexes.get(finding.rule)!)),
      },
    ],
  };
}

function reportingDescriptor({ name, severity, summary }: Rule) {
  return { id: name, shortDescription: { text: summary }, defaultConfiguration: { level: severity } };
}

function result({ rule, severity, file, line, column, object, path, message, instead }: Finding, ruleIndex: number) {
  return {
    ruleId: rule,
    ruleIndex,
    level: severity,
    message: { text: `${sentenceOf(message)} Instead: ${instead}.` },
    locations: [
      {
        // An object of a cluster is in no file.
        ...(line !== undefined && {
          physicalLocation: { artifactLocation: { uri: uriOf(file) }, region: { startLine: line, startColumn: column } },
        }),
        logicalLocations: [{ fullyQualifiedName: path === "" ? object : `${object}: ${path}` }],
      },
    ],
  };
}

function sentenceOf(message: string): string {
  return `${message.slice(0, 1).toUpperCase()}${message.slice(1)}.`;
}

/** Paths as relative references; standard input has no address of its own. */
function uriOf(file: string): string {
  if (file === "<stdin>") return "stdin";
  const path = file.replaceAll("\\", "/").split("/").map(encodeURIComponent).join("/");
  return path.startsWith("/") ? `file://${path}` : path;
}
