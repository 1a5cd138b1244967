/** The cluster that the flags name: the kubeconfig of `--kubeconfig`, else what kubectl would take, and the context of `--context`. */
import { type Clock, createKubeClient, type KubeClient, type LoadedTransport, loadTransport } from "@joinery/kube";
import { CommandError, exitStatus } from "../exit-status.ts";
import type { Surroundings } from "../surroundings.ts";

export interface LiveFlags {
  readonly context?: string;
  readonly kubeconfig?: string;
  /** The cluster that kubectl would speak to. */
  readonly live?: boolean;
}

export interface Connection {
  readonly client: KubeClient;
  /** For people: the context where there is one, and the server. */
  readonly name: string;
  /** Where objects without a namespace belong, as for kubectl. */
  readonly namespace: string;
  close(): Promise<void>;
}

export function isLive({ context, kubeconfig, live }: LiveFlags): boolean {
  return context !== undefined || kubeconfig !== undefined || live === true;
}

/** Sends nothing yet. Throws `CommandError` where no such cluster is configured. */
export async function connectLive({ context, kubeconfig }: LiveFlags, { env }: Surroundings, clock: Clock): Promise<Connection> {
  let loaded: LoadedTransport;
  try {
    loaded = await loadTransport({ env, clock, ...(kubeconfig && { kubeconfigPath: kubeconfig }), ...(context && { context }) });
  } catch (error) {
    throw new CommandError(error instanceof Error ? error.message : String(error), exitStatus.badInput);
  }
  const { transport, server, namespace = "default" } = loaded;
  return {
    client: createKubeClient(transport, { userAgent: "joinery-plan" }),
    name: loaded.context === undefined ? server : `${loaded.context} (${server})`,
    namespace,
    close: () => transport.close(),
  };
}
