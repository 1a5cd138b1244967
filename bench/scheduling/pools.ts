/** Twenty teams' NodePools over everything that EC2 sells in three zones. */
import { AWS_VOCABULARY, type NodePool } from "@joinery/api";
import { loadBuiltInCatalogue } from "@joinery/aws";
import type { InstanceType, PodToPlace, Problem } from "@joinery/scheduling";
import type { CorpusSize } from "./corpora.ts";
import { chance } from "./random.ts";

const ZONES = ["us-east-1a", "us-east-1b", "us-east-1c"];
const ZONE = "topology.kubernetes.io/zone";

export interface PoolWish extends CorpusSize {
  readonly pools: number;
  /** Each pool has a list of its own, as with a node class each; else all share one. */
  readonly isListed: boolean;
}

/** Requests as in the other corpora; a pod in two belongs to a team, and a third of the pods is bound to a zone. */
export async function poolProblem({ pods, seed, pools, isListed }: PoolWish): Promise<Problem> {
  const random = chance(seed);
  const types = (await loadBuiltInCatalogue("us-east-1")).types.map(inThreeZones);
  const shapes = new Map<string, PodToPlace["shape"]>();
  const list = Array.from({ length: pods }, (_, index): PodToPlace => {
    const team = random.fraction() < 0.5 ? `team-${Math.floor(random.fraction() * pools)}` : undefined;
    const zone = random.fraction() < 0.33 ? random.pick(ZONES) : undefined;
    const cpu = random.pick([100, 250, 500, 1000, 1500]);
    const memory = random.pick([100, 256, 512, 1024, 2048, 4096]) * 2 ** 20;
    const key = `${team} ${zone} ${cpu} ${memory}`;
    let shape = shapes.get(key);
    if (shape === undefined) {
      const nodeSelector = { ...(team !== undefined && { team }), ...(zone !== undefined && { [ZONE]: zone }) };
      const hasSelector = team !== undefined || zone !== undefined;
      shape = {
        namespace: "default",
        labels: {},
        requests: { cpu, memory, pods: 1 },
        tolerations: [],
        ...(hasSelector && { nodeSelector }),
      };
      shapes.set(key, shape);
    }
    const name = `p-${String(index).padStart(6, "0")}`;
    return { key: `default/${name}`, uid: `uid-${name}`, createdAtMs: 0, shape };
  });
  return {
    pods: list,
    nodes: [],
    pools: Array.from({ length: pools }, (_, index) => ({ nodePool: teamPool(index), instanceTypes: isListed ? [...types] : types })),
    daemonSets: [],
    options: { preferencePolicy: "Respect", minValuesPolicy: "Strict", wellKnownLabels: AWS_VOCABULARY.wellKnown },
  };
}

/** Without labels that are there but empty, which a catalogue file cannot say. */
function inThreeZones(type: InstanceType): InstanceType {
  const isNear = ({ key, values = [] }: { readonly key: string; readonly values?: readonly string[] }) =>
    key !== ZONE || ZONES.includes(values[0]!);
  return {
    ...type,
    requirements: type.requirements
      .filter(({ values }) => values?.[0] !== "")
      .map((item) => (item.key === ZONE ? { ...item, values: (item.values ?? []).filter((zone) => ZONES.includes(zone)) } : item)),
    offerings: type.offerings.filter(({ requirements }) => requirements.every(isNear)),
  };
}

function teamPool(index: number): NodePool {
  const capacityType = { key: "karpenter.sh/capacity-type", operator: "In" as const, values: ["spot", "on-demand"] };
  const family = {
    key: "karpenter.k8s.aws/instance-category",
    operator: "In" as const,
    values: [
      ["c", "m", "r"],
      ["m", "r"],
      ["c", "m"],
    ][index % 3]!,
  };
  return {
    apiVersion: "karpenter.sh/v1",
    kind: "NodePool",
    metadata: { name: `team-${index}`, uid: `team-${index}` },
    spec: {
      weight: (index % 5) + 1,
      template: {
        metadata: { labels: { team: `team-${index}` } },
        spec: {
          nodeClassRef: { group: "karpenter.k8s.aws", kind: "EC2NodeClass", name: "default" },
          requirements: [capacityType, family],
          expireAfter: "Never",
        },
      },
      limits: { cpu: String(100_000 + 100 * index) },
    },
  };
}
