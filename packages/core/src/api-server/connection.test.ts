import { type ApiRequest, createVirtualClock, type Transport } from "@joinery/kube";
import { expect, test } from "vitest";
import { silentLogger } from "../logger.ts";
import { createMetricsRegistry } from "../metrics/prometheus.ts";
import { type ConnectionOptions, connect } from "./connection.ts";

function connected(options: Partial<ConnectionOptions> = {}, version?: string) {
  const clock = createVirtualClock({ startMs: 0 });
  const requests: ApiRequest[] = [];
  const transport: Transport = {
    async send(request) {
      requests.push(request);
      return { status: 200, body: {} };
    },
    stream: () => new Promise(() => {}),
    close: async () => {},
  };
  return {
    clock,
    requests,
    ...connect({ transport, ...options }, { clock, log: silentLogger, registry: createMetricsRegistry(), version }),
  };
}

test.each([
  ["1.2.3", "karpenter/1.2.3"],
  [undefined, "karpenter"],
])("O-62: version %s calls itself %s, also where the Lease is meant", async (version, userAgent) => {
  const { kube, leaseKube, requests } = connected({}, version);
  await kube.raw("/a");
  await leaseKube.raw("/b");
  expect(requests.map((request) => request.userAgent)).toEqual([userAgent, userAgent]);
});

test("O-12, O-13, O-62, O-66: what the loops may ask is limited, what the Lease needs is not", async () => {
  const { kube, leaseKube, requests, clock } = connected({ requestLimit: { perSecond: 1, burst: 2 } });
  for (let n = 0; n < 4; n++) void kube.raw("/loops");
  for (let n = 0; n < 4; n++) void leaseKube.raw("/lease");
  await clock.settle();
  const paths = () => requests.map(({ path }) => path).sort();
  expect(paths()).toEqual([...Array(4).fill("/lease"), ...Array(2).fill("/loops")]);
  await clock.advance(2000);
  expect(paths()).toEqual([...Array(4).fill("/lease"), ...Array(4).fill("/loops")]);
});
