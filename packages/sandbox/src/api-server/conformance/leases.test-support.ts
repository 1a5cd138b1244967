/** Leases: their times and their rules. */
import { describe, expect, test } from "vitest";
import type { Meta, Suite } from "./desk.test-support.ts";
import { merge, type Value } from "./samples.test-support.ts";

export function describeLeases({ name, desk }: Suite): void {
  describe(`${name}: leases`, () => {
    test("keep microseconds, and of two who read the same version one may write", async () => {
      const here = await desk();
      const leases = here.path("coordination.k8s.io/v1 leases");
      const lease = (holderIdentity: string, renewTime: string, metadata: Value = {}) => ({
        apiVersion: "coordination.k8s.io/v1",
        kind: "Lease",
        metadata: { name: "l", ...metadata },
        spec: { holderIdentity, renewTime, acquireTime: renewTime, leaseDurationSeconds: 15, leaseTransitions: 0 },
      });
      const made = (await here.ask("POST", leases, lease("a", "2026-01-01T00:00:00.123456Z"))).body as Meta & { spec: Value };
      expect(made.spec).toMatchObject({ renewTime: "2026-01-01T00:00:00.123456Z", holderIdentity: "a", leaseDurationSeconds: 15 });
      const { resourceVersion } = made.metadata;
      const first = await here.ask("PUT", `${leases}/l`, lease("b", "2026-01-01T00:00:16.000000Z", { resourceVersion }));
      const second = await here.ask("PUT", `${leases}/l`, lease("c", "2026-01-01T00:00:16.000001Z", { resourceVersion }));
      expect([first.status, second.status]).toEqual([200, 409]);
      expect((second.body as { message: string }).message).toBe(
        'Operation cannot be fulfilled on leases.coordination.k8s.io "l": the object has been modified; please apply your changes to the latest version and try again',
      );
      const now = (await here.ask("GET", `${leases}/l`)).body as { spec: Value };
      expect(now.spec.holderIdentity).toBe("b");
      const wrong = await here.ask("PUT", `${leases}/l`, { ...lease("d", "soon"), metadata: { name: "l" } });
      expect([wrong.status, (wrong.body as { message: string }).message]).toEqual([
        400,
        'Lease in version "v1" cannot be handled as a Lease: parsing time "soon" as "2006-01-02T15:04:05.000000Z07:00": cannot parse "soon" as "2006"',
      ]);
      const negative = { spec: { leaseDurationSeconds: 0 } };
      const refused = await here.ask("PATCH", `${leases}/l`, negative, { contentType: merge });
      expect([refused.status, (refused.body as { message: string }).message]).toEqual([
        422,
        'Lease.coordination.k8s.io "l" is invalid: spec.leaseDurationSeconds: Invalid value: 0: must be greater than 0',
      ]);
    });
  });
}
