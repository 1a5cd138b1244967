/** No false alarms: the findings on the examples of the documentation, each reviewed and true. All else in them is as it should be. */
import { existsSync, readdirSync } from "node:fs";
import { join, relative } from "node:path";
import { expect, test } from "vitest";
import { runJoinery } from "../plan/run-joinery.ts";
import { findingsOf } from "./lint-joinery.ts";

const REVIEWED: Readonly<Record<string, readonly string[]>> = {
  // The example shows the taint alone; Cilium's DaemonSet, which takes it away, is not part of it.
  "17-startup-taints": ["note startup-taint-stays NodePool/cilium"],
  // Made to have no place, each Deployment for another reason.
  "20-unschedulable": [
    "error missing-toleration Deployment/no-toleration",
    "error unknown-label Deployment/misspelt-label",
    "error request-too-large Deployment/too-big",
    "error unschedulable-workload Deployment/wrong-architecture",
  ],
  "26-pool-not-ready": ["warning node-class-not-ready NodePool/broken"],
};

const examples = join(import.meta.dirname, "../../docs/examples");
const names = readdirSync(examples).filter((name) => existsSync(join(examples, name, "manifests")));

test.each(names)("%s", async (name) => {
  const folder = join(examples, name);
  const catalog = existsSync(join(folder, "catalog.json")) ? ["--catalog", join(folder, "catalog.json")] : ["--region", "us-east-1"];
  const run = await runJoinery(["lint", relative(process.cwd(), join(folder, "manifests")), ...catalog, "-o", "json"]);
  expect(run.err).toBe("");
  expect(findingsOf(run).map(({ severity, rule, object }) => `${severity} ${rule} ${object}`)).toEqual(REVIEWED[name] ?? []);
});
