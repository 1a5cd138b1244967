// Runs the suites that need a real control plane: builds what is missing, starts it on loopback, runs vitest, stops it.
// Which control plane: see control-plane/processes.ts.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { runVitest } from "../run-vitest.mjs";
import { controlPlaneAssets, startControlPlane } from "./control-plane/processes.ts";

const assets = assetsOrExit();
const work = mkdtempSync(join(tmpdir(), "joinery-kubernetes-"));
let status = 1;
let controlPlane;
try {
  controlPlane = await startControlPlane(work, { assets });
  status = await runVitest("test/kubernetes/vitest.config.ts", {
    ...process.env,
    KUBEBUILDER_ASSETS: assets,
    KUBECONFIG: controlPlane.kubeconfig,
    REAL_CLUSTER_DIR: work,
  });
} finally {
  controlPlane?.stop();
  if (status === 0) rmSync(work, { recursive: true, force: true });
  else console.error(`logs of the control plane: ${work}`);
}
process.exit(status);

function assetsOrExit() {
  try {
    return controlPlaneAssets();
  } catch (error) {
    console.error(`test:kubernetes: ${error.message}`);
    process.exit(1);
  }
}
