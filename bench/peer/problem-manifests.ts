/**
 * A problem as manifests and a catalogue, so that a scheduler which reads files can be asked about it. What files cannot say is left out:
 * offerings that alter their type, reservations, attachments of volumes, pods that are on their way out, and nodes that are leaving.
 */
import { formatResources, type Resources, subtractResources, sumResources, type Taint } from "@joinery/api";
import type {
  BoundPods,
  DaemonSetShape,
  ExistingNode,
  InstanceType,
  Offering,
  PodShape,
  PodToPlace,
  PoolOffer,
  Problem,
  RequirementItem,
  VolumeClaim,
} from "@joinery/scheduling";

const CAPACITY_TYPE = "karpenter.sh/capacity-type";
const REGISTERED = { "karpenter.sh/registered": "true", "karpenter.sh/initialized": "true" };
/** Labels that a type of a catalogue has in fields of their own. */
const FIELDS = new Set([
  "node.kubernetes.io/instance-type",
  "kubernetes.io/arch",
  "kubernetes.io/os",
  "topology.kubernetes.io/zone",
  CAPACITY_TYPE,
]);

export interface ManifestFiles {
  /** A `List`. */
  readonly manifests: object;
  readonly catalog: readonly object[];
}

export function problemManifests({ pods, nodes, pools, daemonSets, boundPods = [], claims, namespaces }: Problem): ManifestFiles {
  const items = [
    ...Array.from(namespaces ?? [], ([name, labels]) => ({ apiVersion: "v1", kind: "Namespace", metadata: { name, labels } })),
    ...pools.map(poolManifest),
    ...daemonSets.map(daemonSetManifest),
    ...nodes.map((node) => nodeManifest(node, boundPods)),
    ...Array.from(claims ?? [], ([key, claim]) => claimManifests(key, claim)).flat(),
    ...boundPods.flatMap((bound, index) => boundManifests(bound, index, nodes)),
    ...pods.map(podManifest),
  ];
  return { manifests: { apiVersion: "v1", kind: "List", items }, catalog: pools[0]!.instanceTypes.map(typeManifest) };
}

function typeManifest({ name, requirements, capacity, overhead, offerings }: InstanceType): object {
  const values = (key: string) => requirements.find((item) => item.key === key)?.values ?? [];
  const labels = requirements
    .filter(({ key, operator }) => operator === "In" && !FIELDS.has(key))
    .map((item) => [item.key, item.values![0]]);
  return {
    name,
    architecture: values("kubernetes.io/arch")[0],
    operatingSystems: values("kubernetes.io/os"),
    resources: amountsOf(capacity),
    overhead: formatResources(sumResources(overhead.kubeReserved, overhead.systemReserved, overhead.evictionThreshold)),
    labels: Object.fromEntries(labels),
    offerings: offerings.filter((offering) => !isReserved(offering)).map(offeringManifest),
  };
}

function isReserved({ requirements }: Offering): boolean {
  return requirements.some(({ key, values }) => key === CAPACITY_TYPE && values?.[0] === "reserved");
}

function offeringManifest({ priceUsdPerHour, isAvailable, requirements }: Offering): object {
  return { Price: priceUsdPerHour, Available: isAvailable, Requirements: requirements };
}

function poolManifest({ nodePool }: PoolOffer): object {
  const nodeClassRef = { group: "karpenter.kwok.sh", kind: "KWOKNodeClass", name: "default" };
  const { template } = nodePool.spec;
  const spec = { ...template.spec, nodeClassRef, taints: distinctTaints(template.spec.taints ?? []) };
  return { ...nodePool, spec: { ...nodePool.spec, template: { ...template, spec } } };
}

function daemonSetManifest({ key, shape }: DaemonSetShape): object {
  const [namespace, name] = key.split("/");
  const { metadata, spec } = podOf(shape, name!);
  const labels = { daemon: name! };
  return {
    apiVersion: "apps/v1",
    kind: "DaemonSet",
    metadata: { name, namespace, uid: key },
    spec: { selector: { matchLabels: labels }, template: { metadata: { labels: { ...metadata.labels, ...labels } }, spec } },
  };
}

function nodeManifest({ name, labels, taints, available }: ExistingNode, boundPods: readonly BoundPods[]): object {
  const bound = boundPods
    .filter(({ site }) => site.name === name)
    .flatMap(({ shape, count }) => Array.from({ length: count }, () => shape.requests));
  const amounts = amountsOf(sumResources(available, ...bound));
  return {
    apiVersion: "v1",
    kind: "Node",
    metadata: { name, labels: { ...labels, ...REGISTERED } },
    spec: { providerID: `catalog://${name}`, taints: distinctTaints(taints) },
    status: { capacity: amounts, allocatable: amounts, conditions: [{ type: "Ready", status: "True" }] },
  };
}

