/** The problems that are solved, each from a size and a seed. */
import { type NodePool, type Pod, type PodSpec, parseResources } from "@joinery/api";
import { createShapeInterner, type ExistingNode, type InstanceType, type PodToPlace, type Problem, shapeOf } from "@joinery/scheduling";
import { familyTypes, growingTypes, ZONES } from "./catalogs.ts";
import { poolProblem } from "./pools.ts";
import { type Chance, chance } from "./random.ts";

export interface CorpusSize {
  readonly pods: number;
  readonly types: number;
  readonly seed: number;
}

const HOSTNAME = "kubernetes.io/hostname";
const ZONE = "topology.kubernetes.io/zone";
const CPUS = [100, 250, 500, 1000, 1500];
const MEMORIES = [100, 256, 512, 1024, 2048, 4096];

/** `types` counts only where the catalogue has no size of its own. */
export const CORPORA: Readonly<Record<string, (size: CorpusSize) => Problem | Promise<Problem>>> = {
  /** A fifth each: plain, zone spread, hostname spread, zone affinity, hostname anti-affinity. */
  diverse: ({ pods, types, seed }) => {
    const random = chance(seed);
    const kinds = [plain, spread(ZONE), spread(HOSTNAME), zoneAffinity, hostnameAntiAffinity];
    const objects = range(pods).map((index) => kinds[Math.floor((index * kinds.length) / pods)]!(index, random));
    return problem(objects, growingTypes(types), [pool("default")]);
  },
  /** Equal pods that prefer a zone and to be alone in zone and on node: every preference is tried for every pod. */
  preferences: ({ pods, types, seed }) => {
    const random = chance(seed);
    const wanted = requests(random);
    const objects = range(pods).map((index) => pod(index, wanted, NGINX, { affinity: PREFERENCES }));
    const { options, ...rest } = problem(objects, growingTypes(types), [pool("default")]);
    return { ...rest, options: { ...options, preferencePolicy: "Respect" } };
  },
  /** No constraint but requests. */
  plain: ({ pods, types, seed }) => {
    const random = chance(seed);
    return problem(
      range(pods).map((index) => plain(index, random)),
      growingTypes(types),
      [pool("default")],
    );
  },
  /** Zones, capacity types and teams by node selector, two pools, one of them tainted. */
  selectors: ({ pods, seed }) => {
    const random = chance(seed);
    const objects = range(pods).map((index) => {
      const nodeSelector: Record<string, string> = {};
      if (random.fraction() < 0.3) nodeSelector[ZONE] = random.pick(ZONES);
      if (random.fraction() < 0.3) nodeSelector["karpenter.sh/capacity-type"] = random.pick(["spot", "on-demand"]);
      if (random.fraction() < 0.3) nodeSelector.team = `team-${Math.floor(random.fraction() * 20)}`;
      const tolerations = random.fraction() < 0.2 ? [{ key: "team", operator: "Exists" as const }] : [];
      return pod(index, requests(random), {}, { nodeSelector, tolerations });
    });
    const tainted = pool("special", { weight: 50, taints: [{ key: "team", value: "ml", effect: "NoSchedule" }] });
    return problem(objects, familyTypes(random), [pool("default"), tainted]);
  },
  /** Almost every pod has requests of its own. */
  "heavy-tail": ({ pods, seed }) => {
    const random = chance(seed);
    const objects = range(pods).map((index) => {
      const cpu = Math.min(30_000, Math.floor(50 * (1 - random.fraction()) ** (-1 / 0.9)));
      const memory = Math.min(120_000, Math.max(32, Math.floor(cpu * Math.exp(1 + 0.9 * random.gauss()))));
      return pod(index, { cpu: `${cpu}m`, memory: `${memory}Mi` }, {});
    });
    return problem(objects, familyTypes(random), [pool("default")]);
  },
  /** A node for every 40 pods is there already. */
  existing: ({ pods, seed }) => {
    const random = chance(seed);
    const nodes = range(Math.ceil(pods / 40)).map((index) => existingNode(index, random));
    return {
      ...problem(
        range(pods).map((index) => plain(index, random)),
        familyTypes(random),
        [pool("default")],
      ),
      nodes,
    };
  },
  /** The types of EC2, one NodePool, and what 19 more of them add: with the same list of types, and with one each. */
  "ec2-pools-1": ({ pods, types, seed }) => poolProblem({ pods, types, seed, pools: 1, isListed: false }),
  "ec2-pools-20": ({ pods, types, seed }) => poolProblem({ pods, types, seed, pools: 20, isListed: false }),
  "ec2-classes-20": ({ pods, types, seed }) => poolProblem({ pods, types, seed, pools: 20, isListed: true }),
};

const NGINX = { app: "nginx" };

