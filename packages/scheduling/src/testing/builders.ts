/** Builders of problems for tests: everything has a default, so that what a test sets is what it is about. */
import {
  type Affinity,
  type NodePool,
  type NodeSelectorRequirement,
  type Pod,
  parseResources,
  type ResourceTexts,
  type Taint,
  type Toleration,
  type TopologySpreadConstraint,
} from "@joinery/api";
import type { InstanceType, Offering } from "../instance-type.ts";
import { shapeOf } from "../pods/pod-shape.ts";
import type { BoundPods, DaemonSetShape, ExistingNode, PodToPlace, Problem, SolveOptions } from "../problem.ts";

export interface PodWish {
  readonly name?: string;
  readonly namespace?: string;
  readonly requests?: ResourceTexts;
  readonly labels?: Readonly<Record<string, string>>;
  readonly nodeSelector?: Readonly<Record<string, string>>;
  /** Required node-affinity terms. */
  readonly terms?: readonly (readonly NodeSelectorRequirement[])[];
  readonly affinity?: Affinity;
  readonly tolerations?: readonly Toleration[];
  readonly createdAtMs?: number;
  readonly spec?: Partial<Pod["spec"]>;
}

let podsMade = 0;

/** Pods with these labels over zones: no zone may have more than one above another. */
export function zoneSpread(
  labels: Readonly<Record<string, string>>,
  more: Partial<TopologySpreadConstraint> = {},
): TopologySpreadConstraint {
  const topologyKey = "topology.kubernetes.io/zone";
  return { maxSkew: 1, topologyKey, whenUnsatisfiable: "DoNotSchedule", labelSelector: { matchLabels: labels }, ...more };
}

export function aPod(wish: PodWish = {}): PodToPlace {
  const name = wish.name ?? `pod-${++podsMade}`;
  return { key: `default/${name}`, uid: name, createdAtMs: wish.createdAtMs ?? 0, shape: shapeOf(podObject(wish, name)) };
}

export function pods(count: number, wish: PodWish = {}): PodToPlace[] {
  return Array.from({ length: count }, (_, index) => aPod({ ...wish, name: `${wish.name ?? "p"}-${String(index).padStart(5, "0")}` }));
}

export function podObject(wish: PodWish, name: string): Pod {
  const nodeSelectorTerms = wish.terms?.map((matchExpressions) => ({ matchExpressions }));
  const affinity: Affinity | undefined =
    nodeSelectorTerms === undefined
      ? wish.affinity
      : { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } } };
  return {
    metadata: { name, namespace: wish.namespace ?? "default", labels: wish.labels ?? {} },
    spec: {
      containers: [{ name: "main", resources: { requests: wish.requests ?? {} } }],
      ...(wish.nodeSelector && { nodeSelector: wish.nodeSelector }),
      ...(affinity && { affinity }),
      ...(wish.tolerations && { tolerations: wish.tolerations }),
      ...wish.spec,
    },
  };
}

export function aDaemonSet(wish: PodWish = {}): DaemonSetShape {
  const { key, shape } = aPod(wish);
  return { key, shape };
}

export interface PoolWish {
  readonly name?: string;
  readonly weight?: number;
  readonly labels?: Readonly<Record<string, string>>;
  readonly requirements?: NodePool["spec"]["template"]["spec"]["requirements"];
  readonly taints?: readonly Taint[];
  readonly startupTaints?: readonly Taint[];
  readonly limits?: NodePool["spec"]["limits"];
}

