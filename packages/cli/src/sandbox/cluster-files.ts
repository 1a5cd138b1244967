/** What a cluster's users and its pods find on disk: a kubeconfig, and a service account. In a folder of its own, gone at the end. */
import { appendFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ServedApi } from "@joinery/sandbox";
import { CONTROLLER_NAMESPACE } from "./day-one.ts";
import { FOLDER_PREFIX, markOwner, OWNER_FILE, sweepOrphans } from "./orphaned-folders.ts";

export interface ClusterFolder {
  readonly path: string;
  /** A line into `faults.log`. */
  note(line: string): void;
  /** Leaves what people read after a failure, and takes what opens a cluster that is gone. */
  keepLogs(): void;
  remove(): void;
}

export interface ClusterFiles {
  readonly kubeconfig: string;
  readonly serviceAccountDirectory: string;
  readonly logDirectory: string;
}

const KUBECONFIG = "kubeconfig";
const SERVICE_ACCOUNT = "serviceaccount";

/** Sweeps first what processes that were killed have left. */
export function createClusterFolder(parent = tmpdir()): ClusterFolder {
  sweepOrphans(parent);
  const path = naming(parent, () => mkdtempSync(join(parent, FOLDER_PREFIX)));
  const remove = (name = "") => rmSync(join(path, name), { recursive: true, force: true });
  try {
    naming(path, () => markOwner(path));
  } catch (error) {
    remove();
    throw error;
  }
  return {
    path,
    note(line) {
      try {
        appendFileSync(join(path, "faults.log"), `${line}\n`);
      } catch {
        // A full disk costs notes, not the cluster.
      }
    },
    keepLogs: () => [KUBECONFIG, SERVICE_ACCOUNT, OWNER_FILE].forEach((name) => void remove(name)),
    remove: () => remove(),
  };
}

export function writeClusterFiles(
  { path }: Pick<ClusterFolder, "path">,
  api: Pick<ServedApi, "certificate" | "token" | "kubeconfig">,
): ClusterFiles {
  const serviceAccountDirectory = join(path, SERVICE_ACCOUNT);
  const logDirectory = join(path, "logs");
  const kubeconfig = join(path, KUBECONFIG);
  naming(path, () => {
    for (const folder of [serviceAccountDirectory, logDirectory]) mkdirSync(folder);
    writeFileSync(join(serviceAccountDirectory, "ca.crt"), api.certificate);
    writeFileSync(join(serviceAccountDirectory, "namespace"), CONTROLLER_NAMESPACE);
    writeFileSync(join(serviceAccountDirectory, "token"), api.token, { mode: 0o600 });
    writeFileSync(kubeconfig, api.kubeconfig(), { mode: 0o600 });
  });
  return { kubeconfig, serviceAccountDirectory, logDirectory };
}

/** A write that fails ("no space left on device") says nothing of where. */
function naming<T>(path: string, write: () => T): T {
  try {
    return write();
  } catch (error) {
    throw new Error(`Cannot write to ${path}: ${error instanceof Error ? error.message : String(error)}; TMPDIR names another folder`);
  }
}
