/**
 * What an API server must do, asked through a `Transport`, so that the same suite can be run against a real one.
 * Each case works in a namespace of its own and leaves nothing behind that another case would see.
 */
import type { Transport } from "@joinery/kube";
import { describeCustomResources } from "./custom-resources.test-support.ts";
import { describeDeletion } from "./deletion-and-subresources.test-support.ts";
import { openDesk, type Suite } from "./desk.test-support.ts";
import { describeEvents } from "./events.test-support.ts";
import { describeLeases } from "./leases.test-support.ts";
import { describePatches } from "./patches.test-support.ts";
import { describeAdmission } from "./refusals-and-defaults.test-support.ts";
import { describeTables } from "./tables.test-support.ts";
import { describeReading } from "./versions-and-selectors.test-support.ts";
import { describeWorkloads } from "./workloads.test-support.ts";

/** @param open gives a way to the server under test; called once per case */
export function describeApiServer(name: string, prefix: string, open: () => Promise<Transport> | Transport): void {
  const suite: Suite = { name, desk: async () => openDesk(await open(), prefix) };
  describeAdmission(suite);
  describeReading(suite);
  describePatches(suite);
  describeDeletion(suite);
  describeWorkloads(suite);
  describeCustomResources(suite);
  describeLeases(suite);
  describeEvents(suite);
  describeTables(suite);
}