const PREFERENCES: PodSpec["affinity"] = {
  nodeAffinity: {
    preferredDuringSchedulingIgnoredDuringExecution: [
      { weight: 1, preference: { matchExpressions: [{ key: ZONE, operator: "In", values: [ZONES[0]!] }] } },
    ],
  },
  podAntiAffinity: {
    preferredDuringSchedulingIgnoredDuringExecution: [
      { weight: 10, podAffinityTerm: { labelSelector: { matchLabels: NGINX }, topologyKey: ZONE } },
      { weight: 1, podAffinityTerm: { labelSelector: { matchLabels: NGINX }, topologyKey: HOSTNAME } },
    ],
  },
};

function problem(objects: readonly Pod[], instanceTypes: readonly InstanceType[], pools: readonly NodePool[]): Problem {
  const interner = createShapeInterner();
  const pods = objects.map(
    (object): PodToPlace => ({
      key: `default/${object.metadata!.name}`,
      uid: object.metadata!.uid!,
      createdAtMs: 0,
      shape: interner.intern(shapeOf(object)),
    }),
  );
  return {
    pods,
    nodes: [],
    pools: pools.map((nodePool) => ({ nodePool, instanceTypes })),
    daemonSets: [],
    options: { preferencePolicy: "Ignore", minValuesPolicy: "Strict" },
  };
}

function pool(name: string, more: Partial<{ weight: number; taints: NodePool["spec"]["template"]["spec"]["taints"] }> = {}): NodePool {
  return {
    apiVersion: "karpenter.sh/v1",
    kind: "NodePool",
    metadata: { name, uid: name },
    spec: {
      template: {
        spec: {
          nodeClassRef: { group: "karpenter.kwok.sh", kind: "KWOKNodeClass", name: "default" },
          requirements: [
            { key: "kubernetes.io/os", operator: "In", values: ["linux"] },
            { key: "team", operator: "Exists" },
          ],
          ...(more.taints && { taints: more.taints }),
          expireAfter: "Never",
        },
      },
      limits: { cpu: "10000000", memory: "10000000Gi" },
      ...(more.weight !== undefined && { weight: more.weight }),
    },
  };
}

function plain(index: number, random: Chance): Pod {
  return pod(index, requests(random), { "my-label": random.pick([..."abcdefg"]) });
}

function spread(topologyKey: string): (index: number, random: Chance) => Pod {
  return (index, random) => {
    const labelSelector = { matchLabels: { "my-label": random.pick([..."abcdefg"]) } };
    const topologySpreadConstraints = [{ maxSkew: 1, topologyKey, whenUnsatisfiable: "DoNotSchedule" as const, labelSelector }];
    return pod(index, requests(random), { "my-label": random.pick([..."abcdefg"]) }, { topologySpreadConstraints });
  };
}

function zoneAffinity(index: number, random: Chance): Pod {
  const labels = { "my-affinity": random.pick([..."abcdefg"]) };
  const term = { topologyKey: ZONE, labelSelector: { matchLabels: labels } };
  return pod(index, requests(random), labels, { affinity: { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [term] } } });
}

function hostnameAntiAffinity(index: number, random: Chance): Pod {
  const labels = { app: "nginx" };
  const term = { topologyKey: HOSTNAME, labelSelector: { matchLabels: labels } };
  return pod(index, requests(random), labels, {
    affinity: { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [term] } },
  });
}

function pod(index: number, requested: Record<string, string>, labels: Record<string, string>, spec: Partial<PodSpec> = {}): Pod {
  const name = `p-${String(index).padStart(6, "0")}`;
  return {
    metadata: { name, namespace: "default", uid: `uid-${name}`, labels },
    spec: { containers: [{ name: "main", resources: { requests: requested } }], ...spec },
  };
}

function requests(random: Chance): Record<string, string> {
  return { cpu: `${random.pick(CPUS)}m`, memory: `${random.pick(MEMORIES)}Mi` };
}

function existingNode(index: number, random: Chance): ExistingNode {
  const name = `node-${index}`;
  return {
    name,
    labels: {
      [HOSTNAME]: name,
      [ZONE]: ZONES[index % ZONES.length]!,
      "karpenter.sh/nodepool": "default",
      "kubernetes.io/arch": "amd64",
      "kubernetes.io/os": "linux",
    },
    taints: [],
    capacity: parseResources({ cpu: "16", memory: "64Gi", pods: "234" }),
    available: parseResources({ cpu: `${15_890 - random.pick([4000, 9000, 14_000])}m`, memory: "44Gi", pods: "233" }),
    daemonSetRequests: {},
    isInitialized: true,
  };
}

function range(length: number): number[] {
  return Array.from({ length }, (_, index) => index);
}
