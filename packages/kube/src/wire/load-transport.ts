/** Which API server is meant, decided as client-go's controllers decide it: flag, KUBECONFIG, the pod's own cluster, ~/.kube/config. */
import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";
import type { Clock } from "../clock/clock.ts";
import { TransportError } from "./errors.ts";
import { type Environment, isInCluster, loadInCluster } from "./in-cluster.ts";
import type { Transport } from "./transport.ts";

export interface LoadTransportOptions {
  readonly env: Environment;
  readonly clock: Clock;
  /** `--kubeconfig`. */
  readonly kubeconfigPath?: string;
  /** `--context`. Rules the pod's own cluster out, which has no contexts. */
  readonly context?: string;
  readonly requestTimeoutMs?: number;
  /** Where the service account is mounted. */
  readonly serviceAccountDirectory?: string;
}

export interface LoadedTransport {
  readonly transport: Transport;
  readonly server: string;
  readonly source: "kubeconfig" | "in-cluster";
  /** The pod's, or the context's; undefined where the context names none. */
  readonly namespace: string | undefined;
  /** Of the kubeconfig. */
  readonly context?: string;
}

/** Connects to nothing yet. Throws a TransportError of kind `credentials` that says where was looked. */
export async function loadTransport(options: LoadTransportOptions): Promise<LoadedTransport> {
  const { env, clock, context, requestTimeoutMs, serviceAccountDirectory } = options;
  const paths = chosenFiles(options);
  if (paths.length === 0 && context === undefined && isInCluster(env)) {
    return { source: "in-cluster", ...(await loadInCluster({ env, clock, requestTimeoutMs, directory: serviceAccountDirectory })) };
  }
  const files = paths.length > 0 ? paths : homeFiles(env);
  if (files.length === 0) {
    throw new TransportError(
      "credentials",
      "Cannot find a cluster: KUBECONFIG is not set, this is no pod, and there is no ~/.kube/config; give --kubeconfig FILE or set KUBECONFIG",
    );
  }
  const { loadKubeconfig } = await import("./kubeconfig.ts");
  return { source: "kubeconfig", ...(await loadKubeconfig({ paths: files, context, clock, requestTimeoutMs })) };
}

/** An explicit file must exist (reading it will say so); files of KUBECONFIG may be missing as long as one is there. */
function chosenFiles({ kubeconfigPath, env }: LoadTransportOptions): readonly string[] {
  if (kubeconfigPath) {
    return [kubeconfigPath];
  }
  const listed = (env.KUBECONFIG ?? "").split(delimiter).filter((path) => path !== "");
  const present = listed.filter((path) => existsSync(path));
  if (listed.length > 0 && present.length === 0) {
    throw new TransportError("credentials", `Cannot find a cluster: no file of KUBECONFIG exists (${listed.join(", ")})`);
  }
  return present;
}

function homeFiles({ HOME, USERPROFILE }: Environment): readonly string[] {
  const home = HOME || USERPROFILE;
  const path = home ? join(home, ".kube", "config") : "";
  return path !== "" && existsSync(path) ? [path] : [];
}
