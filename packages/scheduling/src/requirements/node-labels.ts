/**
 * Do the labels of a real node meet requirements? The strict compatibility of S-40 where every existing requirement is one value,
 * without making a requirement of each label: clusters have thousands of nodes with dozens of labels.
 */
import { AWS_VOCABULARY } from "@joinery/api";
import type { Requirements } from "./requirements.ts";

/** Key → older keys that mean the same (S-28). */
const PREDECESSORS: ReadonlyMap<string, readonly string[]> = new Map(
  Array.from(
    Map.groupBy(Object.entries(AWS_VOCABULARY.normalized), ([, key]) => key),
    ([key, entries]) => [key, entries.map(([old]) => old)],
  ),
);

/** Model: `Requirements.fromLabels(labels).isCompatible(requirements)`. */
export function meetsRequirements(labels: Readonly<Record<string, string>>, requirements: Requirements): boolean {
  for (const requirement of requirements) {
    const value = nodeLabel(labels, requirement.key);
    if (value === undefined ? !requirement.allowsAbsence : !requirement.has(value)) return false;
  }
  return true;
}

/** What a node has for a label, also under an older name of it. */
export function nodeLabel(labels: Readonly<Record<string, string>>, key: string): string | undefined {
  return labels[key] ?? olderLabel(labels, key);
}

function olderLabel(labels: Readonly<Record<string, string>>, key: string): string | undefined {
  const old = PREDECESSORS.get(key)?.find((candidate) => labels[candidate] !== undefined);
  return old === undefined ? undefined : labels[old];
}
