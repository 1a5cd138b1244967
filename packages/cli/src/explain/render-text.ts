/** Small pieces of text of an explanation. */
import { stringify } from "yaml";

const NAMES_SHOWN_MAX = 5;

export function amounts(resources: Readonly<Record<string, string>>): string {
  return Object.entries(resources)
    .filter(([name]) => name !== "pods")
    .map(([name, amount]) => `${name} ${amount}`)
    .join(", ");
}

/** The first five; `count` where more are meant than are named. */
export function namesText(names: readonly string[], count = names.length): string {
  if (names.length === 0) return "none";
  const shown = names.slice(0, NAMES_SHOWN_MAX);
  return count > shown.length ? `${shown.join(", ")} and ${count - shown.length} more` : shown.join(", ");
}

/** Read by kubectl, which follows YAML 1.1: `yes` and `y` are quoted. */
export function yamlLines(value: unknown): string[] {
  return stringify(value, { aliasDuplicateObjects: false, lineWidth: 0, compat: "yaml-1.1" })
    .trimEnd()
    .split("\n")
    .map((line) => `  ${line}`);
}

/** What the next solves do, which know where the nodes of this plan are. */
export function laterText(solves: number, placed: number, waiting: number): string {
  if (placed === 0) return `as things stand, later solves do not place ${waiting === 1 ? "it" : "them"} either`;
  const who = solves === 1 ? "the next solve places" : `the next ${solves} solves place`;
  const whom = waiting === 1 ? "it" : placed === waiting ? `all ${waiting}` : `${placed} of ${waiting}`;
  return `once the nodes of this plan are there, in their cheapest offerings, ${who} ${whom}`;
}
