/** `joinery controller`: settings, log, API server, provider, probes; then core works until a signal says stop. Rules O-61…O-83, O-92…O-95. */
import { hostname } from "node:os";
import { type Controller, createController, createMetricsRegistry, type Logger, type ProviderFactory } from "@joinery/core";
import {
  type Clock,
  createRealClock,
  createScaledClock,
  createSystemRandom,
  type LoadedTransport,
  loadTransport,
  randomUuid,
} from "@joinery/kube";
import { revision, version } from "../build-info.ts";
import { CommandError, exitStatus } from "../exit-status.ts";
import { readSchedulerConfig } from "../scheduler-config/read-scheduler-config.ts";
import type { Surroundings } from "../surroundings.ts";
import { type ControllerLog, createControllerLog } from "./controller-log.ts";
import { coreOptions } from "./core-options.ts";
import { GATES_WITHOUT_EFFECT } from "./gate-effects.ts";
import { letHeapGrow } from "./heap-growth.ts";
import { leaseTiming } from "./lease-timing.ts";
import { keepBelow } from "./memory-limit.ts";
import { registerProcessMetrics } from "./process-metrics.ts";
import { awsFactory, kwokFactory } from "./providers.ts";
import { type CloudProviderName, type FlagValues, type ReadSettings, readSettings } from "./read-settings.ts";
import { serve } from "./serving.ts";
import type { Settings } from "./setting-table.ts";
import { onStopSignals } from "./stop-signals.ts";

export interface ControllerFlags extends FlagValues {
  readonly cloudProvider: CloudProviderName;
  readonly kubeconfig?: string;
  readonly instanceTypesFilePath?: string;
  readonly ec2Endpoint?: string;
  readonly bindAddress?: string;
  readonly clockSpeed?: number;
  readonly clockAnchor?: string;
  readonly serviceAccountDirectory?: string;
  readonly stopWithStdin?: boolean;
}

/** Longest wait for a clean stop before the process ends anyway; below the usual grace period of a pod. */
const STOP_MS_MAX = 20_000;

/** Resolves after a clean stop; throws `CommandError` for wrong settings, and for leadership that was lost (O-78). */
export async function runController(flags: ControllerFlags, surroundings: Surroundings): Promise<void> {
  const { settings, gates, inert, ignored } = settingsOf(flags, surroundings);
  const defaultSpread = await readSchedulerConfig(settings.schedulerConfig);
  const clock = clockOf(flags);
  const random = createSystemRandom();
  const log = logOf(settings, clock);
  if (revision() === undefined) log.info({}, "unable to read the revision of this build");
  log.debug({ version }, "discovered karpenter version");
  for (const flag of inert) log.info({ setting: flag }, "setting has no effect in this version");
  for (const gate of GATES_WITHOUT_EFFECT) if (gates[gate]) log.info({ gate }, "feature gate has no effect in this version");
  for (const { variable, value, used } of ignored) log.warn({ variable, value, used }, "environment variable cannot be read, default used");
  // O-60.
  if (defaultSpread.length > 0) log.info({ defaultConstraints: defaultSpread }, "pods without a spread of their own get these constraints");
  // The machine and its network are no faster for a cluster whose clock runs fast.
  const machineClock = createRealClock();
  const stop = onStopSignals(machineClock, () => process.exit(exitStatus.fault));
  if (flags.stopWithStdin) stop.followStdin();
  const forgetMemory = keepBelow(settings.memoryLimit, { clock: machineClock });
  const closing: (() => Promise<void>)[] = [];
  try {
    const loaded = await reach(flags, surroundings, machineClock);
    const registry = createMetricsRegistry();
    registerProcessMetrics(registry, machineClock);
    const { kubeClientQps: perSecond, kubeClientBurst: burst } = settings;
    closing.push(() => loaded.transport.close());
    const controller = createController({
      transport: loaded.transport,
      registry,
      requestLimit: { perSecond, burst },
      clock,
      random,
      log,
      provider: await factoryOf(flags, settings, { log, clock, machineClock, server: loaded.server, env: surroundings.env, closing }),
      options: { ...coreOptions(settings, gates), defaultSpread },
      build: { version, runtimeVersion: process.version, architecture: process.arch, commit: revision() ?? "" },
      ...(!settings.disableLeaderElection && {
        isStandbyCold: settings.disableControllerWarmup,
        leaderElection: { ...electionOf(settings, loaded, surroundings, randomUuid(random)), timing: leaseTiming(flags.clockSpeed) },
      }),
    });
    log.info({ version, provider: flags.cloudProvider, server: loaded.server, "feature-gates": gates }, "starting");
    letHeapGrow(); // now that all is loaded: V8 takes compiled code only with the flags that it was compiled with
    await serveAndRun({ controller, settings, flags, transport: loaded.transport, clock, machineClock, log }, stop.signal);
    log.info({}, "stopped");
  } finally {
    stop.dispose();
    forgetMemory();
    await Promise.all(closing.map((close) => close()));
  }
}

