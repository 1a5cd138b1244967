import { expect, test } from "vitest";
import type { Subnet } from "../ec2/ec2-port.ts";
import { stubPort } from "../ec2/stub-port.test-support.ts";
import { selectSecurityGroups, selectSubnets, subnetStatus } from "./selected-network.ts";

const subnet = (SubnetId: string, AvailableIpAddressCount: number): Subnet => ({
  SubnetId,
  AvailabilityZone: "a",
  AvailabilityZoneId: "a1",
  AvailableIpAddressCount,
});

test("T-1: subnets by free addresses, then by ID", async () => {
  const { ec2 } = stubPort({ describeSubnets: () => ({ Subnets: [subnet("a", 20), subnet("b", 100), subnet("d", 50), subnet("c", 50)] }) });
  const subnets = await selectSubnets(ec2, [{ tags: { any: "*" } }]);
  expect(subnetStatus(subnets).map(({ id }) => id)).toEqual(["b", "c", "d", "a"]);
});

test("T-3: two queries; an empty page does not end the walk; each subnet once", async () => {
  const { ec2, calls } = stubPort({
    describeSubnets: ({ Filters = [], NextToken }) => {
      if (Filters[0]?.Name === "subnet-id") return { Subnets: [subnet("s1", 1), subnet("s2", 1)] };
      return NextToken === undefined ? { Subnets: [], NextToken: "2" } : { Subnets: [subnet("s2", 1), subnet("s3", 1)] };
    },
  });
  const subnets = await selectSubnets(ec2, [{ id: "s1" }, { id: "s2" }, { tags: { team: "a" } }]);
  expect(subnets.map(({ SubnetId }) => SubnetId)).toEqual(["s1", "s2", "s3"]);
  expect(calls.map(({ request }) => request)).toEqual([
    { Filters: [{ Name: "subnet-id", Values: ["s1", "s2"] }], MaxResults: 500 },
    { Filters: [{ Name: "tag:team", Values: ["a"] }], MaxResults: 500 },
    { Filters: [{ Name: "tag:team", Values: ["a"] }], MaxResults: 500, NextToken: "2" },
  ]);
});

test("W-331: groups by ID, by name and by tags are three questions", async () => {
  const { ec2, calls } = stubPort({ describeSecurityGroups: () => ({ SecurityGroups: [{ GroupId: "sg-1", GroupName: "one" }] }) });
  const groups = await selectSecurityGroups(ec2, [{ id: "sg-1" }, { name: "one" }, { name: "two" }, { tags: { a: "*" } }]);
  expect(groups).toHaveLength(1);
  expect(calls.map(({ request }) => (request as { Filters: unknown }).Filters)).toEqual([
    [{ Name: "group-id", Values: ["sg-1"] }],
    [{ Name: "group-name", Values: ["one", "two"] }],
    [{ Name: "tag-key", Values: ["a"] }],
  ]);
});

test("W-330: no terms, no question", async () => {
  const { ec2, calls } = stubPort({});
  expect(await selectSubnets(ec2, [])).toEqual([]);
  expect(calls).toEqual([]);
});
