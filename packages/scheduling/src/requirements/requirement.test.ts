import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { Requirement } from "./requirement.ts";
import { requirementItems, requirementText } from "./text.ts";

const K = "example.com/k";
const INT64_MAX = "9223372036854775807";

type Operator = Requirement["operator"] | "Gt" | "Lt" | "Gte" | "Lte";
const r = (operator: Operator, ...values: string[]) => Requirement.of({ key: K, operator, values });
const text = (requirement: Requirement) => requirementText(requirement).slice(K.length + 1);

const anyRequirement: fc.Arbitrary<Requirement> = fc
  .tuple(
    fc.constantFrom<Operator>("In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt", "Gte", "Lte"),
    fc.array(fc.constantFrom("a", "b", "c", "0", "1", "2", "3", "4", "5"), { minLength: 1, maxLength: 4 }),
    fc.nat({ max: 5 }),
    fc.option(fc.integer({ min: 1, max: 3 }), { nil: undefined }),
  )
  .map(([operator, values, bound, minValues]) => {
    const isBound = /^[GL]te?$/.test(operator);
    return Requirement.of({ key: K, operator, values: isBound ? [String(bound)] : values, ...(minValues !== undefined && { minValues }) });
  });
const anySet = fc.array(anyRequirement, { minLength: 1, maxLength: 4 }).map((list) => list.reduce((one, other) => one.intersect(other)));
/** Every value that the generator uses, some beyond, and what stands for "any other text". */
const UNIVERSE = ["a", "b", "c", "zz", ...Array.from({ length: 9 }, (_, n) => String(n - 1))];

