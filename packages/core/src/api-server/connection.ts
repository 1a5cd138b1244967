/** The ways to the API server: the loops', held to their share, and the Lease's, which waits for nobody (O-66). All of them are counted. */

import type { KubeClient, Transport } from "@joinery/kube";
import { type BucketOptions, type Clock, createKubeClient, createLimitedTransport, createObservedTransport } from "@joinery/kube";
import type { Logger } from "../logger.ts";
import { createClientMetrics } from "../metrics/client-metrics.ts";
import type { Registry } from "../metrics/prometheus.ts";
import { createReachability, type Reachability } from "./reachability.ts";

export interface ConnectionOptions {
  /** The way to the API server; either of the two. */
  readonly transport?: Transport;
  readonly kube?: KubeClient;
  /** O-12, O-13: what the loops may ask of the API server; no limit when absent. */
  readonly requestLimit?: BucketOptions;
}

export interface Connection {
  readonly kube: KubeClient;
  readonly leaseKube: KubeClient;
  readonly reachability: Reachability;
}

interface ConnectionRooms {
  readonly clock: Clock;
  readonly log: Logger;
  readonly registry: Registry;
  /** Of the program, for its user agent (O-62). */
  readonly version: string | undefined;
}

/** @throws where it is given no way to the API server */
export function connect(
  { transport, kube, requestLimit }: ConnectionOptions,
  { clock, log, registry, version }: ConnectionRooms,
): Connection {
  const reachability = createReachability(clock, log);
  if (kube !== undefined) return { kube, leaseKube: kube, reachability };
  if (transport === undefined) throw new Error("Cannot make a controller: it needs a transport or a client to the API server");
  const count = createClientMetrics(registry);
  const observed = createObservedTransport(transport, clock, (outcome) => {
    count(outcome);
    reachability.observe(outcome);
  });
  const limited = requestLimit === undefined ? observed : createLimitedTransport(observed, clock, requestLimit);
  const userAgent = version === undefined ? "karpenter" : `karpenter/${version}`;
  return {
    kube: createKubeClient(limited, { userAgent }),
    leaseKube: createKubeClient(observed, { userAgent, isUrgent: true }),
    reachability,
  };
}
