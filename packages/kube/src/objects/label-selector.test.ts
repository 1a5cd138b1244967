import fc from "fast-check";
import { expect, test } from "vitest";
import { formatLabelSelector, matchesLabelSelector, matchesTerms, parseLabelSelector, type SelectorTerm } from "./label-selector.ts";

const labels = { app: "web", tier: "front", replicas: "3", empty: "", "example.com/zone": "a" };

test.each([
  ["", true],
  ["app=web", true],
  ["app==web,tier=front", true],
  ["app=web,tier=back", false],
  ["app!=api", true],
  ["missing!=x", true],
  ["app in (api, web)", true],
  ["app in (api)", false],
  ["app notin (api, web)", false],
  ["missing notin (x)", true],
  ["app", true],
  ["!app", false],
  ["!missing", true],
  ["!constructor", true],
  ["replicas>2", true],
  ["replicas > 3", false],
  ["replicas<4", true],
  ["app>1", false],
  ["empty=", true],
  ["app=", false],
  ["empty in (,x)", true],
  ["example.com/zone=a", true],
  [" app = web , ! missing ", true],
])("the selector %j: %s", (text, verdict) => {
  expect(matchesTerms(parseLabelSelector(text), labels)).toBe(verdict);
});

test.each([
  ["app=web,", "wanted a label key"],
  ["=web", "wanted a label key"],
  ["app in web", 'wanted "("'],
  ["app in (web", 'wanted "," or ")"'],
  ["app web", "wanted an operator or a comma"],
  ["app>many", "wanted a whole number"],
  ["-app=web", "is no label key"],
  ["UPPER.com/app", "is no label key"],
  [`app=${"x".repeat(64)}`, "is no label value"],
  ["app=a=b", 'wanted ","'],
])("the selector %j is refused: %s", (text, message) => {
  expect(() => parseLabelSelector(text)).toThrow(message);
});

test.each([
  { selector: undefined, verdict: false },
  { selector: {}, verdict: true },
  { selector: { matchLabels: { app: "web" } }, verdict: true },
  {
    selector: { matchLabels: { app: "web" }, matchExpressions: [{ key: "tier", operator: "NotIn" as const, values: ["front"] }] },
    verdict: false,
  },
  { selector: { matchExpressions: [{ key: "missing", operator: "NotIn" as const, values: ["x"] }] }, verdict: true },
  { selector: { matchExpressions: [{ key: "app", operator: "Exists" as const }] }, verdict: true },
  { selector: { matchExpressions: [{ key: "toString", operator: "Exists" as const }] }, verdict: false },
  { selector: { matchExpressions: [{ key: "app", operator: "DoesNotExist" as const }] }, verdict: false },
])("the selector object $selector: $verdict", ({ selector, verdict }) => {
  expect(matchesLabelSelector(selector, labels)).toBe(verdict);
});

test("text and terms tell the same", () => {
  const word = fc.constantFrom("a", "b-c", "example.com/d", "in", "notin", "e_f.g");
  const value = fc.constantFrom("x", "y", "1", "in");
  const term: fc.Arbitrary<SelectorTerm> = fc.oneof(
    fc.record({ key: word, operator: fc.constantFrom("In" as const, "NotIn" as const), values: fc.uniqueArray(value, { minLength: 1 }) }),
    fc.record({ key: word, operator: fc.constantFrom("Exists" as const, "DoesNotExist" as const), values: fc.constant<string[]>([]) }),
    fc.record({ key: word, operator: fc.constantFrom("Gt" as const, "Lt" as const), values: fc.constant(["7"]) }),
  );
  fc.assert(
    fc.property(fc.uniqueArray(term, { selector: ({ key }) => key, maxLength: 4 }), (terms) => {
      const text = formatLabelSelector(terms);
      const sorted = [...terms].sort((a, b) => (a.key < b.key ? -1 : 1)).map((one) => ({ ...one, values: [...one.values].sort() }));
      expect(parseLabelSelector(text)).toEqual(sorted);
    }),
  );
});
