/** The way to the API server from inside a pod: address from the environment, certificate and token from the mounted service account. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Clock } from "../clock/clock.ts";
import { TransportError } from "./errors.ts";
import { createHttpTransport } from "./http-transport.ts";
import { createTokenFileCredentials } from "./service-account.ts";
import type { Transport } from "./transport.ts";

export type Environment = Readonly<Record<string, string | undefined>>;

export interface InClusterOptions {
  readonly env: Environment;
  readonly clock: Clock;
  readonly directory?: string;
  readonly requestTimeoutMs?: number;
}

export interface InCluster {
  readonly transport: Transport;
  readonly server: string;
  /** Of the pod. */
  readonly namespace: string;
}

const SERVICE_ACCOUNT_DIRECTORY = "/var/run/secrets/kubernetes.io/serviceaccount";

/** Whether the kubelet has told this process where the API server is. */
export function isInCluster(env: Environment): boolean {
  return Boolean(env.KUBERNETES_SERVICE_HOST && env.KUBERNETES_SERVICE_PORT);
}

/** Throws a TransportError of kind `credentials` where this is no pod or the service account is not mounted. */
export async function loadInCluster({
  env,
  clock,
  directory = SERVICE_ACCOUNT_DIRECTORY,
  requestTimeoutMs,
}: InClusterOptions): Promise<InCluster> {
  const { KUBERNETES_SERVICE_HOST: host = "", KUBERNETES_SERVICE_PORT: port = "" } = env;
  if (!isInCluster(env)) {
    throw new TransportError(
      "credentials",
      "Cannot connect from inside the cluster: KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT are not both set",
    );
  }
  const read = (name: string) => readAccountFile(join(directory, name));
  const [ca, namespace] = await Promise.all([read("ca.crt"), read("namespace"), read("token")]);
  const server = `https://${host.includes(":") ? `[${host}]` : host}:${port}`;
  const credentials = createTokenFileCredentials(() => read("token"), clock);
  return {
    transport: createHttpTransport({ server, clock, tls: { ca }, credentials, requestTimeoutMs }),
    server,
    namespace: namespace.trim(),
  };
}

async function readAccountFile(path: string): Promise<string> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    throw new TransportError("credentials", `Cannot read the service account: ${(error as Error).message}, wanted a mounted token`, error);
  }
}
