import fc from "fast-check";
import { expect, test } from "vitest";
import { formatFieldSelector, matchesFields, parseFieldSelector, readField } from "./field-selector.ts";

const pod = { metadata: { name: "a", namespace: "default" }, spec: { nodeName: "n,1", hostNetwork: true, containers: [] } };

test.each([
  ["", true],
  ["metadata.name=a", true],
  ["metadata.name==a,", true],
  ["!=,metadata.name=a,=", true],
  ["metadata.name!=a", false],
  ["spec.nodeName=n\\,1", true],
  ["spec.nodeName!=", true],
  ["status.phase=", true],
  ["spec.hostNetwork=true", true],
  ["metadata.name=a,status.phase!=Running", true],
])("the selector %j: %s", (text, verdict) => {
  expect(matchesFields(parseFieldSelector(text), (field) => readField(pod, field))).toBe(verdict);
});

test.each(["metadata.name", "=a", "a=b=c", "a=b\\x", "a=b\\"])("the selector %j is refused", (text) => {
  expect(() => parseFieldSelector(text)).toThrow("Cannot parse field selector");
});

test("text and terms tell the same, whatever the value", () => {
  fc.assert(
    fc.property(fc.array(fc.record({ field: fc.constantFrom("a.b", "c"), isEqual: fc.boolean(), value: fc.string() })), (terms) => {
      expect(parseFieldSelector(formatFieldSelector(terms))).toEqual(terms);
    }),
  );
});
