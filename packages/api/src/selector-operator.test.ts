import { expect, test } from "vitest";
import { operatorHolds } from "./selector-operator.ts";

test.each([
  ["In", "a", ["a", "b"], true],
  ["In", "c", ["a", "b"], false],
  ["In", undefined, ["a"], false],
  ["NotIn", "c", ["a"], true],
  ["NotIn", "a", ["a"], false],
  ["NotIn", undefined, ["a"], true],
  ["Exists", "", [], true],
  ["Exists", undefined, [], false],
  ["DoesNotExist", undefined, [], true],
  ["DoesNotExist", "a", [], false],
  ["Gt", "9007199254740993", ["9007199254740992"], true],
  ["Gt", "4", ["4"], false],
  ["Gte", "+4", ["4"], true],
  ["Lt", "-1", ["0"], true],
  ["Lte", "5", ["4"], false],
  ["Lt", "four", ["5"], false],
  ["Lt", undefined, ["5"], false],
  ["Gt", "4", [], false],
] as const)("%s: %j against %j is %s", (operator, value, values, holds) => {
  expect(operatorHolds(operator, value, values)).toBe(holds);
});
