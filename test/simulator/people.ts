/** Those who use the cluster: they deploy, scale, roll, run jobs, edit pools, and delete what they please. All of it from a seed. */
import {
  DaemonSets,
  type Deployment,
  Deployments,
  Jobs,
  type KubeObject,
  NodeClaims,
  NodePools,
  Nodes,
  PodDisruptionBudgets,
  type PodSpec,
  Pods,
  StatefulSets,
} from "@joinery/api";
import { ApiError, type KubeClient, type Random } from "@joinery/kube";
import { READY_SECONDS_ANNOTATION, STOP_SECONDS_ANNOTATION } from "@joinery/sandbox";
import type { Truth } from "./truth.ts";

export interface People {
  /** One change, and what it was. */
  act(): Promise<string>;
  /** Undoes what would keep a cluster from coming to rest: blocking budgets, limits, protected pods. */
  relax(): Promise<void>;
}

export interface Habit {
  readonly weight: number;
  /** Does it, and says what it was. */
  readonly habit: () => Promise<string>;
}

export interface PeopleOptions {
  readonly user: KubeClient;
  readonly truth: Truth;
  readonly random: Random;
  /** What some people do besides. */
  readonly others?: readonly Habit[];
}

const NAMES = ["web", "api", "cart", "mail", "search", "video"];
const POOLS = ["default", "spot"];
const REPLICAS_MAX = 9;
const DO_NOT_DISRUPT = "karpenter.sh/do-not-disrupt";

export function createPeople({ user, truth, random, others = [] }: PeopleOptions): People {
  let serial = 0;
  const pick = <T>(from: readonly T[]): T => from[random.below(from.length)] as T;
  const merge = (body: unknown) => ({ type: "merge" as const, body });
  const key = (name: string) => ({ namespace: "default", name });
  const replicasOf = (name: string) => [...truth.deployments()].find(({ metadata }) => metadata?.name === name)?.spec.replicas;
  const nameOf = ({ metadata }: KubeObject) => metadata?.name ?? "";

  async function deploy(): Promise<string> {
    const name = pick(NAMES);
    const replicas = random.below(REPLICAS_MAX);
    if (replicasOf(name) !== undefined) return scale(name);
    await user.create(Deployments, aDeployment(name, replicas, random));
    return `deploys ${name} x${replicas}`;
  }

  async function scale(name: string): Promise<string> {
    const replicas = random.below(REPLICAS_MAX);
    await user.patch(Deployments, key(name), merge({ spec: { replicas } }));
    return `scales ${name} to ${replicas}`;
  }

  async function roll(): Promise<string> {
    const name = pick(NAMES);
    const annotations = { version: String(++serial), [DO_NOT_DISRUPT]: random.below(5) === 0 ? pick(["true", "10m"]) : null };
    await user.patch(Deployments, key(name), merge({ spec: { template: { metadata: { annotations } } } }));
    return `rolls ${name}`;
  }

  async function undeploy(): Promise<string> {
    const name = pick(NAMES);
    await user.delete(Deployments, key(name), { propagationPolicy: "Background" });
    return `deletes deployment ${name}`;
  }

  async function runJob(): Promise<string> {
    const name = `job-${++serial}`;
    const parallelism = 1 + random.below(3);
    const pod = aPodSpec(random);
    await user.create(Jobs, {
      metadata: { namespace: "default", name },
      spec: {
        parallelism,
        completions: parallelism + random.below(3),
        ttlSecondsAfterFinished: 600,
        template: { metadata: { labels: { app: name } }, spec: { ...pod, restartPolicy: "Never" } },
      },
    });
    return `runs ${name}`;
  }

  async function budget(): Promise<string> {
    const name = pick(NAMES);
    const minAvailable = random.below((replicasOf(name) ?? 1) + 1);
    const spec = { minAvailable, selector: { matchLabels: { app: name } } };
    await user.create(PodDisruptionBudgets, { metadata: { namespace: "default", name }, spec });
    return `wants ${minAvailable} of ${name} always`;
  }

  async function dropBudget(): Promise<string> {
    const name = pick(NAMES);
    await user.delete(PodDisruptionBudgets, key(name));
    return `drops the budget of ${name}`;
  }

  async function agents(): Promise<string> {
    if (random.below(2) === 0) {
      await user.delete(DaemonSets, key("agent"), { propagationPolicy: "Background" });
      return "deletes the agents";
    }
    const labels = { app: "agent" };
    const template = { metadata: { labels }, spec: aPodSpec(random, "50m") };
    await user.create(DaemonSets, { metadata: key("agent"), spec: { selector: { matchLabels: labels }, template } });
    return "runs agents";
  }

  async function database(): Promise<string> {
    const replicas = random.below(4);
    const labels = { app: "db" };
    const claim = { metadata: { name: "data" }, spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "5Gi" } } } };
    const spec = {
      replicas,
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: aPodSpec(random) },
      volumeClaimTemplates: [claim],
    };
    try {
      await user.create(StatefulSets, { metadata: key("db"), spec });
    } catch (error) {
      if (!(error instanceof ApiError) || error.status !== 409) throw error;
      await user.patch(StatefulSets, key("db"), merge({ spec: { replicas } }));
    }
    return `wants ${replicas} databases`;
  }

  async function editPool(): Promise<string> {
    const name = pick(POOLS);
    const change = pick<object>([
      { limits: pick([{ cpu: "4" }, { cpu: "16" }, { cpu: "40" }, { memory: "20Gi" }, { nodes: "3" }, { cpu: "24", memory: "60Gi" }]) },
      { limits: null },
      { template: { spec: { expireAfter: pick(["30m", "3h", "20h", "Never"]) } } },
      { template: { spec: { terminationGracePeriod: pick(["1m", "10m", null]) } } },
      { template: { metadata: { labels: { team: `t${random.below(3)}` } } } },
      { weight: 1 + random.below(50) },
    ]);
    await user.patch(NodePools, { name }, merge({ spec: change }));
    return `edits pool ${name}: ${JSON.stringify(change)}`;
  }

  async function deleteNode(): Promise<string> {
    const nodes = [...truth.nodes()];
    if (nodes.length === 0) return "rests";
    const name = nameOf(pick(nodes));
    await user.delete(Nodes, { name });
    return `deletes node ${name}`;
  }

  async function deleteClaim(): Promise<string> {
    const claims = [...truth.claims()];
    if (claims.length === 0) return "rests";
    const name = nameOf(pick(claims));
    await user.delete(NodeClaims, { name });
    return `deletes nodeclaim ${name}`;
  }

  async function deletePod(): Promise<string> {
    const pods = [...truth.pods()];
    if (pods.length === 0) return "rests";
    const pod = nameOf(pick(pods));
    await user.delete(Pods, key(pod), random.below(3) === 0 ? { gracePeriodSeconds: 0 } : {});
    return `deletes pod ${pod}`;
  }

  const habits: readonly Habit[] = [
    { weight: 6, habit: deploy },
    { weight: 5, habit: () => scale(pick(NAMES)) },
    { weight: 3, habit: roll },
    { weight: 1, habit: undeploy },
    { weight: 2, habit: runJob },
    { weight: 2, habit: budget },
    { weight: 1, habit: dropBudget },
    { weight: 1, habit: agents },
    { weight: 1, habit: database },
    { weight: 2, habit: editPool },
    { weight: 2, habit: deleteNode },
    { weight: 2, habit: deleteClaim },
    { weight: 2, habit: deletePod },
    ...others,
  ];
  const total = habits.reduce((sum, { weight }) => sum + weight, 0);

  function anyHabit(): () => Promise<string> {
    let at = random.below(total);
    for (const { weight, habit } of habits) {
      if (at < weight) return habit;
      at -= weight;
    }
    return deploy;
  }

  return {
    async act() {
      try {
        return await anyHabit()();
      } catch (error) {
        // What is there already, or not any more.
        if (error instanceof ApiError && (error.status === 404 || error.status === 409)) return "comes too late";
        throw error;
      }
    },
    async relax() {
      for (const name of [...truth.budgets()].map(nameOf)) {
        const minAvailable = Math.max(0, (replicasOf(name) ?? 0) - 1);
        await user.patch(PodDisruptionBudgets, key(name), merge({ spec: { minAvailable } }));
      }
      for (const name of [...truth.deployments()].map(nameOf)) {
        const annotations = { [DO_NOT_DISRUPT]: null };
        await user.patch(Deployments, key(name), merge({ spec: { template: { metadata: { annotations } } } }));
      }
      for (const name of POOLS) {
        const spec = { limits: null, template: { spec: { expireAfter: name === "spot" ? "9h" : "30h" } } };
        await user.patch(NodePools, { name }, merge({ spec }));
      }
    },
  };
}