export function aPool(wish: PoolWish = {}): NodePool {
  const name = wish.name ?? "default";
  return {
    apiVersion: "karpenter.sh/v1",
    kind: "NodePool",
    metadata: { name, uid: `uid-${name}` },
    spec: {
      template: {
        metadata: { labels: wish.labels ?? {} },
        spec: {
          nodeClassRef: { group: "karpenter.test.sh", kind: "TestNodeClass", name: "default" },
          requirements: wish.requirements ?? [
            { key: "karpenter.sh/capacity-type", operator: "In", values: ["spot", "on-demand", "reserved"] },
          ],
          ...(wish.taints && { taints: wish.taints as NodePool["spec"]["template"]["spec"]["taints"] }),
          ...(wish.startupTaints && { startupTaints: wish.startupTaints as NodePool["spec"]["template"]["spec"]["startupTaints"] }),
          expireAfter: "Never",
        },
      },
      ...(wish.weight !== undefined && { weight: wish.weight }),
      ...(wish.limits && { limits: wish.limits }),
    },
  };
}

export interface TypeWish {
  readonly name: string;
  readonly cpu: number;
  readonly memory: string;
  readonly pods?: number;
  readonly arch?: string;
  readonly resources?: ResourceTexts;
  readonly offerings?: readonly Offering[];
  readonly volumeLimits?: InstanceType["volumeLimits"];
  /** Further single-valued labels. */
  readonly labels?: Readonly<Record<string, string>>;
}

/** A type of the fixture of the chapter's scenarios: 100m CPU and 10Mi reserved, five offerings at the type's price. */
export function aType(wish: TypeWish): InstanceType {
  const capacity = parseResources({ cpu: wish.cpu, memory: wish.memory, pods: wish.pods ?? 5, ...wish.resources });
  const price = 0.1 * wish.cpu + (0.1 * capacity.memory!) / 1e9 + Object.keys(wish.resources ?? {}).length;
  const offerings = wish.offerings ?? fiveOfferings(price);
  const isLarge = wish.cpu > 4 && capacity.memory! > 8 * 1024 ** 3;
  const valuesOf = (key: string) => [
    ...new Set(offerings.flatMap(({ requirements }) => requirements.find((item) => item.key === key)?.values ?? [])),
  ];
  return {
    name: wish.name,
    requirements: [
      { key: "node.kubernetes.io/instance-type", operator: "In", values: [wish.name] },
      { key: "kubernetes.io/arch", operator: "In", values: [wish.arch ?? "amd64"] },
      {
        key: "kubernetes.io/os",
        operator: "In",
        values: wish.arch === "arm64" ? ["ios", "linux", "windows", "darwin"] : ["linux", "windows", "darwin"],
      },
      { key: "topology.kubernetes.io/zone", operator: "In", values: valuesOf("topology.kubernetes.io/zone") },
      { key: "karpenter.sh/capacity-type", operator: "In", values: valuesOf("karpenter.sh/capacity-type") },
      { key: "size", operator: "In", values: [isLarge ? "large" : "small"] },
      isLarge ? { key: "special", operator: "In", values: ["optional"] } : { key: "special", operator: "DoesNotExist" },
      { key: "integer", operator: "In", values: [String(wish.cpu)] },
      ...Object.entries(wish.labels ?? {}).map(([key, value]) => ({ key, operator: "In", values: [value] }) as const),
    ],
    capacity,
    overhead: { kubeReserved: parseResources({ cpu: "100m", memory: "10Mi" }), systemReserved: {}, evictionThreshold: {} },
    offerings,
    ...(wish.volumeLimits && { volumeLimits: wish.volumeLimits }),
  };
}

export function anOffering(capacityType: string, zone: string, priceUsdPerHour: number, more: Partial<Offering> = {}): Offering {
  const requirements = [
    { key: "karpenter.sh/capacity-type", operator: "In", values: [capacityType] },
    { key: "topology.kubernetes.io/zone", operator: "In", values: [zone] },
  ] as const;
  return { requirements, priceUsdPerHour, isAvailable: true, ...more };
}