describe("intersection", () => {
  const rows: Record<string, Requirement> = {
    Exists: r("Exists"),
    DNE: r("DoesNotExist"),
    "In[1,9]": r("In", "1", "9"),
    "NotIn[1,2]": r("NotIn", "1", "2"),
    "Gt 1": r("Gt", "1"),
    "Lt 9": r("Lt", "9"),
  };
  const DNE = "DoesNotExist";
  const table: Record<string, readonly string[]> = {
    Exists: ["Exists", DNE, "In [1 9]", "NotIn [1 2]", "Exists >=2", "Exists <=8"],
    DNE: [DNE, DNE, DNE, DNE, DNE, DNE],
    "In[1,9]": ["In [1 9]", DNE, "In [1 9]", "In [9]", "In [9]", "In [1]"],
    "NotIn[1,2]": ["NotIn [1 2]", DNE, "In [9]", "NotIn [1 2]", "NotIn [2] >=2", "NotIn [1 2] <=8"],
    "Gt 1": ["Exists >=2", DNE, "In [9]", "NotIn [2] >=2", "Exists >=2", "Exists >=2 <=8"],
    "Lt 9": ["Exists <=8", DNE, "In [1]", "NotIn [1 2] <=8", "Exists >=2 <=8", "Exists <=8"],
  };
  const cases = Object.entries(table).flatMap(([one, results]) =>
    Object.keys(rows).map((other, column) => ({ one, other, result: results[column]! })),
  );
  test.each(cases)("table 3.3: $one ∩ $other = $result", ({ one, other, result }) => {
    expect(text(rows[one]!.intersect(rows[other]!))).toBe(result);
  });

  test.each([
    { rule: "S-34", made: r("NotIn", "A").intersect(r("Gt", "1")), result: "Exists >=2" },
    { rule: "S-34", made: r("In", "A").intersect(r("Gt", "1")), result: "DoesNotExist" },
    { rule: "S-34", made: r("Gt", "9").intersect(r("Lt", "1")), result: "DoesNotExist" },
    { rule: "T8 S-34", made: r("Gt", "4").intersect(r("Gte", "5")), result: "Exists >=5" },
    { rule: "T8 S-34", made: r("Gt", "5").intersect(r("Gte", "5")), result: "Exists >=6" },
    { rule: "T8 S-34", made: r("Lt", "5").intersect(r("Lte", "5")), result: "Exists <=4" },
    { rule: "S-27", made: r("Gt", INT64_MAX), result: "DoesNotExist" },
    { rule: "S-27", made: r("Gte", INT64_MAX), result: `Exists >=${INT64_MAX}` },
  ])("$rule: $result", ({ made, result }) => {
    expect(text(made)).toBe(result);
  });

  test("T8, A-78: the greater minValues survives, even with fewer values", () => {
    const one = Requirement.of({ key: K, operator: "In", values: ["A", "B"], minValues: 2 });
    const other = Requirement.of({ key: K, operator: "In", values: ["A"], minValues: 1 });
    expect(requirementItems(one.intersect(other))).toEqual([{ key: K, operator: "In", values: ["A"], minValues: 2 }]);
  });

  test("S-34: commutative, associative, idempotent", () => {
    fc.assert(
      fc.property(anySet, anySet, anySet, (a, b, c) => {
        expect(a.intersect(b).equals(b.intersect(a))).toBe(true);
        expect(
          a
            .intersect(b)
            .intersect(c)
            .equals(a.intersect(b.intersect(c))),
        ).toBe(true);
        expect(a.intersect(a)).toBe(a);
        expect(a.intersect(b).intersect(b).equals(a.intersect(b))).toBe(true);
      }),
    );
  });

  test("S-30: a value is in both sets when it is in the intersection", () => {
    fc.assert(
      fc.property(anySet, anySet, fc.constantFrom(...UNIVERSE), (a, b, value) => {
        expect(a.intersect(b).has(value)).toBe(a.has(value) && b.has(value));
      }),
    );
  });

  test("S-30, S-144: a value is in one of two sets when it is in their union, which without bounds is the smallest set that has both", () => {
    fc.assert(
      fc.property(anySet, anySet, fc.constantFrom(...UNIVERSE), (a, b, value) => {
        const isInOne = a.has(value) || b.has(value);
        const isIn = a.union(b)?.has(value) ?? true;
        const isBounded = [a, b].some(({ gte, lte }) => gte !== undefined || lte !== undefined);
        expect(isIn).toBe(isBounded ? isIn || isInOne : isInOne);
      }),
    );
  });

  test("S-35: intersects says whether something is left, except where all integers between two bounds are excluded", () => {
    fc.assert(
      fc.property(anySet, anySet, (a, b) => {
        const both = a.intersect(b);
        const isEmpty = both.operator === "DoesNotExist";
        expect(a.intersects(b)).toBe(!isEmpty);
        if (!both.isComplement) expect(isEmpty).toBe(!UNIVERSE.some((value) => both.has(value)));
      }),
    );
    const five = r("Gte", "5").intersect(r("Lte", "5"));
    expect(five.intersects(r("NotIn", "5"))).toBe(true);
  });
});

