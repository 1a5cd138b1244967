/** Findings for people: by file, one block each. Colours where the terminal takes them. */
import type { Terminal } from "../terminal/terminal.ts";
import type { Finding, Severity } from "./finding.ts";
import { countText } from "./words.ts";

const COLOURS = { error: "red", warning: "yellow", note: "cyan" } as const;

export function renderText(findings: readonly Finding[], terminal: Pick<Terminal, "style">): string {
  const byFile = Map.groupBy(findings, ({ file }) => file);
  const blocks = Array.from(byFile, ([file, found]) => {
    const lines = found.flatMap((finding) => renderFinding(finding, terminal));
    return `${terminal.style("bold", file)}\n${lines.join("\n")}\n`;
  });
  return [...blocks, `${summary(findings, byFile.size)}\n`].join("\n");
}

function renderFinding(
  { line, column, severity, rule, object, path, message, instead }: Finding,
  { style }: Pick<Terminal, "style">,
): string[] {
  const subject = path === "" ? object : `${object}: ${path}`;
  const place = line === undefined ? "" : `${line}:${column} `;
  return [
    `  ${place}${style(COLOURS[severity], severity)} ${style("dim", `[${rule}]`)} ${subject}`,
    `      ${message}`,
    `      ${style("green", "instead:")} ${instead}`,
  ];
}

function summary(findings: readonly Finding[], files: number): string {
  if (findings.length === 0) return "no findings";
  const count = (wanted: Severity) => findings.filter(({ severity }) => severity === wanted).length;
  const counts = [countText(count("error"), "error"), countText(count("warning"), "warning"), countText(count("note"), "note")];
  const objects = new Set(findings.filter(({ line }) => line === undefined).map(({ file }) => file)).size;
  const places = [
    ...(files > objects ? [countText(files - objects, "file")] : []),
    ...(objects > 0 ? [`${countText(objects, "object")} of the cluster`] : []),
  ];
  return `${counts.join(", ")} in ${places.join(" and ")}`;
}