/** A reserved offering at next to no price. */
export function aReservation({
  id,
  slots,
  zone,
  isAvailable = true,
}: {
  id: string;
  slots: number;
  zone: string;
  isAvailable?: boolean;
}): Offering {
  const { requirements, ...offering } = anOffering("reserved", zone, 0.001, { isAvailable, reservationCapacity: slots });
  return {
    ...offering,
    requirements: [...requirements, { key: "karpenter.k8s.aws/capacity-reservation-id", operator: "In", values: [id] }],
  };
}

function fiveOfferings(price: number): Offering[] {
  return [
    anOffering("spot", "z1", price),
    anOffering("spot", "z2", price),
    anOffering("on-demand", "z1", price),
    anOffering("on-demand", "z2", price),
    anOffering("on-demand", "z3", price),
  ];
}

/** The six types of the chapter's fixture. */
export const FIXTURE_TYPES: readonly InstanceType[] = [
  aType({ name: "default", cpu: 4, memory: "4Gi" }),
  aType({ name: "small", cpu: 2, memory: "2Gi" }),
  aType({ name: "gpu-a", cpu: 4, memory: "4Gi", resources: { "vendor-a": 2 } }),
  aType({ name: "gpu-b", cpu: 4, memory: "4Gi", resources: { "vendor-b": 2 } }),
  aType({ name: "arm", cpu: 16, memory: "128Gi", arch: "arm64" }),
  aType({ name: "single", cpu: 4, memory: "4Gi", pods: 1 }),
];

export interface NodeWish {
  readonly name: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly taints?: readonly Taint[];
  readonly allocatable?: ResourceTexts;
  readonly daemonSetRequests?: ResourceTexts;
  readonly isInitialized?: boolean;
  readonly volumeLimits?: ExistingNode["volumeLimits"];
}

export function aNode(wish: NodeWish): ExistingNode {
  const amounts = parseResources(wish.allocatable ?? { cpu: 4, memory: "4Gi", pods: 5 });
  return {
    name: wish.name,
    labels: { "kubernetes.io/hostname": wish.name, ...wish.labels },
    taints: wish.taints ?? [],
    capacity: amounts,
    available: amounts,
    daemonSetRequests: parseResources(wish.daemonSetRequests),
    isInitialized: wish.isInitialized ?? true,
    ...(wish.volumeLimits && { volumeLimits: wish.volumeLimits }),
  };
}

/** `count` pods as wished on a node, which need not be one of the problem's. */
export function bound(wish: PodWish, node: NodeWish, count = 1, endingCount = 0): BoundPods {
  const { name, labels, taints } = aNode(node);
  return { shape: aPod(wish).shape, site: { name, labels, taints }, count, endingCount };
}

export interface ProblemWish {
  readonly pods?: readonly PodToPlace[];
  readonly nodes?: readonly ExistingNode[];
  readonly pools?: readonly NodePool[];
  readonly types?: readonly InstanceType[];
  readonly daemonSets?: readonly DaemonSetShape[];
  readonly boundPods?: readonly BoundPods[];
  readonly namespaces?: Problem["namespaces"];
  readonly claims?: Problem["claims"];
  readonly options?: Partial<SolveOptions>;
}

export const FIXTURE_LABELS: ReadonlySet<string> = new Set(["size", "special", "integer", "karpenter.k8s.aws/capacity-reservation-id"]);

export function aProblem(wish: ProblemWish): Problem {
  const instanceTypes = wish.types ?? FIXTURE_TYPES;
  return {
    pods: wish.pods ?? [aPod()],
    nodes: wish.nodes ?? [],
    pools: (wish.pools ?? [aPool()]).map((nodePool) => ({ nodePool, instanceTypes })),
    daemonSets: wish.daemonSets ?? [],
    ...(wish.boundPods && { boundPods: wish.boundPods }),
    ...(wish.claims && { claims: wish.claims }),
    ...(wish.namespaces && { namespaces: wish.namespaces }),
    options: { preferencePolicy: "Ignore", minValuesPolicy: "Strict", wellKnownLabels: FIXTURE_LABELS, ...wish.options },
  };
}
