/**
 * Every setting of the controller: its flag, its kind, its default. The environment variable is the flag in capitals. Names and
 * defaults are Karpenter's, so that existing values files keep working. Rules O-1, O-9…O-44.
 */
import { DEFAULT_NODE_OVERHEAD } from "@joinery/scheduling";
import type { SettingKind, SettingValues } from "./setting-values.ts";

export interface Setting<K extends SettingKind = SettingKind> {
  readonly flag: string;
  readonly kind: K;
  readonly fallback: SettingValues[K];
  readonly help: string;
  /** Read, so that manifests keep working, but it changes nothing in this version. */
  readonly isWithoutEffect?: true;
}

function setting<K extends SettingKind>(flag: string, kind: K, fallback: SettingValues[K], help: string): Setting<K> {
  return { flag, kind, fallback, help };
}

function inert<K extends SettingKind>(flag: string, kind: K, fallback: SettingValues[K], help: string): Setting<K> {
  return { flag, kind, fallback, help, isWithoutEffect: true };
}

export const settingTable = {
  metricsPort: setting("metrics-port", "int", 8080, "port of /metrics; 0 takes a free one"),
  healthProbePort: setting("health-probe-port", "int", 8081, "port of /healthz and /readyz; 0 takes a free one"),
  kubeClientQps: setting("kube-client-qps", "int", 200, "requests per second to the API server"),
  kubeClientBurst: setting("kube-client-burst", "int", 300, "requests at once to the API server"),
  disableLeaderElection: setting("disable-leader-election", "bool", false, "run without a Lease; only for a single replica"),
  leaderElectionName: setting("leader-election-name", "text", "karpenter-leader-election", "name of the Lease"),
  leaderElectionNamespace: setting("leader-election-namespace", "text", "", "namespace of the Lease; the pod's own by default"),
  disableClusterStateObservability: setting(
    "disable-cluster-state-observability",
    "bool",
    false,
    "no metrics per pod, node and pool, and no events about their conditions",
  ),
  cpuRequests: setting("cpu-requests", "int", 1000, "CPU of the container in millicores; scales the number of workers"),
  logLevel: setting("log-level", "text", "info", "debug, info or error"),
  enableProfiling: setting("enable-profiling", "bool", false, "profiles on the metrics port, under /debug/pprof/"),
  disableControllerWarmup: setting(
    "disable-controller-warmup",
    "bool",
    false,
    "a standby reads nothing before it leads; its caches are cold",
  ),
  memoryLimit: setting("memory-limit", "int", -1, "memory of the container in bytes; garbage is collected at nine tenths of it"),
  logOutputPaths: setting("log-output-paths", "text", "stdout", "where logs go: stdout, stderr, files; several with commas"),
  logErrorOutputPaths: setting("log-error-output-paths", "text", "stderr", "where it is told that logs cannot be written"),
  batchMaxDuration: setting("batch-max-duration", "duration", 10_000, "longest wait for more pods before a plan is made"),
  batchIdleDuration: setting("batch-idle-duration", "duration", 1000, "a plan is made after this time without a new pod"),
  preferencePolicy: setting("preference-policy", "text", "Respect", "whether preferences of pods count: Respect or Ignore"),
  minValuesPolicy: setting("min-values-policy", "text", "Strict", "whether minValues must hold: Strict or BestEffort"),
  schedulerConfig: setting("scheduler-config", "text", "", "default topology spread of pods: a file, or the document itself"),
  optimize: setting("optimize", "text", "default", "how hard to look for a cheaper plan than the greedy one: off, default or max"),
  nodeOverheadPrice: setting(
    "node-overhead-price",
    "float",
    DEFAULT_NODE_OVERHEAD,
    "US dollars per hour of a node beside instance and root volume",
  ),
  featureGates: setting("feature-gates", "text", "", "Name=bool pairs with commas"),
  clusterName: setting("cluster-name", "text", "", "name of the cluster (aws: required)"),
  clusterEndpoint: setting("cluster-endpoint", "text", "", "address of the API server, as nodes are told it"),
  clusterCaBundle: inert("cluster-ca-bundle", "text", "", "certificate authority of the API server, as nodes are told it"),
  vmMemoryOverheadPercent: setting("vm-memory-overhead-percent", "float", 0.075, "part of an instance's memory that the hypervisor keeps"),
  reservedEnis: setting("reserved-enis", "int", 0, "network interfaces that pods do not get"),
  amiRefreshInterval: inert("ami-refresh-interval", "duration", 60_000, "how long found images are believed"),
  subnetRefreshInterval: inert("subnet-refresh-interval", "duration", 60_000, "how long found subnets are believed"),
  karpenterService: inert("karpenter-service", "text", "", "unused"),
  legacyNodeRepair: inert("legacy-node-repair", "bool", false, "repair nodes as before 1.15"),
  ignoreDraRequests: setting("ignore-dra-requests", "bool", true, "false: nodes wait for the DRA drivers that their NodeClaims ask for"),
  isolatedVpc: inert("isolated-vpc", "bool", false, "no calls to services without VPC endpoint"),
  eksControlPlane: inert("eks-control-plane", "bool", false, "the Kubernetes version comes from EKS"),
  interruptionQueue: inert("interruption-queue", "text", "", "name of the SQS queue with interruption notices"),
  disableDryRun: inert("disable-dry-run", "bool", false, "node classes are not checked with dry runs"),
  enableZonalShift: inert("enable-zonal-shift", "bool", false, "follow zonal shifts"),
  awsFeatureGates: inert("aws-feature-gates", "text", "", "Name=bool pairs with commas"),
};

export type Settings = { readonly [Name in keyof typeof settingTable]: (typeof settingTable)[Name]["fallback"] };

export function environmentName({ flag }: Setting): string {
  return flag.toUpperCase().replaceAll("-", "_");
}
