/**
 * Renames in the text of a CEL rule the calls that the engine answers differently from a Kubernetes API server and does not let
 * one override: `int(text)` takes "" and "0b1", `uint(text)` too, `matches` takes JavaScript's patterns instead of RE2's, and the type
 * of an optional's `value()` stays open.
 */

const RENAMED: Readonly<Record<string, string>> = { int: "strictInt", uint: "strictUint", matches: "matchesPattern", value: "unwrapped" };
const TOKEN =
  /(?<text>[rR]?(?:"""[\s\S]*?"""|'''[\s\S]*?''')|[rR](?:"[^"]*"|'[^']*')|"(?:\\[\s\S]|[^"\\])*"|'(?:\\[\s\S]|[^'\\])*'|\/\/[^\n]*)|(?<name>[A-Za-z_]\w*)(?=\s*\()/g;

/** The rule as the engine shall read it, with further calls renamed where asked. Names in strings and comments stay. */
export function adaptSource(rule: string, more: Readonly<Record<string, string>> = {}): string {
  const renamed = { ...RENAMED, ...more };
  return rule.replace(TOKEN, (whole, ...rest) => {
    const { name } = rest.at(-1) as { name?: string };
    return name !== undefined && Object.hasOwn(renamed, name) ? renamed[name]! : whole;
  });
}

/** Whether the rule compares with the stored object, which makes it a transition rule. */
export function isTransitionRule(rule: string): boolean {
  return /\boldSelf\b/.test(rule.replace(TOKEN, (whole, ...rest) => ((rest.at(-1) as { text?: string }).text === undefined ? whole : "")));
}
