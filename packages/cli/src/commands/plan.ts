/** `joinery plan`: which nodes would the pods in these manifests get? Formats, "Input" and "Output of joinery plan". */
import { DEFAULT_NODE_OVERHEAD, type Effort } from "@joinery/scheduling";
import { type Command, InvalidArgumentError, Option } from "commander";
import { exitStatus } from "../exit-status.ts";
import type { LiveFlags } from "../live/connect.ts";
import type { End } from "../program.ts";
import type { Surroundings } from "../surroundings.ts";

/** What a problem is made from, beside the manifests. */
export interface PlanningFlags extends LiveFlags {
  readonly catalog?: string;
  readonly region: string;
  readonly preferencePolicy: "Respect" | "Ignore";
  readonly minValuesPolicy: "Strict" | "BestEffort";
  readonly featureGates: string;
  readonly schedulerConfig: string;
  readonly optimize: Effort;
  /** USD per hour. */
  readonly nodeOverheadPrice: number;
}

export interface PlanFlags extends PlanningFlags {
  readonly output: "table" | "json" | "yaml";
}

export const SOURCE_HELP =
  "manifest files, folders (.yaml, .yml, .json), or - for stdin; over the cluster's objects where a cluster is named too";

export function addPlanCommand(program: Command, surroundings: Surroundings, end: End): void {
  withPlanningOptions(program.command("plan"))
    .description("show which nodes the pods in manifests would get, what they cost, and what has no place and why")
    .argument("[source...]", SOURCE_HELP)
    .addOption(new Option("-o, --output <format>", "how to print the plan").choices(["table", "json", "yaml"]).default("table"))
    .addHelpText(
      "after",
      `
Reads NodePools, NodeClaims, node classes, Nodes, Pods, Deployments, ReplicaSets, StatefulSets, DaemonSets, Jobs, PodDisruptionBudgets,
claims, volumes, LimitRanges, and with their feature gates on NodeOverlays and CapacityBuffers; other kinds are ignored and counted. Workloads stand for the pods that they still want.
Of a large cluster ask for JSON: it is read ten times as fast as YAML.

Examples:
  $ joinery plan nodepool.yaml deployment.yaml
  $ joinery plan manifests/ --catalog instance-types.json
  $ joinery plan --context production                    what the cluster's own pods would get
  $ joinery plan --context production new-pool.yaml      and what, once this is applied
  $ kubectl get nodepools,nodeclaims,nodes,deploy,rs,sts,ds,jobs,pods,pvc,pv,sc,ns -A -o json | joinery plan - -o json

Exit status: 0 all pods placed, 3 some not, 2 bad input, 1 a fault of ours.`,
    )
    .action(async (names: string[], flags: PlanFlags) => {
      const { runPlan } = await import("../plan/run-plan.ts");
      end((await runPlan(names, flags, surroundings)) ? exitStatus.ok : exitStatus.someUnplaced);
    });
}

/** A cluster as input. Nothing is written to it. */
export function withLiveOptions(command: Command): Command {
  return command
    .option("--live", "read the cluster that kubectl would speak to")
    .option("--context <name>", "read the cluster of this context")
    .option("--kubeconfig <file>", "read the cluster of this kubeconfig; else KUBECONFIG, the pod's service account, ~/.kube/config");
}

export function withPlanningOptions(command: Command): Command {
  return withLiveOptions(command)
    .option("--catalog <file>", "instance types to choose from, in the JSON format of Karpenter's KWOK provider")
    .option("--region <region>", "region of the built-in EC2 catalogue", "us-east-1")
    .addOption(
      new Option("--preference-policy <policy>", "whether preferences of pods count")
        .choices(["Respect", "Ignore"])
        .default("Respect")
        .env("PREFERENCE_POLICY"),
    )
    .addOption(
      new Option("--min-values-policy <policy>", "whether minValues of NodePools must hold")
        .choices(["Strict", "BestEffort"])
        .default("Strict")
        .env("MIN_VALUES_POLICY"),
    )
    .addOption(
      new Option("--optimize <effort>", "how hard to look for a cheaper plan than the greedy one")
        .choices(["off", "default", "max"])
        .default("default")
        .env("OPTIMIZE"),
    )
    .addOption(
      new Option("--node-overhead-price <dollars>", "what a node costs per hour beside its instance and root volume")
        .argParser(parsePrice)
        .default(DEFAULT_NODE_OVERHEAD)
        .env("NODE_OVERHEAD_PRICE"),
    )
    .addOption(featureGatesOption())
    .addOption(schedulerConfigOption());
}

export function featureGatesOption(): Option {
  return new Option("--feature-gates <pairs>", "the controller's Name=bool pairs, with commas").default("").env("FEATURE_GATES");
}

/** O-31. */
export function schedulerConfigOption(): Option {
  return new Option("--scheduler-config <file>", "topology spread of pods that ask for none: a file, or the document itself")
    .default("")
    .env("SCHEDULER_CONFIG");
}

function parsePrice(text: string): number {
  const price = Number(text);
  if (text.trim() === "" || !Number.isFinite(price) || price < 0) throw new InvalidArgumentError("want US dollars per hour, 0 or more.");
  return price;
}