function aDeployment(name: string, replicas: number, random: Random): Deployment {
  const labels = { app: name };
  const annotations = { [READY_SECONDS_ANNOTATION]: String(random.below(15)), [STOP_SECONDS_ANNOTATION]: String(random.below(25)) };
  return {
    metadata: { name, namespace: "default" },
    spec: {
      replicas,
      selector: { matchLabels: labels },
      template: { metadata: { labels, annotations }, spec: aPodSpec(random, undefined, labels) },
    },
  };
}

function aPodSpec(random: Random, cpu = `${100 + 100 * random.below(20)}m`, labels?: Readonly<Record<string, string>>): PodSpec {
  const requests = { cpu, memory: `${64 + 64 * random.below(40)}Mi` };
  const spec: PodSpec = {
    containers: [{ name: "main", image: "example.com/app", resources: { requests } }],
    terminationGracePeriodSeconds: [1, 30, 90][random.below(3)],
  };
  if (labels === undefined) return spec;
  const labelSelector = { matchLabels: labels };
  const spread = { maxSkew: 1, topologyKey: "topology.kubernetes.io/zone", whenUnsatisfiable: "DoNotSchedule" as const, labelSelector };
  const apart = {
    podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey: "kubernetes.io/hostname", labelSelector }] },
  };
  switch (random.below(5)) {
    case 0:
      return { ...spec, topologySpreadConstraints: [spread] };
    case 1:
      return { ...spec, affinity: apart };
    case 2:
      return { ...spec, nodeSelector: { "karpenter.sh/capacity-type": "on-demand" } };
    default:
      return spec;
  }
}
