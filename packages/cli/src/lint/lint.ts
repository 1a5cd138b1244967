/** Facts → findings, in the order in which people read files. */
import { formatFieldPath } from "../manifests/field-path.ts";
import type { Manifest } from "../manifests/manifest.ts";
import { type Facts, gatherFacts, type LintRequest } from "./facts.ts";
import type { Finding, Remark } from "./finding.ts";
import type { Rule } from "./rule.ts";

export async function lint(request: LintRequest, rules: readonly Rule[]): Promise<readonly Finding[]> {
  const facts = await gatherFacts(request);
  return findingsOf(facts, rules);
}

/** By file as given, then by place, then by rule; equal inputs give equal findings. */
function findingsOf(facts: Facts, rules: readonly Rule[]): readonly Finding[] {
  const findings = rules.flatMap((rule) => Array.from(rule.check(facts), (remark) => findingOf(rule, remark)));
  const files = new Map<string, number>();
  for (const { file } of facts.objects.all) if (!files.has(file)) files.set(file, files.size);
  const place = ({ file }: Finding) => files.get(file) ?? files.size;
  return findings.sort((a, b) => place(a) - place(b) || from(a.line, b.line) || from(a.column, b.column) || (a.rule < b.rule ? -1 : 1));
}

/** Findings of a cluster's object have no line and are sorted by rule. */
function from(one = 0, other = 0): number {
  return one - other;
}

function findingOf({ name }: Rule, { severity, manifest, path, message, instead }: Remark): Finding {
  return {
    rule: name,
    severity,
    file: manifest.file,
    ...manifest.locate(path),
    object: titleOf(manifest),
    path: formatFieldPath(path),
    message,
    instead,
  };
}

function titleOf({ object: { kind, metadata } }: Manifest): string {
  const { namespace, name, generateName } = metadata ?? {};
  return [namespace, kind, name ?? generateName].filter((part) => part !== undefined && part !== "").join("/");
}
