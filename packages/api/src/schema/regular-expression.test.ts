import { expect, test } from "vitest";
import { compilePattern } from "./regular-expression.ts";

test.each([
  ["^a.c$", "abc", true],
  ["^a.c$", "a\nc", false],
  ["^a.c$", "a\u2028c", true],
  ["(?s)^a.c$", "a\nc", true],
  ["(?i)^abc$", "ABC", true],
  ["^x(?i)abc$", "xABC", true],
  ["^x(?i)abc$", "XABC", false],
  ["^(x(?i)y)z$", "xYz", true],
  ["^(x(?i)y)z$", "xYZ", false],
  ["(?i)a|b", "B", true],
  ["(?P<year>\\d{4})-\\d", "2026-1", true],
  ["\\Aab\\z", "ab", true],
  ["\\Aab\\z", "ab\n", false],
  ["^\\s$", "\u00a0", false],
  ["^\\s$", "\t", true],
  ["^[\\s]$", "\u00a0", false],
  ["^\\S$", "\u00a0", true],
  ["^[[:alpha:]_]+$", "ab_", true],
  ["^[[:alpha:]]+$", "ab1", false],
  ["^[]a]+$", "]a", true],
  ["^[^]a]+$", "b", true],
  ["^[a[]+$", "a[", true],
  ["^a\\-b$", "a-b", true],
  ["^\\p{L}+$", "äb", true],
  ["", "anything", true],
])("RE2 %s on %j: %s", (pattern, text, matches) => {
  expect(compilePattern(pattern).test(text)).toBe(matches);
});

test("what is no pattern throws", () => {
  expect(() => compilePattern("(")).toThrow(SyntaxError);
  expect(() => compilePattern("[a")).toThrow(SyntaxError);
});
