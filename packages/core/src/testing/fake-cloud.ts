/** A cloud of one instance type, whose instances join the cluster by themselves. For this room's tests. */
import {
  CORE_VOCABULARY,
  type Kind,
  kind,
  type Node,
  type NodeClaim,
  type NodePool,
  nodeClassLabel,
  UNREGISTERED_TAINT,
} from "@joinery/api";
import type { Clock } from "@joinery/kube";
import type { InstanceType } from "@joinery/scheduling";
import type { CloudProvider, Instance, LaunchOutcome } from "../cloud-provider.ts";
import type { ProviderFactory } from "../controller.ts";
import type { FakeApi } from "./fake-api.ts";

export const TestNodeClasses: Kind = kind("test.joinery.dev", "v1", "TestNodeClass", "testnodeclasses", false);

export interface FakeCloud {
  readonly factory: ProviderFactory;
  readonly instances: Map<string, Instance & { readonly uid: string }>;
  /** What launches answer; a new instance when absent. May throw. */
  onLaunch: ((claim: NodeClaim) => LaunchOutcome | undefined) | undefined;
  /** Called after an instance exists and before anyone is told; throws to lose the answer. */
  onLaunched: ((claim: NodeClaim) => void) | undefined;
  /** Called before an instance ends; throws to keep it. */
  onTerminate: (() => void) | undefined;
  joinsAfterMs: number | undefined;
  launches: number;
  types: readonly InstanceType[];
  /** May throw: the types of a pool cannot be had. */
  onInstanceTypes: ((pool: NodePool) => void) | undefined;
}

const zone = (name: string) => [
  { key: "karpenter.sh/capacity-type", operator: "In" as const, values: ["on-demand"] },
  { key: "topology.kubernetes.io/zone", operator: "In" as const, values: [name] },
];

const SMALL: InstanceType = {
  name: "small",
  requirements: [
    { key: "node.kubernetes.io/instance-type", operator: "In", values: ["small"] },
    { key: "kubernetes.io/arch", operator: "In", values: ["amd64"] },
    { key: "kubernetes.io/os", operator: "In", values: ["linux"] },
    { key: "karpenter.sh/capacity-type", operator: "In", values: ["on-demand"] },
    { key: "topology.kubernetes.io/zone", operator: "In", values: ["zone-a"] },
  ],
  capacity: { cpu: 4000, memory: 16 * 2 ** 30, pods: 110, "ephemeral-storage": 20 * 2 ** 30 },
  overhead: { kubeReserved: {}, systemReserved: {}, evictionThreshold: {} },
  offerings: [{ requirements: zone("zone-a"), priceUsdPerHour: 0.2, isAvailable: true }],
};

export function createFakeCloud(api: FakeApi, clock: Clock): FakeCloud {
  const instances: FakeCloud["instances"] = new Map();
  const cloud: FakeCloud = {
    factory: { nodeClassKinds: [TestNodeClasses], vocabulary: CORE_VOCABULARY, create: () => ({ cloud: provider }) },
    instances,
    onLaunch: undefined,
    onLaunched: undefined,
    onTerminate: undefined,
    joinsAfterMs: 20_000,
    launches: 0,
    types: [SMALL],
    onInstanceTypes: undefined,
  };

  function join({ providerId, labels }: Instance, name: string): void {
    if (!instances.has(providerId)) return;
    const resources = { cpu: "4", memory: "16Gi", pods: "110", "ephemeral-storage": "20Gi" };
    const notReady = { key: "node.kubernetes.io/not-ready", effect: "NoSchedule" };
    const status = (ready: string) => ({ capacity: resources, allocatable: resources, conditions: [{ type: "Ready", status: ready }] });
    const path = `/api/v1/nodes/node-${name}`;
    api.put(path, {
      metadata: { labels: { "kubernetes.io/hostname": `node-${name}`, ...labels } },
      spec: { providerID: providerId, taints: [UNREGISTERED_TAINT, notReady] },
      status: status("False"),
    });
    clock.after(5000, () => {
      const node = api.find<Node>(path);
      if (node === undefined) return;
      api.put(path, { spec: { taints: (node.spec?.taints ?? []).filter(({ key }) => key !== notReady.key) }, status: status("True") });
    });
  }

  const provider: CloudProvider = {
    name: "fake",
    nodeClassKinds: [TestNodeClasses],
    wellKnownLabels: CORE_VOCABULARY.wellKnown,
    restrictedLabelDomains: [],
    async instanceTypes(pool) {
      cloud.onInstanceTypes?.(pool);
      return cloud.types;
    },
    async launch(claim): Promise<LaunchOutcome> {
      cloud.launches++;
      const answer = cloud.onLaunch?.(claim);
      if (answer !== undefined) return answer;
      const uid = claim.metadata?.uid ?? "";
      const known = [...instances.values()].find((instance) => instance.uid === uid);
      if (known !== undefined) return { kind: "launched", instance: known };
      const instance = {
        uid,
        providerId: `fake:///${uid}`,
        imageId: "image-1",
        capacity: SMALL.capacity,
        allocatable: SMALL.capacity,
        createdAtMs: clock.wallMs(),
        nodeClaimName: claim.metadata?.name,
        annotations: {},
        labels: {
          "node.kubernetes.io/instance-type": "small",
          "topology.kubernetes.io/zone": "zone-a",
          "karpenter.sh/capacity-type": "on-demand",
          "kubernetes.io/arch": "amd64",
          "kubernetes.io/os": "linux",
          [nodeClassLabel(TestNodeClasses)]: "default",
        },
      };
      instances.set(instance.providerId, instance);
      if (cloud.joinsAfterMs !== undefined) clock.after(cloud.joinsAfterMs, () => join(instance, claim.metadata?.name ?? ""));
      cloud.onLaunched?.(claim);
      return { kind: "launched", instance };
    },
    async terminate({ status }) {
      cloud.onTerminate?.();
      return instances.delete(status?.providerID ?? "") ? "accepted" : "gone";
    },
    find: async (providerId) => instances.get(providerId),
    list: async () => [...instances.values()],
  };
  return cloud;
}