/** A claim that is bound to a volume which can be reached where one of the alternatives is met. */
function claimManifests(key: string, { alternatives, driver }: VolumeClaim): object[] {
  const [namespace, name] = key.split("/");
  const volumeName = `pv-${namespace}-${name}`;
  const amount = { storage: "1Gi" };
  const accessModes = ["ReadWriteOnce"];
  const term = (matchExpressions: readonly RequirementItem[]) => ({ matchExpressions });
  return [
    {
      apiVersion: "v1",
      kind: "PersistentVolumeClaim",
      metadata: { name, namespace, uid: `claim/${key}`, annotations: { "pv.kubernetes.io/bind-completed": "yes" } },
      spec: { accessModes, volumeName, storageClassName: "", resources: { requests: amount } },
      status: { phase: "Bound" },
    },
    {
      apiVersion: "v1",
      kind: "PersistentVolume",
      metadata: { name: volumeName, uid: `volume/${key}` },
      spec: {
        accessModes,
        capacity: amount,
        csi: { driver: driver ?? "d0", volumeHandle: volumeName },
        ...(alternatives.length > 0 && { nodeAffinity: { required: { nodeSelectorTerms: alternatives.map(term) } } }),
      },
    },
  ];
}

function boundManifests({ shape, site, count }: BoundPods, index: number, nodes: readonly ExistingNode[]): object[] {
  if (!nodes.some(({ name }) => name === site.name)) return [];
  return Array.from({ length: count }, (_, number) => {
    const pod = podOf(shape, `bound-${index}-${number}`);
    return { ...pod, spec: { ...pod.spec, nodeName: site.name }, status: { phase: "Running" } };
  });
}

function podManifest({ key, uid, createdAtMs, shape }: PodToPlace): object {
  const pod = podOf(shape, key.split("/")[1]!);
  const second = String(Math.floor(createdAtMs / 1000)).padStart(2, "0");
  return { ...pod, metadata: { ...pod.metadata, uid, creationTimestamp: `2026-01-01T00:00:${second}Z` } };
}

/** What an API server would accept of the shape. */
function podOf({ namespace, labels, requests, nodeSelector, affinity, tolerations, ...more }: PodShape, name: string) {
  const amounts = amountsOf(withoutPods(requests));
  const limits = Object.fromEntries(Object.entries(amounts).filter(([resource]) => resource !== "cpu" && resource !== "memory"));
  const ports = more.hostPorts?.map(({ port, ip, protocol }) => ({ containerPort: port, hostPort: port, hostIP: ip, protocol }));
  const volumes = more.claimNames?.map((claimName) => ({ name: claimName, persistentVolumeClaim: { claimName } }));
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name, namespace, uid: `${namespace}/${name}`, labels },
    spec: {
      containers: [{ name: "main", image: "registry.example/app:1", resources: { requests: amounts, limits }, ...(ports && { ports }) }],
      nodeSelector,
      affinity: acceptableAffinity(affinity),
      tolerations,
      topologySpreadConstraints: acceptableSpreads(more.topologySpreadConstraints),
      volumes,
    },
  };
}

/** A term without an expression matches no node for kube-scheduler and every node for Karpenter. */
function acceptableAffinity(affinity: PodShape["affinity"]): PodShape["affinity"] {
  const { requiredDuringSchedulingIgnoredDuringExecution: required, ...nodeAffinity } = affinity?.nodeAffinity ?? {};
  if (required === undefined) return affinity;
  const nodeSelectorTerms = required.nodeSelectorTerms.filter(({ matchExpressions = [] }) => matchExpressions.length > 0);
  const kept = nodeSelectorTerms.length > 0 && { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } };
  return { ...affinity, nodeAffinity: { ...nodeAffinity, ...kept } };
}

function acceptableSpreads(spreads: PodShape["topologySpreadConstraints"] = []): PodShape["topologySpreadConstraints"] {
  const seen = new Set<string>();
  return spreads.flatMap(({ minDomains, matchLabelKeys, ...spread }) => {
    const key = `${spread.topologyKey} ${spread.whenUnsatisfiable}`;
    if (seen.has(key)) return [];
    seen.add(key);
    const isHard = spread.whenUnsatisfiable === "DoNotSchedule";
    const hasSelector = spread.labelSelector !== undefined;
    return [{ ...spread, ...(minDomains && isHard && { minDomains }), ...(matchLabelKeys && hasSelector && { matchLabelKeys }) }];
  });
}

/** Resources beyond the built-in ones have qualified names. */
function amountsOf(resources: Resources): Readonly<Record<string, string>> {
  const entries = Object.entries(formatResources(resources));
  return Object.fromEntries(entries.map(([name, amount]) => [name.startsWith("vendor-") ? `vendor.test/${name}` : name, amount]));
}

/** An API server takes each key and effect once. */
function distinctTaints(taints: readonly Taint[]): readonly Taint[] {
  return taints.filter(({ key, effect }, index) => index === taints.findIndex((other) => other.key === key && other.effect === effect));
}

function withoutPods(requests: Resources): Resources {
  return Object.fromEntries(Object.entries(subtractResources(requests, {})).filter(([name]) => name !== "pods"));
}
