/** One controller process in the weather: it can be killed at any await, cut off from the API server, and its clock can jump. */
import { AwsError, type Ec2Catalogue, type Ec2Port, ec2PortOf, handlerOf } from "@joinery/aws";
import type { CoreOptions } from "@joinery/core";
import type { ApiRequest, ApiResponse, Clock, RandomSource, Transport } from "@joinery/kube";
import { type Call, type KillableProcess, startProcess } from "../failover/killable-process.ts";
import { createFaultyTransport } from "./faulty-transport.ts";
import { type FaultKind, happens, type Weather } from "./weather.ts";

export interface ReplicaOptions {
  readonly name: string;
  readonly transport: Transport;
  readonly ec2: Ec2Port;
  readonly clock: Clock;
  readonly random: RandomSource;
  readonly catalogue: Ec2Catalogue;
  readonly clusterName: string;
  /** Feature gates. */
  readonly options: Partial<CoreOptions>;
  readonly weather: () => Weather;
  readonly onFault: (kind: FaultKind, detail: string) => void;
  /** Told of every request that has reached the API server, before and, with its answer, after it takes effect. */
  readonly beforeRequest: (request: ApiRequest) => void;
  readonly onRequest: (replica: Replica, request: ApiRequest, response: ApiResponse) => void;
  /** Told of every call to EC2 before it is made. */
  readonly onCloudCall: (replica: Replica, name: string, request: unknown) => void;
}

export interface Replica {
  readonly name: string;
  readonly process: KillableProcess;
  /** What its clock, which may be wrong, shows or has shown to what it is doing now: two values shortly after a jump. */
  clockReadings(): readonly number[];
  /** No way to the API server for so long. */
  cutOff(forMs: number): void;
  /** Ends what hangs over from a storm: the cut, and the wrong clock. */
  clearUp(): void;
}

/** O-74's spans times four: a year of renewals every two seconds is mostly renewals. */
const LEASE_TIMING = { leaseMs: 60_000, renewDeadlineMs: 40_000, retryMs: 8000 };
const JUMP_MAX_MS = 600_000;
/** From a decision to its request, in the slowest weather. */
const ACTION_MAX_MS = 30_000;

export function startReplica(options: ReplicaOptions): Replica {
  const { name, clock: worldClock, weather, onFault } = options;
  const random = options.random.split("faults");
  const death = new AbortController();
  let skewMs = 0;
  let earlierSkewMs = 0;
  let jumpedAtMs = Number.NEGATIVE_INFINITY;
  let cutUntilMs = Number.NEGATIVE_INFINITY;
  const clock: Clock = { ...worldClock, wallMs: () => worldClock.wallMs() + skewMs };
  const befalls = (kind: FaultKind, detail: string): boolean => {
    const isSo = happens(kind, weather(), random);
    if (isSo) onFault(kind, detail);
    return isSo;
  };

  const observed: Transport = {
    ...options.transport,
    async send(request, signal) {
      signal?.throwIfAborted();
      options.beforeRequest(request);
      const response = await options.transport.send(request, signal);
      options.onRequest(self, request, response);
      return response;
    },
  };
  const transport = createFaultyTransport({
    transport: observed,
    clock: worldClock,
    random,
    weather,
    onFault: (kind, detail) => onFault(kind, `${name} ${detail}`),
    isCutOff: () => worldClock.monotonicMs() < cutUntilMs,
    death: death.signal,
  });
  const carry = handlerOf(options.ec2);
  const ec2 = ec2PortOf(async (call, request, signal) => {
    options.onCloudCall(self, call, request);
    try {
      return await carry(call, request, signal);
    } catch (error) {
      const kind = error instanceof AwsError ? CLOUD_FAULTS[error.code] : undefined;
      if (kind !== undefined) onFault(kind, `${name} ${call}`);
      throw error;
    }
  });

  function jumpTo(nextSkewMs: number): void {
    earlierSkewMs = skewMs;
    skewMs = nextSkewMs;
    jumpedAtMs = worldClock.monotonicMs();
  }

  function onCall(call: Call): void {
    if (weather().isCalm) return;
    const where = call.what.kind === "api" ? `${call.what.request.method} ${call.what.request.path}` : call.what.name;
    if (befalls("clock-jump", name)) jumpTo(random.below(2 * JUMP_MAX_MS) - JUMP_MAX_MS);
    if (befalls("process-killed", `${name} ${call.moment} ${where}`)) process.kill();
    else if (befalls("process-stopped", name)) void process.stop();
  }

  const process = startProcess({
    name,
    transport,
    ec2,
    clock,
    random: options.random,
    catalogue: options.catalogue,
    clusterName: options.clusterName,
    options: options.options,
    leaseTiming: LEASE_TIMING,
    onCall,
  });
  process.onDeath(() => death.abort(new Error("the process is gone")));
  const self: Replica = {
    name,
    process,
    clockReadings() {
      const nowMs = worldClock.wallMs();
      const isFresh = worldClock.monotonicMs() - jumpedAtMs < ACTION_MAX_MS;
      return isFresh ? [nowMs + skewMs, nowMs + earlierSkewMs] : [nowMs + skewMs];
    },
    cutOff(forMs) {
      cutUntilMs = worldClock.monotonicMs() + forMs;
    },
    clearUp() {
      cutUntilMs = Number.NEGATIVE_INFINITY;
      if (skewMs !== 0) jumpTo(0);
    },
  };
  return self;
}

const CLOUD_FAULTS: Readonly<Record<string, FaultKind>> = {
  RequestLimitExceeded: "cloud-throttled",
  InternalError: "cloud-error",
  NetworkingError: "cloud-lost-reply",
};
