import { expect, test } from "vitest";
import { createVirtualClock } from "../clock/virtual-clock.ts";
import { createKubeClient } from "../kube-client.ts";
import { createLeaseAccess } from "./lease-access.ts";

test("O-74: a request that nobody answers ends after its own span, and says so in whole milliseconds", async () => {
  const clock = createVirtualClock({ startMs: 0 });
  const silent = createKubeClient(
    { send: () => new Promise(() => {}), stream: () => new Promise(() => {}), close: async () => {} },
    { userAgent: "test" },
  );
  const access = createLeaseAccess({ client: silent, clock, name: "l", namespace: "n", identity: "me", leaseMs: 15_000 });
  const asked = expect(access.look(50_000 / 3)).rejects.toThrow("the Lease n/l was not answered within 16667 ms");
  await clock.advance(16_667);
  await asked;
});
