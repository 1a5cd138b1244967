/** How a controller finds its API server: by a service account, as in a pod, or by a kubeconfig. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { LEASE_NAMESPACE } from "./cluster-objects.ts";

export interface Login {
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

/** What one has of an API server. */
export interface ServerFacts {
  readonly url: string;
  /** PEM of what signs the server's certificate. */
  readonly certificate: string;
  readonly token: string;
}

const ARGS = ["--bind-address=127.0.0.1", "--metrics-port=0", "--health-probe-port=0", "--leader-election-namespace", LEASE_NAMESPACE];

export function serviceAccountLogin({ url, certificate, token }: ServerFacts, folder: string): Login {
  const account = join(folder, "serviceaccount");
  mkdirSync(account, { recursive: true });
  for (const [file, text] of Object.entries({ "ca.crt": certificate, token, namespace: LEASE_NAMESPACE }))
    writeFileSync(join(account, file), text);
  const { hostname, port } = new URL(url);
  return {
    args: [...ARGS, `--service-account-directory=${account}`],
    env: { ...commonEnv(folder), KUBERNETES_SERVICE_HOST: hostname, KUBERNETES_SERVICE_PORT: port },
  };
}

export function kubeconfigLogin(kubeconfig: string, folder: string): Login {
  const path = join(folder, "kubeconfig");
  writeFileSync(path, kubeconfig, { mode: 0o600 });
  return { args: ARGS, env: { ...commonEnv(folder), KUBECONFIG: path } };
}

function commonEnv(folder: string): Record<string, string> {
  return { PATH: process.env.PATH ?? "", HOME: folder };
}
