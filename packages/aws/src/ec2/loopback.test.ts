import type { ApiRequest } from "@joinery/kube";
import { expect, test } from "vitest";
import { AwsError } from "./aws-error.ts";
import { createHttpEc2Port, handleEc2Request } from "./loopback.ts";
import { type Stubs, stubPort } from "./stub-port.test-support.ts";

/** Both halves, with JSON between them. */
function overLoopback(stubs: Stubs) {
  const { ec2 } = stubPort(stubs);
  const send = async (request: ApiRequest) => {
    const answer = await handleEc2Request(ec2, JSON.parse(JSON.stringify(request)) as ApiRequest);
    return JSON.parse(JSON.stringify(answer)) as { status: number; body: unknown };
  };
  return createHttpEc2Port({ send });
}

test("a call and its answer go through", async () => {
  const port = overLoopback({ getParameter: ({ Name }) => ({ Parameter: { Name, Value: "ami-1" } }) });
  expect(await port.getParameter({ Name: "/a" })).toEqual({ Parameter: { Name: "/a", Value: "ami-1" } });
});

test.each(["client", "server", "network"] as const)("a refusal of fault %s keeps code and message", async (fault) => {
  const port = overLoopback({
    terminateInstances() {
      throw new AwsError("RequestLimitExceeded", "slow down", fault);
    },
  });
  await expect(port.terminateInstances({ InstanceIds: [] })).rejects.toMatchObject({
    code: "RequestLimitExceeded",
    message: "RequestLimitExceeded: slow down",
    fault,
  });
});

test("silence is a fault of the network, and so is an answer that is none", async () => {
  const silent = createHttpEc2Port({ send: () => Promise.reject(new Error("ECONNREFUSED")) });
  await expect(silent.describeSubnets({})).rejects.toMatchObject({ code: "NetworkingError", fault: "network" });
  const broken = createHttpEc2Port({ send: async () => ({ status: 502, body: "<html>" }) });
  await expect(broken.describeSubnets({})).rejects.toMatchObject({ code: "NetworkingError", fault: "network" });
});

test.each([
  { path: "/api/v1/pods", status: undefined },
  { path: "/ec2/dropTables", status: 404 },
])("$path is answered with $status", async ({ path, status }) => {
  const answer = await handleEc2Request(stubPort({}).ec2, { method: "POST", path, body: {} });
  expect(answer?.status).toBe(status);
});
