import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { meetsRequirements } from "./node-labels.ts";
import { Requirement } from "./requirement.ts";
import { Requirements } from "./requirements.ts";
import { requirementsText } from "./text.ts";

const ZONE = "topology.kubernetes.io/zone";
const WELL_KNOWN = new Set([ZONE]);

type Operator = Requirement["operator"] | "Gt" | "Lt";
const on = (key: string, operator: Operator, ...values: string[]) => Requirements.of(Requirement.of({ key, operator, values }));

describe("compatibility", () => {
  const columns: Record<string, Requirements> = {
    undefined: Requirements.empty,
    Exists: on(ZONE, "Exists"),
    DoesNotExist: on(ZONE, "DoesNotExist"),
    "In[A]": on(ZONE, "In", "A"),
    "NotIn[A]": on(ZONE, "NotIn", "A"),
    "Gt 1": on(ZONE, "Gt", "1"),
    "Lt 1": on(ZONE, "Lt", "1"),
  };
  const table: Record<string, string> = {
    undefined: "✓✓✓✓✓✓✓",
    Exists: "✓✓✗✓✓✓✓",
    DoesNotExist: "✓✗✓✗✓✗✗",
    "In[A]": "✓✓✗✓✗✗✗",
    "NotIn[A]": "✓✓✓✗✓✓✓",
    "Gt 1": "✓✓✗✗✓✓✗",
    "Lt 1": "✓✓✗✗✓✗✓",
  };
  const strictTable: Record<string, string> = { ...table, undefined: "✓✗✓✗✓✗✗" };
  const cases = Object.keys(columns).flatMap((existing) =>
    Object.keys(columns).map((incoming, column) => ({ existing, incoming, column })),
  );

  test.each(cases)("table 3.3: existing $existing, incoming $incoming", ({ existing, incoming, column }) => {
    const [one, other] = [columns[existing]!, columns[incoming]!];
    expect(one.isCompatible(other, WELL_KNOWN)).toBe([...table[existing]!][column] === "✓");
    expect(one.isCompatible(other)).toBe([...strictTable[existing]!][column] === "✓");
    expect(one.incompatibilities(other, WELL_KNOWN).length === 0).toBe(one.isCompatible(other, WELL_KNOWN));
    expect(one.incompatibilities(other).length === 0).toBe(one.isCompatible(other));
  });

  test.each([
    { rule: "S-40", existing: Requirements.empty, incoming: on("foo", "In", "a"), lenient: false, strict: false },
    { rule: "S-40", existing: Requirements.empty, incoming: on("foo", "NotIn", "a"), lenient: true, strict: true },
    { rule: "S-40", existing: Requirements.empty, incoming: on(ZONE, "In", "a"), lenient: true, strict: false },
    { rule: "S-40", existing: on(ZONE, "DoesNotExist"), incoming: on(ZONE, "In", "a"), lenient: false, strict: false },
    { rule: "S-41", existing: on("foo", "DoesNotExist"), incoming: on("foo", "NotIn", "a"), lenient: true, strict: true },
    { rule: "S-41", existing: on("foo", "Exists"), incoming: on("foo", "DoesNotExist"), lenient: false, strict: false },
    { rule: "S-45", existing: Requirements.empty, incoming: on("foo", "In", "a").and(on("foo", "In", "b")), lenient: true, strict: true },
  ])("$rule", ({ existing, incoming, lenient, strict }) => {
    expect(existing.isCompatible(incoming, WELL_KNOWN)).toBe(lenient);
    expect(existing.isCompatible(incoming)).toBe(strict);
  });

  test.each([
    { key: "zone", mayBeUndefined: WELL_KNOWN, typoOf: ZONE },
    { key: "node.io/zone", mayBeUndefined: WELL_KNOWN, typoOf: ZONE },
    { key: "deployment", mayBeUndefined: new Set<string>(), typoOf: undefined },
  ])("T9, S-42: $key is a typo of $typoOf", ({ key, mayBeUndefined, typoOf }) => {
    expect(Requirements.empty.incompatibilities(on(key, "Exists"), mayBeUndefined)).toEqual([
      { kind: "undefined-label", key, ...(typoOf !== undefined && { typoOf }) },
    ]);
  });

  test("S-43: one cause for each key", () => {
    const existing = on("a", "In", "1").and(on("b", "In", "1"));
    const causes = existing.incompatibilities(on("b", "In", "2").and(on("a", "In", "2")));
    expect(causes).toEqual([
      { kind: "no-common-value", key: "a", wanted: "a In [2]", offered: "a In [1]" },
      { kind: "no-common-value", key: "b", wanted: "b In [2]", offered: "b In [1]" },
    ]);
  });
});

describe("sets", () => {
  const anySet = fc
    .array(
      fc.tuple(
        fc.constantFrom("x", "y", ZONE),
        fc.constantFrom<Operator>("In", "NotIn", "Exists", "DoesNotExist"),
        fc.subarray(["a", "b", "c"], { minLength: 1 }),
      ),
      { maxLength: 4 },
    )
    .map((items) => Requirements.fromItems(items.map(([key, operator, values]) => ({ key, operator, values }))));

  test("S-38: and is commutative, associative, idempotent, and keeps the object when nothing changes", () => {
    fc.assert(
      fc.property(anySet, anySet, anySet, (a, b, c) => {
        expect(a.and(b).canonicalText).toBe(b.and(a).canonicalText);
        expect(a.and(b).and(c).canonicalText).toBe(a.and(b.and(c)).canonicalText);
        expect(a.and(a)).toBe(a);
        const both = a.and(b);
        expect(both.and(b)).toBe(both);
      }),
    );
  });

  test("S-36: items and back", () => {
    fc.assert(
      fc.property(anySet, (set) => {
        expect(Requirements.fromItems(set.toItems()).canonicalText).toBe(set.canonicalText);
      }),
    );
  });

  test("S-41: narrowing never makes compatible what was not, except by defining a label", () => {
    fc.assert(
      fc.property(anySet, anySet, anySet, (existing, more, incoming) => {
        fc.pre([...more].every(({ key }) => existing.find(key) !== undefined));
        if (existing.and(more).intersects(incoming)) {
          const shared = [...incoming].every(
            ({ key, allowsAbsence }) =>
              allowsAbsence || existing.find(key) === undefined || existing.find(key)!.intersects(incoming.find(key)!),
          );
          expect(shared).toBe(true);
        }
      }),
    );
  });

  test("S-40 on a node's labels, as if each were a requirement", () => {
    const labels = fc.dictionary(fc.constantFrom("x", "y", ZONE, "failure-domain.beta.kubernetes.io/zone"), fc.constantFrom("a", "b"));
    fc.assert(
      fc.property(labels, anySet, (present, wanted) => {
        fc.pre(present[ZONE] === undefined || present["failure-domain.beta.kubernetes.io/zone"] === undefined);
        expect(meetsRequirements(present, wanted)).toBe(Requirements.fromLabels(present).isCompatible(wanted));
      }),
    );
  });

  test("S-37: printed in order of the text, without the hostname", () => {
    const set = on("b", "Exists")
      .and(on("a", "In", "2", "1"))
      .and(on("kubernetes.io/hostname", "In", "h"));
    expect(requirementsText(set)).toBe("a In [1 2], b Exists");
  });
});
