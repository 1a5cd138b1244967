/** Wildcards as AWS has them in filters and in Fargate selectors (F-19): `*` is any run of characters, none included; `?` exactly one. */
export function matchesWildcard(pattern: string, text: string): boolean {
  if (!/[*?]/.test(pattern)) return text === pattern;
  const source = pattern
    .replace(/[.+^${}()|[\]\\]/g, "\\$&")
    .replaceAll("*", ".*")
    .replaceAll("?", ".");
  return new RegExp(`^${source}$`, "s").test(text);
}