interface Running {
  readonly controller: Controller;
  readonly settings: Settings;
  readonly flags: ControllerFlags;
  readonly transport: LoadedTransport["transport"];
  readonly clock: Clock;
  readonly machineClock: Clock;
  readonly log: ControllerLog;
}

/** Probes answer before the API server has been asked anything, so that a slow start is no dead process (F-197). */
async function serveAndRun(running: Running, signal: AbortSignal): Promise<void> {
  const { controller, settings, flags, transport, clock, machineClock, log } = running;
  const { healthProbePort, metricsPort, enableProfiling: isProfiling } = settings;
  const serving = await serve({ controller, transport, clock, host: flags.bindAddress, healthProbePort, metricsPort, isProfiling });
  try {
    log.info({ "health-probe-port": serving.healthProbePort, "metrics-port": serving.metricsPort }, "serving probes and metrics");
    await endInTime(controller.run(signal), machineClock, signal);
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    log.error({ error: message }, "controller ended");
    throw error instanceof CommandError ? error : new CommandError(message, exitStatus.fault);
  } finally {
    await serving.close();
  }
}

/** Follows `running`, and rejects when it does not end soon after the signal. */
function endInTime(running: Promise<void>, clock: Clock, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    let cancel = () => {};
    const late = () => reject(new Error(`the stop took longer than ${STOP_MS_MAX / 1000} s`));
    const onStop = () => {
      cancel = clock.after(STOP_MS_MAX, late);
    };
    signal.addEventListener("abort", onStop, { once: true });
    running.then(resolve, reject).finally(() => {
      cancel();
      signal.removeEventListener("abort", onStop);
    });
  });
}

function settingsOf(flags: ControllerFlags, { env }: Surroundings): ReadSettings {
  const outcome = readSettings(flags, env, flags.cloudProvider);
  if (outcome.kind === "settings") return outcome;
  const many = outcome.messages.length > 1 ? `${outcome.messages.length} settings are wrong\n` : "";
  throw new CommandError(`${many}${outcome.messages.join("\n")}`, exitStatus.badInput);
}

function logOf({ logLevel: level, logOutputPaths, logErrorOutputPaths }: Settings, clock: Clock): ControllerLog {
  try {
    const [outputs, errorOutputs] = [logOutputPaths.split(","), logErrorOutputPaths.split(",")];
    return createControllerLog({ clock, level, outputs, errorOutputs, commit: revision() });
  } catch (error) {
    throw new CommandError(`log-output-paths (LOG_OUTPUT_PATHS): ${(error as Error).message}`, exitStatus.badInput);
  }
}

/** A cluster whose time runs faster gives its processes the same clock. */
function clockOf({ clockSpeed, clockAnchor }: ControllerFlags): Clock {
  const [realMs, wallMs] = (clockAnchor ?? "").split(",").map(Number);
  if (clockSpeed === undefined || realMs === undefined || wallMs === undefined) return createRealClock();
  return createScaledClock({ speed: clockSpeed, anchor: { realMs, wallMs } });
}

async function reach(
  { kubeconfig, serviceAccountDirectory }: ControllerFlags,
  { env }: Surroundings,
  clock: Clock,
): Promise<LoadedTransport> {
  try {
    return await loadTransport({ env, clock, kubeconfigPath: kubeconfig, serviceAccountDirectory });
  } catch (error) {
    throw new CommandError(error instanceof Error ? error.message : String(error), exitStatus.badInput);
  }
}

interface FactoryRooms {
  readonly log: Logger;
  readonly clock: Clock;
  readonly machineClock: Clock;
  readonly server: string;
  readonly closing: (() => Promise<void>)[];
  readonly env: Surroundings["env"];
}

function factoryOf(flags: ControllerFlags, settings: Settings, rooms: FactoryRooms): Promise<ProviderFactory> {
  if (flags.cloudProvider === "kwok") return kwokFactory(flags.instanceTypesFilePath);
  return awsFactory({ settings, ec2Endpoint: flags.ec2Endpoint, ...rooms });
}

/** O-19: outside a cluster nobody says which namespace is meant. */
function electionOf(
  { leaderElectionName, leaderElectionNamespace }: Settings,
  { source, namespace }: LoadedTransport,
  { env }: Surroundings,
  uuid: string,
) {
  const chosen = leaderElectionNamespace || (source === "in-cluster" ? namespace : undefined);
  if (!chosen) {
    throw new CommandError(
      "leader-election-namespace: not in a cluster, so it must be given; use --leader-election-namespace NAMESPACE or --disable-leader-election",
      exitStatus.badInput,
    );
  }
  return { name: leaderElectionName, namespace: chosen, identity: `${env.POD_NAME || hostname()}_${uuid}` };
}