describe("one requirement", () => {
  test.each([
    { rule: "S-28", key: "beta.kubernetes.io/arch", now: "kubernetes.io/arch" },
    { rule: "S-28", key: "beta.kubernetes.io/os", now: "kubernetes.io/os" },
    { rule: "S-28", key: "beta.kubernetes.io/instance-type", now: "node.kubernetes.io/instance-type" },
    { rule: "S-28", key: "failure-domain.beta.kubernetes.io/zone", now: "topology.kubernetes.io/zone" },
    { rule: "S-28", key: "failure-domain.beta.kubernetes.io/region", now: "topology.kubernetes.io/region" },
  ])("$rule: $key is $now", ({ key, now }) => {
    expect(Requirement.of({ key, operator: "Exists" }).key).toBe(now);
  });

  test.each([
    { rule: "S-29", requirement: r("Gte", "2"), value: "A", has: false },
    { rule: "S-30", requirement: r("NotIn", "A"), value: "B", has: true },
    { rule: "S-30", requirement: r("Gte", "0"), value: "-1", has: false },
    { rule: "S-30", requirement: r("DoesNotExist"), value: "", has: false },
    { rule: "S-30", requirement: r("Exists"), value: "anything", has: true },
    { rule: "S-29", requirement: r("Lte", "7"), value: "007", has: true },
  ])("$rule: has $value is $has", ({ requirement, value, has }) => {
    expect(requirement.has(value)).toBe(has);
  });

  test.each([
    { requirement: r("Gt", "1"), operator: "Exists", allowsAbsence: false },
    { requirement: r("NotIn", "5"), operator: "NotIn", allowsAbsence: true },
    { requirement: r("NotIn", "5").intersect(r("NotIn", "6")), operator: "NotIn", allowsAbsence: true },
    { requirement: r("Gt", "1").intersect(r("NotIn", "5")), operator: "NotIn", allowsAbsence: false },
    { requirement: r("NotIn", "5").intersect(r("Exists")), operator: "NotIn", allowsAbsence: false },
    { requirement: r("NotIn", "5").intersect(r("Exists")).intersect(r("NotIn", "6")), operator: "NotIn", allowsAbsence: false },
    { requirement: r("In", "a"), operator: "In", allowsAbsence: false },
    { requirement: r("DoesNotExist"), operator: "DoesNotExist", allowsAbsence: true },
  ])("S-31: $operator", ({ requirement, operator, allowsAbsence }) => {
    expect(requirement.operator).toBe(operator);
    expect(requirement.allowsAbsence).toBe(allowsAbsence);
  });

  test.each([
    { requirement: r("Lte", "0"), value: "0" },
    { requirement: r("Lt", "0"), value: undefined },
    { requirement: r("DoesNotExist"), value: undefined },
    { requirement: r("NotIn", "0", "1"), value: "2" },
    { requirement: r("Gt", "5"), value: "6" },
    { requirement: r("In", "b", "a"), value: "a" },
  ])("S-33: some value, $value", ({ requirement, value }) => {
    expect(requirement.anyValue()).toBe(value);
  });

  test("S-33: the value that is made up is allowed", () => {
    fc.assert(
      fc.property(anySet, (set) => {
        const value = set.anyValue();
        if (value !== undefined) expect(set.has(value)).toBe(true);
      }),
    );
  });

  test.each([
    { requirement: r("In", "9", "1"), result: "In [1 9]" },
    { requirement: r("In", "a", "b", "c", "d", "e", "f", "g"), result: "In [a b c d e and 2 others]" },
    { requirement: Requirement.of({ key: K, operator: "Exists", minValues: 2 }), result: "Exists minValues 2" },
  ])("S-37: $result", ({ requirement, result }) => {
    expect(text(requirement)).toBe(result);
  });
});

describe("serialisation", () => {
  test.each([
    { requirement: r("Gt", "1"), items: [{ key: K, operator: "Gte", values: ["2"] }] },
    { requirement: r("Lt", "9"), items: [{ key: K, operator: "Lte", values: ["8"] }] },
    { requirement: r("NotIn", "b", "a"), items: [{ key: K, operator: "NotIn", values: ["a", "b"] }] },
    { requirement: r("DoesNotExist"), items: [{ key: K, operator: "DoesNotExist" }] },
    {
      requirement: Requirement.of({ key: K, operator: "Gte", values: ["2"], minValues: 3 }).intersect(r("Lte", "8")),
      items: [
        { key: K, operator: "Gte", values: ["2"], minValues: 3 },
        { key: K, operator: "Lte", values: ["8"], minValues: 3 },
      ],
    },
  ])("S-36, A-74: $items", ({ requirement, items }) => {
    expect(requirementItems(requirement)).toEqual(items);
  });

  test("S-36, better: items and back, nothing is lost", () => {
    fc.assert(
      fc.property(anySet, (set) => {
        const back = requirementItems(set)
          .map((item) => Requirement.of(item))
          .reduce((one, other) => one.intersect(other));
        expect(back.equals(set)).toBe(true);
      }),
    );
  });
});
