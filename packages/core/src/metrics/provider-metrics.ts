/** How long the cloud takes, and how it refuses. Rules O-223, O-224, V-103. */
import { NODE_POOL_LABEL, type NodeClaim } from "@joinery/api";
import type { Clock } from "@joinery/kube";
import type { CloudProvider } from "../cloud-provider.ts";
import { DEFAULT_BUCKETS } from "./buckets.ts";
import { seconds } from "./core-metrics.ts";
import { Counter, Histogram, type Registry } from "./prometheus.ts";

/** Wraps a provider for one controller. */
export type Measure = (provider: CloudProvider, controller: string) => CloudProvider;

const ERROR_NAMES: Readonly<Record<string, string>> = {
  "insufficient-capacity": "InsufficientCapacityError",
  "node-class-not-ready": "NodeClassNotReadyError",
  failed: "unknown",
};

export function createProviderMetrics(registry: Registry, clock: Clock): Measure {
  const durations = new Histogram<"controller" | "method" | "provider">({
    name: "karpenter_cloudprovider_duration_seconds",
    help: "Duration of calls of the cloud provider.",
    labelNames: ["controller", "method", "provider"],
    buckets: DEFAULT_BUCKETS,
    registers: [registry],
  });
  const errors = new Counter<"controller" | "method" | "provider" | "error" | "nodepool">({
    name: "karpenter_cloudprovider_errors_total",
    help: "Failed calls of the cloud provider.",
    labelNames: ["controller", "method", "provider", "error", "nodepool"],
    registers: [registry],
  });

  return (provider, controller) => {
    async function timed<T>(method: string, nodepool: string, call: () => Promise<T>, signal?: AbortSignal): Promise<T> {
      signal?.throwIfAborted(); // nothing is asked of the cloud after the term
      const labels = { controller, method, provider: provider.name };
      const startedAtMs = clock.monotonicMs();
      try {
        return await call();
      } catch (error) {
        errors.inc({ ...labels, error: "unknown", nodepool });
        throw error;
      } finally {
        durations.observe(labels, seconds(clock.monotonicMs() - startedAtMs));
      }
    }

    /** O-224: that an instance does not exist is an answer here, and counts as an error of Karpenter's. */
    function countNotFound(method: string, nodepool: string): void {
      errors.inc({ controller, method, provider: provider.name, error: "NodeClaimNotFoundError", nodepool });
    }

    return {
      ...provider,
      instanceTypes: (pool, signal) =>
        timed("GetInstanceTypes", pool.metadata?.name ?? "", () => provider.instanceTypes(pool, signal), signal),
      async launch(claim, signal) {
        const outcome = await timed("Create", poolOf(claim), () => provider.launch(claim, signal), signal);
        const error = ERROR_NAMES[outcome.kind];
        if (error !== undefined) errors.inc({ controller, method: "Create", provider: provider.name, error, nodepool: poolOf(claim) });
        return outcome;
      },
      async terminate(claim, signal) {
        const outcome = await timed("Delete", poolOf(claim), () => provider.terminate(claim, signal), signal);
        if (outcome === "gone") countNotFound("Delete", poolOf(claim));
        return outcome;
      },
      async find(providerId, signal) {
        const instance = await timed("Get", "", () => provider.find(providerId, signal), signal);
        if (instance === undefined) countNotFound("Get", "");
        return instance;
      },
      list: (signal) => timed("List", "", () => provider.list(signal), signal),
    };
  };
}

function poolOf({ metadata }: NodeClaim): string {
  return metadata?.labels?.[NODE_POOL_LABEL] ?? "";
}
