/** Flags and environment → settings, or everything that is wrong with them in one message. Rules O-1…O-8, O-21, O-22, O-27…O-43. */
import { type FeatureGates, parseFeatureGates } from "./feature-gates.ts";
import { environmentName, type Setting, type Settings, settingTable } from "./setting-table.ts";
import { parseEnvironment } from "./setting-values.ts";

export type CloudProviderName = "aws" | "kwok";

export interface ReadSettings {
  readonly settings: Settings;
  readonly gates: FeatureGates;
  /** Settings that were given and change nothing in this version. */
  readonly inert: readonly string[];
  /** Environment variables that do not parse; the default counts (O-3). */
  readonly ignored: readonly IgnoredVariable[];
}

interface IgnoredVariable {
  readonly variable: string;
  readonly value: string;
  /** The default. */
  readonly used: unknown;
}

export type SettingsOutcome =
  | ({ readonly kind: "settings" } & ReadSettings)
  | { readonly kind: "invalid"; readonly messages: readonly string[] };

type Environment = Readonly<Record<string, string | undefined>>;
/** By name of the setting, parsed. */
export type FlagValues = Readonly<Record<string, unknown>>;

/** Precedence: flag, environment variable, default (O-1). */
export function readSettings(flags: FlagValues, env: Environment, provider: CloudProviderName): SettingsOutcome {
  const inert: string[] = [];
  const ignored: IgnoredVariable[] = [];
  const values = Object.fromEntries(
    Object.entries(settingTable).map(([name, setting]) => {
      const read = fromEnvironment(setting, env);
      // A flag wins over its variable, which then is of no interest.
      if (read.kind === "unreadable" && flags[name] === undefined)
        ignored.push({ variable: environmentName(setting), value: read.text, used: setting.fallback });
      const given = flags[name] ?? (read.kind === "value" ? read.value : undefined);
      if (given !== undefined && setting.isWithoutEffect && given !== setting.fallback) inert.push(setting.flag);
      return [name, given ?? setting.fallback];
    }),
  );
  // Each value was parsed as the kind of its setting.
  const settings = values as Settings;
  const gates = parseFeatureGates(settings.featureGates);
  // O-7: core's first, then the provider's.
  const messages = [
    ...faultsOf(settings),
    ...(gates.kind === "invalid" ? [`feature-gates: ${gates.message}`] : []),
    ...(provider === "aws" ? awsFaultsOf(settings) : []),
  ];
  if (messages.length > 0 || gates.kind === "invalid") return { kind: "invalid", messages };
  return {
    kind: "settings",
    settings: { ...settings, cpuRequests: settings.cpuRequests > 0 ? settings.cpuRequests : 1000 },
    gates: gates.gates,
    inert,
    ignored,
  };
}

type FromEnvironment =
  | { readonly kind: "absent" }
  | { readonly kind: "value"; readonly value: unknown }
  | { readonly kind: "unreadable"; readonly text: string };

function fromEnvironment(setting: Setting, env: Environment): FromEnvironment {
  const text = env[environmentName(setting)];
  if (text === undefined) return { kind: "absent" };
  const value = parseEnvironment(setting.kind, text);
  return value === undefined ? { kind: "unreadable", text } : { kind: "value", value };
}

function faultsOf(settings: Settings): string[] {
  const {
    logLevel,
    preferencePolicy,
    minValuesPolicy,
    metricsPort,
    healthProbePort,
    kubeClientQps,
    kubeClientBurst,
    optimize,
    nodeOverheadPrice,
    disableLeaderElection,
    leaderElectionName,
  } = settings;
  const messages: string[] = [];
  const check = (isRight: boolean, message: string) => {
    if (!isRight) messages.push(message);
  };
  check(["", "debug", "info", "error"].includes(logLevel), `log-level (LOG_LEVEL): "${logLevel}" is no level; use debug, info or error`);
  check(["Respect", "Ignore"].includes(preferencePolicy), `preference-policy: "${preferencePolicy}" is no policy; use Respect or Ignore`);
  check(
    ["Strict", "BestEffort"].includes(minValuesPolicy),
    `min-values-policy: "${minValuesPolicy}" is no policy; use Strict or BestEffort`,
  );
  check(["off", "default", "max"].includes(optimize), `optimize (OPTIMIZE): "${optimize}" is no effort; use off, default or max`);
  check(nodeOverheadPrice >= 0, `node-overhead-price: must not be below 0, is ${nodeOverheadPrice}`);
  check(
    disableLeaderElection || leaderElectionName !== "",
    "leader-election-name (LEADER_ELECTION_NAME): must not be empty; leave it out, or use --disable-leader-election",
  );
  check(isPort(metricsPort), `metrics-port: ${metricsPort} is no port; use 0 to 65535`);
  check(isPort(healthProbePort), `health-probe-port: ${healthProbePort} is no port; use 0 to 65535`);
  check(kubeClientQps > 0, `kube-client-qps: must be above 0, is ${kubeClientQps}`);
  check(kubeClientBurst > 0, `kube-client-burst: must be above 0, is ${kubeClientBurst}`);
  return messages;
}

/** O-8: all violations together. */
function awsFaultsOf(settings: Settings): string[] {
  const { clusterName, clusterEndpoint, vmMemoryOverheadPercent, reservedEnis, amiRefreshInterval, subnetRefreshInterval } = settings;
  const messages: string[] = [];
  if (clusterName === "") messages.push("cluster-name: missing field; give --cluster-name or set CLUSTER_NAME");
  if (clusterEndpoint !== "" && !isAbsolute(clusterEndpoint))
    messages.push(`cluster-endpoint: "${clusterEndpoint}" is no URL with a host; write https://…`);
  if (vmMemoryOverheadPercent < 0) messages.push(`vm-memory-overhead-percent: must not be negative, is ${vmMemoryOverheadPercent}`);
  if (reservedEnis < 0) messages.push(`reserved-enis: must not be negative, is ${reservedEnis}`);
  if (amiRefreshInterval < 60_000) messages.push(`ami-refresh-interval: must be at least 1m, is ${amiRefreshInterval / 1000}s`);
  if (subnetRefreshInterval < 60_000) messages.push(`subnet-refresh-interval: must be at least 1m, is ${subnetRefreshInterval / 1000}s`);
  return messages;
}

function isPort(port: number): boolean {
  return port >= 0 && port <= 65_535;
}

function isAbsolute(text: string): boolean {
  const url = URL.parse(text);
  return url !== null && url.hostname !== "" && text.includes("://");
}
