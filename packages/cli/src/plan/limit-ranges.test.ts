import type { ResourceRequirements } from "@joinery/api";
import { expect, test } from "vitest";
import { admittedSpec, containerDefaults } from "./limit-ranges.ts";

const range = (...limits: object[]) => [{ metadata: { name: "r" }, spec: { limits: limits as never } }];

test.each<{
  name: string;
  range: ReturnType<typeof range>;
  given?: ResourceRequirements;
  requests: object | undefined;
  limits: object | undefined;
}>([
  { name: "no LimitRange", range: [], requests: undefined, limits: undefined },
  { name: "S-51: limits become requests", range: [], given: { limits: { cpu: "1" } }, requests: { cpu: "1" }, limits: { cpu: "1" } },
  {
    name: "both defaults",
    range: range({ type: "Container", default: { cpu: "1" }, defaultRequest: { cpu: "500m" } }),
    requests: { cpu: "500m" },
    limits: { cpu: "1" },
  },
  {
    name: "the default limit is the default request",
    range: range({ type: "Container", default: { cpu: "1" } }),
    requests: { cpu: "1" },
    limits: { cpu: "1" },
  },
  {
    name: "the maximum is the default limit",
    range: range({ type: "Container", max: { cpu: "2" } }),
    requests: { cpu: "2" },
    limits: { cpu: "2" },
  },
  {
    name: "the minimum is the default request",
    range: range({ type: "Container", min: { cpu: "100m" } }),
    requests: { cpu: "100m" },
    limits: {},
  },
  {
    name: "what the container says wins",
    range: range({ type: "Container", default: { cpu: "1" } }),
    given: { requests: { cpu: "200m" }, limits: { cpu: "300m" } },
    requests: { cpu: "200m" },
    limits: { cpu: "300m" },
  },
  {
    name: "other types say nothing about containers",
    range: range({ type: "Pod", max: { cpu: "2" } }),
    requests: undefined,
    limits: undefined,
  },
])("$name", ({ range: ranges, given, requests, limits }) => {
  const [container] = admittedSpec(
    { containers: [{ name: "c", ...(given && { resources: given }) }] },
    containerDefaults(ranges),
  ).containers;
  expect(container?.resources?.requests).toEqual(requests);
  expect(container?.resources?.limits).toEqual(limits);
});
