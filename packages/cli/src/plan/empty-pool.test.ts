import type { NodePool } from "@joinery/api";
import { expect, test } from "vitest";
import { droppedPoolText, emptyPoolText } from "./empty-pool.ts";

const ZONE = "topology.kubernetes.io/zone";
const ARCH = "kubernetes.io/arch";
const FAMILY = "karpenter.k8s.aws/instance-family";

const isIn = (key: string, ...values: readonly string[]) => ({ key, operator: "In", values });
const offeringIn = (zone: string, isAvailable = true) => ({ requirements: [isIn(ZONE, zone)], priceUsdPerHour: 1, isAvailable });
const typeOf = (family: string, arch: string) => ({
  name: `${family}.large`,
  requirements: [isIn(FAMILY, family), isIn(ARCH, arch), isIn(ZONE, "us-east-1a", "us-east-1c")],
  capacity: {},
  overhead: { kubeReserved: {}, systemReserved: {}, evictionThreshold: {} },
  offerings: [offeringIn("us-east-1a"), offeringIn("us-east-1c", false)],
});
const catalogue = {
  source: "the catalogue",
  types: [typeOf("m6i", "amd64"), typeOf("c6i", "amd64"), typeOf("m6g", "arm64")],
  regions: ["eu-west-1", "us-east-1"],
} as unknown as Parameters<typeof emptyPoolText>[1];
const poolOf = (requirements: readonly object[], labels?: Readonly<Record<string, string>>) =>
  ({ metadata: { name: "p" }, spec: { template: { metadata: { labels }, spec: { requirements } } } }) as unknown as NodePool;

test.each([
  {
    name: "a mistyped value",
    items: [isIn(FAMILY, "mi6")],
    says: `${FAMILY} In [mi6]; did you mean m6i? Else for types of elsewhere give --catalog FILE`,
  },
  {
    name: "a value far from all",
    items: [isIn(FAMILY, "p5en")],
    says: `${FAMILY} In [p5en]; there are c6i, m6g and m6i; for types of elsewhere give --catalog FILE`,
  },
  {
    name: "a zone of another region",
    items: [isIn(ZONE, "eu-west-1a")],
    says: `${ZONE} In [eu-west-1a]; for types of there give --region eu-west-1`,
  },
  {
    name: "a zone in which nothing is to be had, which was not mistyped",
    items: [isIn(ZONE, "us-east-1c")],
    says: `${ZONE} In [us-east-1c]; there are us-east-1a; for types of elsewhere give --catalog FILE`,
  },
  {
    name: "two that conflict, among others that do not",
    items: [isIn(ZONE, "us-east-1a"), isIn(FAMILY, "m6g"), isIn(ARCH, "amd64")],
    says: `${FAMILY} In [m6g] and ${ARCH} In [amd64] together; beside ${FAMILY} In [m6g], ${ARCH} can be arm64`,
  },
  {
    name: "one that conflicts with a label of the template",
    items: [isIn(FAMILY, "m6g")],
    labels: { [ARCH]: "amd64", team: "a" },
    says: `${FAMILY} In [m6g] and ${ARCH} In [amd64] together; beside ${FAMILY} In [m6g], ${ARCH} can be arm64`,
  },
])("S-64: which requirement leaves no type, and what to write instead: $name", ({ items, labels, says }) => {
  expect(emptyPoolText(poolOf(items, labels), catalogue)).toBe(`no instance type of the catalogue is to be had with ${says}`);
});

test("S-64: requirements that leave types are not to blame", () => {
  expect(emptyPoolText(poolOf([isIn(ARCH, "amd64")]), catalogue)).toBeUndefined();
  const reason = { kind: "no-offering", nodePool: "p", message: "something else" } as const;
  expect(droppedPoolText(poolOf([isIn(ARCH, "amd64")]), reason, catalogue)).toBe("something else");
});

test.each([
  { found: 2, write: "write minValues: 2 or less" },
  { found: 0, write: "leave minValues out" },
])("S-57: too few different values are told with how many there are: $found", ({ found, write }) => {
  const reason = { kind: "min-values", nodePool: "p", labels: [{ key: FAMILY, wanted: 5, found }] } as const;
  expect(droppedPoolText(poolOf([]), reason, catalogue)).toBe(
    `its instance types have ${found} different values of ${FAMILY}, and minValues asks for 5; ${write}, or requirements that leave more types, or plan with --min-values-policy BestEffort`,
  );
});
