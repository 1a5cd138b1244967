/** Those who say what capacity they want beside their pods: how many nodes a static pool has, room to keep free, what types cost. */
import { CapacityBuffers, Deployments, type NodeOverlay, NodeOverlays, type NodePool, NodePools } from "@joinery/api";
import type { KubeClient, Random } from "@joinery/kube";
import type { Habit } from "./people.ts";
import type { Truth } from "./truth.ts";

/** The static NodePool of the simulated cluster. */
const STATIC_POOL = "always";
const STATIC_REPLICAS_MAX = 4;
const BUFFERS = ["room-a", "room-b"];
const OVERLAYS = ["rebate-a", "rebate-b", "fuses-a", "fuses-b"];
const FAMILIES = ["c6a", "m6a", "r6a"];
const DEPLOYMENTS = ["web", "api", "cart"];

export interface CapacityPeople {
  readonly habits: readonly Habit[];
  /** Undoes what would keep a pool from having its nodes. */
  relax(): Promise<void>;
}

interface CapacityPeopleOptions {
  readonly user: KubeClient;
  readonly truth: Truth;
  readonly random: Random;
}

/** What is there when the cluster begins. */
export async function installCapacity(user: KubeClient): Promise<void> {
  await user.create(NodePools, aStaticPool());
}

export function createCapacityPeople({ user, truth, random }: CapacityPeopleOptions): CapacityPeople {
  const pick = <T>(from: readonly T[]): T => from[random.below(from.length)] as T;
  const merge = (body: unknown) => ({ type: "merge" as const, body });

  async function scalePool(): Promise<string> {
    const replicas = random.below(STATIC_REPLICAS_MAX + 1);
    await user.patch(NodePools, { name: STATIC_POOL }, merge({ spec: { replicas } }));
    return `wants ${replicas} nodes in pool ${STATIC_POOL}`;
  }

  async function limitPool(): Promise<string> {
    const nodes = String(1 + random.below(STATIC_REPLICAS_MAX + 2));
    await user.patch(NodePools, { name: STATIC_POOL }, merge({ spec: { limits: { nodes } } }));
    return `limits pool ${STATIC_POOL} to ${nodes} nodes`;
  }

  async function keepRoom(): Promise<string> {
    const name = pick(BUFFERS);
    const size = pick<object>([
      { replicas: 1 + random.below(4) },
      { percentage: 10 + random.below(150) },
      { replicas: 6, limits: { cpu: "3" } },
    ]);
    const scalableRef = { apiGroup: "apps", kind: "Deployment", name: pick(DEPLOYMENTS) };
    const there = [...truth.buffers()].find(({ metadata }) => metadata?.name === name);
    if (there !== undefined) await user.delete(CapacityBuffers, { namespace: "default", name });
    await user.create(CapacityBuffers, { metadata: { namespace: "default", name }, spec: { scalableRef, ...size } });
    return `keeps room for ${scalableRef.name}: ${name} ${JSON.stringify(size)}`;
  }

  async function dropRoom(): Promise<string> {
    const name = pick(BUFFERS);
    await user.delete(CapacityBuffers, { namespace: "default", name });
    return `drops ${name}`;
  }

  async function overlay(): Promise<string> {
    const name = pick(OVERLAYS);
    const there = [...truth.overlays()].some(({ metadata }) => metadata?.name === name);
    if (there) await user.delete(NodeOverlays, { name });
    if (there && random.below(2) === 0) return `drops overlay ${name}`;
    const spec = anOverlaySpec(name.startsWith("rebate"));
    await user.create(NodeOverlays, { metadata: { name }, spec });
    return `puts overlay ${name}: ${JSON.stringify(spec)}`;
  }

  function anOverlaySpec(isPrice: boolean): NodeOverlay["spec"] {
    return {
      weight: 1 + random.below(2),
      requirements: [{ key: "karpenter.k8s.aws/instance-family", operator: "In", values: [pick(FAMILIES)] }],
      ...(isPrice
        ? { priceAdjustment: pick(["-40%", "+25%", "-0.05"]) }
        : { capacity: { "example.com/fuse": String(1 + random.below(4)) } }),
    };
  }

  async function valuePods(): Promise<string> {
    const name = pick(DEPLOYMENTS);
    const annotations = { "karpenter.sh/disruption-cost": pick(["100", "-5", "much", null]) };
    await user.patch(Deployments, { namespace: "default", name }, merge({ spec: { template: { metadata: { annotations } } } }));
    return `values pods of ${name} at ${annotations["karpenter.sh/disruption-cost"]}`;
  }

  return {
    habits: [
      { weight: 2, habit: scalePool },
      { weight: 1, habit: limitPool },
      { weight: 2, habit: keepRoom },
      { weight: 1, habit: dropRoom },
      { weight: 2, habit: overlay },
      { weight: 1, habit: valuePods },
    ],
    async relax() {
      await user.patch(NodePools, { name: STATIC_POOL }, merge({ spec: { limits: { nodes: String(2 * STATIC_REPLICAS_MAX) } } }));
    },
  };
}

function aStaticPool(): NodePool {
  return {
    metadata: { name: STATIC_POOL },
    spec: {
      replicas: 2,
      limits: { nodes: String(STATIC_REPLICAS_MAX) },
      template: {
        spec: {
          nodeClassRef: { group: "karpenter.k8s.aws", kind: "EC2NodeClass", name: "default" },
          requirements: [
            { key: "karpenter.sh/capacity-type", operator: "In", values: ["on-demand"] },
            { key: "karpenter.k8s.aws/instance-cpu", operator: "Lt", values: ["5"] },
          ],
          expireAfter: "14h",
        },
      },
    },
  };
}
