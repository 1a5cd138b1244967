/** Probes, metrics and profiles of a controller, from before it has asked the API server anything until it has ended. Rules O-92…O-96, F-197. */
import type { Controller } from "@joinery/core";
import { type Clock, createKubeClient, type KubeClient, type Transport } from "@joinery/kube";
import { CommandError, exitStatus } from "../exit-status.ts";
import { type Endpoint, type HealthCheck, serveHealth, serveMetrics } from "./endpoints.ts";
import { type Profiler, startProfiler } from "./profiling.ts";

export interface ServingOptions {
  readonly controller: Controller;
  /** The way to the API server, without a limit: a probe must not wait behind the controller's requests. */
  readonly transport: Transport;
  readonly clock: Clock;
  readonly host: string | undefined;
  readonly healthProbePort: number;
  readonly metricsPort: number;
  readonly isProfiling: boolean;
}

export interface Serving {
  readonly healthProbePort: number;
  readonly metricsPort: number;
  close(): Promise<void>;
}

/** @throws `CommandError` where a port cannot be had; then nothing is served */
export async function serve(options: ServingOptions): Promise<Serving> {
  const { controller, transport, clock, host } = options;
  const profiler = options.isProfiling ? await startProfiler(clock) : undefined;
  const checks = { manager: managerCheck(controller), crd: crdCheck(createKubeClient(transport), clock) };
  const opened: Endpoint[] = [];
  try {
    const health = await atFlag("health-probe-port", serveHealth({ port: options.healthProbePort, host }, checks));
    opened.push(health);
    const metrics = await atFlag("metrics-port", serveMetrics({ port: options.metricsPort, host }, controller.registry, profiler?.answer));
    opened.push(metrics);
    return { healthProbePort: health.port, metricsPort: metrics.port, close: () => closeAll(opened, profiler) };
  } catch (error) {
    await closeAll(opened, profiler);
    throw error;
  }
}

async function closeAll(endpoints: readonly Endpoint[], profiler: Profiler | undefined): Promise<void> {
  profiler?.stop();
  await Promise.all(endpoints.map((endpoint) => endpoint.close()));
}

/** A port that cannot be had is a setting that is wrong here: its flag is named. */
async function atFlag(flag: string, serving: Promise<Endpoint>): Promise<Endpoint> {
  try {
    return await serving;
  } catch (error) {
    const { code, port, message } = error as NodeJS.ErrnoException & { readonly port?: number };
    const why = code === "EADDRINUSE" ? `port ${port} is in use` : message;
    throw new CommandError(`${flag}: ${why}; give --${flag} another port, or 0 for a free one`, exitStatus.badInput);
  }
}

function managerCheck(controller: Controller): HealthCheck {
  return () => {
    const { waitsFor } = controller;
    return waitsFor === undefined ? undefined : `waiting for ${waitsFor}`;
  };
}

/** O-93: NodePool and NodeClaim must be known to the API server. Once seen they are believed for a while. */
function crdCheck(kube: KubeClient, clock: Clock): HealthCheck {
  const BELIEVED_MS = 10_000;
  /** Below the time-out of a probe, so that it gets its answer. */
  const ASKED_MS = 5000;
  let believedUntilMs = 0;
  return async () => {
    if (clock.monotonicMs() < believedUntilMs) return undefined;
    const overdue = new AbortController();
    const cancel = clock.after(ASKED_MS, () => overdue.abort(new Error(`no answer within ${ASKED_MS / 1000} s`)));
    try {
      const answer = await kube.raw("/apis/karpenter.sh/v1", overdue.signal);
      const { resources = [] } = answer as { readonly resources?: readonly { readonly name: string }[] };
      const missing = ["nodepools", "nodeclaims"].filter((name) => !resources.some((resource) => resource.name === name));
      if (missing.length > 0) return `missing CustomResourceDefinition: ${missing.map((name) => `${name}.karpenter.sh`).join(", ")}`;
      believedUntilMs = clock.monotonicMs() + BELIEVED_MS;
      return undefined;
    } catch (error) {
      return `cannot ask for karpenter.sh/v1: ${error instanceof Error ? error.message : String(error)}`;
    } finally {
      cancel();
    }
  };
}
