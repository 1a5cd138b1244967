/** Which kinds the controller keeps copies of, how each is trimmed as it arrives (law 5), and by what it is found. Rule L-249c. */
import {
  type CapacityBuffer,
  CapacityBuffers,
  type Condition,
  type CsiNode,
  CsiNodes,
  DaemonSets,
  Deployments,
  type Kind,
  type KubeObject,
  Namespaces,
  NODE_POOL_LABEL,
  type Node,
  type NodeClaim,
  NodeClaims,
  type NodeOverlay,
  NodeOverlays,
  type NodePool,
  NodePools,
  Nodes,
  type PersistentVolume,
  type PersistentVolumeClaim,
  PersistentVolumeClaims,
  PersistentVolumes,
  type Pod,
  type PodDisruptionBudget,
  PodDisruptionBudgets,
  Pods,
  type PodTemplate,
  PodTemplates,
  ReplicaSets,
  ReplicationControllers,
  type ResourceSlice,
  ResourceSlices,
  Services,
  StatefulSets,
  type StorageClass,
  StorageClasses,
  type VolumeAttachment,
  VolumeAttachments,
} from "@joinery/api";
import {
  alikeOf,
  type Cache,
  type Clock,
  createCache,
  type IndexFunction,
  type KubeClient,
  type LiveCache,
  type Random,
} from "@joinery/kube";
import { createShapeInterner, type PodShape, type ScalableKind, shapeOf } from "@joinery/scheduling";
import { createCacheFaults } from "../api-server/cache-faults.ts";
import type { Logger } from "../logger.ts";
import { type DaemonSetRecord, daemonSetRecord } from "./daemon-sets.ts";
import { type NodeRecord, nodeRecord } from "./node-record.ts";
import { createPodReader, type PodRecord } from "./pod-record.ts";
import { nodeOfSlice, trimSlice } from "./resource-slices.ts";
import { labelSelectorRecord, type SelectorCaches, workloadSelectorRecord } from "./selectors.ts";
import { createAmountsInterner, createTextInterner } from "./text-interner.ts";

/** A node class, whatever its provider: only its health and age are read here. */
export interface NodeClass extends KubeObject {
  readonly status?: { readonly conditions?: readonly Condition[] };
}

export interface Caches {
  /** Indexes: `node` (name, "" while unbound), `daemonSet` (UID of the controlling one). */
  readonly pods: Cache<PodRecord>;
  /** Index: `providerId`. */
  readonly nodes: Cache<NodeRecord>;
  /** Indexes: `providerId`, `nodePool`. */
  readonly nodeClaims: LiveCache<NodeClaim>;
  readonly nodePools: LiveCache<NodePool>;
  readonly daemonSets: Cache<DaemonSetRecord>;
  readonly budgets: Cache<PodDisruptionBudget>;
  /** Their labels alone. */
  readonly namespaces: Cache<KubeObject>;
  readonly claims: Cache<PersistentVolumeClaim>;
  readonly volumes: Cache<PersistentVolume>;
  readonly storageClasses: Cache<StorageClass>;
  readonly csiNodes: Cache<CsiNode>;
  /** Index: `node`. */
  readonly volumeAttachments: Cache<VolumeAttachment>;
  /** Who stands behind pods; undefined where nobody asks (S-159). */
  readonly selectors: SelectorCaches | undefined;
  /** Empty unless wanted. */
  readonly nodeOverlays: LiveCache<NodeOverlay>;
  /** Empty unless wanted, as the two after it. */
  readonly buffers: LiveCache<CapacityBuffer>;
  readonly podTemplates: Cache<PodTemplate>;
  /** What a CapacityBuffer may refer to, without what is in it: enough to know when to look again. */
  readonly workloads: Readonly<Record<ScalableKind, Cache<KubeObject>>>;
  /** Index: `node`. Empty unless wanted. */
  readonly resourceSlices: Cache<ResourceSlice>;
  /** The one object that stands for equal shapes. */
  shapeOf(pod: Pod): PodShape;
  /** Of each of the provider's kinds. */
  readonly nodeClasses: readonly { readonly kind: Kind; readonly cache: Cache<NodeClass> }[];
  /** The node class that a reference means; undefined when there is none, or when its kind is not the provider's. */
  findNodeClass(reference: NodeClassReference): NodeClass | undefined;
  onNodeClassChange(listener: (kind: Kind, object: NodeClass) => void): () => void;
  /** Takes the server's answer to a write of a Node. */
  noteNode(node: Node): void;
  readonly hasSynced: boolean;
  /** The kinds that are not read yet, each with what is wrong, if anything is. */
  readonly missing: readonly string[];
  whenSynced(signal?: AbortSignal): Promise<void>;
  /** Lists and watches until the signal aborts. */
  run(signal: AbortSignal): Promise<void>;
}

interface NodeClassReference {
  readonly group: string;
  readonly kind: string;
  readonly name: string;
}

export interface CachesOptions {
  readonly kube: KubeClient;
  readonly clock: Clock;
  readonly random: Random;
  readonly nodeClassKinds: readonly Kind[];
  readonly log: Logger;
  /**
   * What only some features read. `defaultSpread`: pods get default constraints, so Services and workloads are watched too. The
   * definitions of what is behind a feature gate may be missing where the gate is off.
   */
  readonly wants?: {
    readonly defaultSpread?: boolean;
    readonly nodeOverlays?: boolean;
    readonly buffers?: boolean;
    readonly resourceSlices?: boolean;
  };
}

/** All of them are empty until `run`. */
export function createCaches({ kube, clock, random, nodeClassKinds, log, wants = {} }: CachesOptions): Caches {
  const faults = createCacheFaults(clock, log);
  const kindOf = new Map<object, Kind>();
  const shapes = createShapeInterner();
  const texts = createTextInterner();
  const amounts = createAmountsInterner();
  const internedShapeOf = (pod: Pod) => shapes.intern(shapeOf(pod));

  function cacheOf<Raw extends KubeObject, Kept extends KubeObject = Raw>(
    kind: Kind<Raw>,
    trim: ((raw: Raw) => Kept) | undefined,
    indexes: Readonly<Record<string, IndexFunction<Kept>>> = {},
  ): LiveCache<Kept, Raw> {
    const onError = (error: unknown) => faults.note(kind as Kind, error);
    const cache = createCache<Raw, Kept>(kube, kind, { clock, random, indexes, trim, encoding: "trimmed", onError });
    kindOf.set(cache, kind as Kind);
    return cache;
  }

  const readPod = createPodReader({ shapeOf: internedShapeOf, intern: texts.intern, internAmounts: amounts.intern, alikeOf });
  const pods = cacheOf(Pods, readPod, {
    node: ({ nodeName }) => nodeName,
    daemonSet: ({ daemonSetUid }) => daemonSetUid || undefined,
  });
  const nodes = cacheOf(Nodes, nodeRecord, { providerId: ({ providerId }) => providerId || undefined });
  const nodeClaims = cacheOf(NodeClaims, undefined, {
    providerId: ({ status }) => status?.providerID || undefined,
    nodePool: ({ metadata }) => metadata?.labels?.[NODE_POOL_LABEL],
  });
  const nodePools = cacheOf(NodePools, undefined);
  const daemonSets = cacheOf(DaemonSets, (object) => daemonSetRecord(object, internedShapeOf));
  const budgets = cacheOf(PodDisruptionBudgets, trimBudget);
  const namespaces = cacheOf<KubeObject>(Namespaces, ({ metadata }) => ({
    metadata: { ...identity({ metadata }), labels: metadata?.labels },
  }));
  const nodeOverlays = cacheOf(NodeOverlays, undefined);
  const buffers = cacheOf(CapacityBuffers, undefined);
  const podTemplates = cacheOf(PodTemplates, undefined);
  const resourceSlices = cacheOf(ResourceSlices, trimSlice, { node: nodeOfSlice });
  const bare = <T extends KubeObject>(kind: Kind<T>) => cacheOf<KubeObject>(kind, (object) => ({ metadata: identity(object) }));
  const workloads = { Deployment: bare(Deployments), StatefulSet: bare(StatefulSets), ReplicaSet: bare(ReplicaSets) };
  const claims = cacheOf(PersistentVolumeClaims, trimClaim);
  const volumes = cacheOf(PersistentVolumes, trimVolume);
  const storageClasses = cacheOf(StorageClasses, trimStorageClass);
  const csiNodes = cacheOf(CsiNodes, (csiNode) => ({ metadata: identity(csiNode), spec: csiNode.spec }));
  const volumeAttachments = cacheOf(VolumeAttachments, trimAttachment, { node: ({ spec }) => spec.nodeName });
  const selectors = wants.defaultSpread
    ? {
        services: cacheOf(Services, labelSelectorRecord, { namespace: ({ metadata }) => metadata?.namespace }),
        replicationControllers: cacheOf(ReplicationControllers, labelSelectorRecord),
        replicaSets: cacheOf(ReplicaSets, workloadSelectorRecord),
        statefulSets: cacheOf(StatefulSets, workloadSelectorRecord),
      }
    : undefined;
  const nodeClasses = nodeClassKinds.map((kind) => ({ kind, cache: cacheOf(kind as Kind<NodeClass>, trimNodeClass) }));
  const kinds = {
    pods,
    nodes,
    nodeClaims,
    nodePools,
    daemonSets,
    budgets,
    namespaces,
    claims,
    volumes,
    storageClasses,
    csiNodes,
    volumeAttachments,
  };
  const needed = [
    ...Object.values(kinds),
    ...nodeClasses.map(({ cache }) => cache),
    ...(wants.nodeOverlays ? [nodeOverlays] : []),
    ...(wants.resourceSlices ? [resourceSlices] : []),
    ...(wants.buffers ? [buffers, podTemplates, ...Object.values(workloads)] : []),
  ];

  return {
    ...kinds,
    selectors,
    nodeOverlays,
    buffers,
    podTemplates,
    workloads,
    resourceSlices,
    shapeOf: internedShapeOf,
    nodeClasses,
    findNodeClass: ({ group, kind, name }) =>
      nodeClasses.find((entry) => entry.kind.group === group && entry.kind.kind === kind)?.cache.find(name),
    onNodeClassChange(listener) {
      const unsubscribes = nodeClasses.map(({ kind, cache }) => cache.onChange(({ object }) => listener(kind, object)));
      return () => {
        for (const unsubscribe of unsubscribes) unsubscribe();
      };
    },
    noteNode: (node) => nodes.noteWritten(node),
    get hasSynced() {
      return needed.every(({ hasSynced }) => hasSynced);
    },
    get missing() {
      return needed.flatMap((cache) => {
        const kind = kindOf.get(cache);
        if (cache.hasSynced || kind === undefined) return [];
        const fault = faults.of(kind);
        return [fault === undefined ? kind.kind : `${kind.kind} (${fault})`];
      });
    },
    async whenSynced(signal) {
      await Promise.all(needed.map((cache) => cache.whenSynced(signal)));
      await soonSynced(Object.values(selectors ?? {}), clock, signal);
    },
    async run(signal) {
      await Promise.all([...needed, ...Object.values(selectors ?? {})].map((cache) => cache.start(signal)));
    },
  };
}

/** What may not be read contributes nothing (S-159): Karpenter's role has no Services. */
const SELECTORS_WAIT_MAX_MS = 5000;

async function soonSynced(caches: readonly Cache<KubeObject>[], clock: Clock, signal?: AbortSignal): Promise<void> {
  if (caches.length === 0) return;
  const stop = new AbortController();
  try {
    await Promise.race([Promise.all(caches.map((cache) => cache.whenSynced(signal))), clock.sleep(SELECTORS_WAIT_MAX_MS, stop.signal)]);
  } finally {
    stop.abort();
  }
}

function identity({ metadata }: KubeObject): NonNullable<KubeObject["metadata"]> {
  const { name, namespace, uid, resourceVersion, generation, creationTimestamp, deletionTimestamp } = metadata ?? {};
  return { name, namespace, uid, resourceVersion, generation, creationTimestamp, deletionTimestamp };
}

function trimBudget(budget: PodDisruptionBudget): PodDisruptionBudget {
  const disruptionsAllowed = budget.status?.disruptionsAllowed;
  return { metadata: identity(budget), spec: budget.spec, status: { disruptionsAllowed } };
}

function trimClaim(claim: PersistentVolumeClaim): PersistentVolumeClaim {
  const { storageClassName, volumeName } = claim.spec;
  const annotations = claim.metadata?.annotations;
  return { metadata: { ...identity(claim), annotations }, spec: { storageClassName, volumeName }, status: { phase: claim.status?.phase } };
}

/** Of its source, which kind it is. */
function trimVolume(volume: PersistentVolume): PersistentVolume {
  const { csi, nodeAffinity, local, hostPath, awsElasticBlockStore } = volume.spec;
  const source = {
    ...(csi && { csi: { driver: csi.driver } }),
    ...(local !== undefined && { local: {} }),
    ...(hostPath !== undefined && { hostPath: {} }),
    ...(awsElasticBlockStore !== undefined && { awsElasticBlockStore: {} }),
  };
  return { metadata: identity(volume), spec: { ...source, nodeAffinity } };
}

function trimStorageClass(storageClass: StorageClass): StorageClass {
  const { provisioner, volumeBindingMode, allowedTopologies } = storageClass;
  return { metadata: identity(storageClass), provisioner, volumeBindingMode, allowedTopologies };
}

function trimAttachment(attachment: VolumeAttachment): VolumeAttachment {
  const { nodeName, attacher, source } = attachment.spec;
  const { persistentVolumeName } = source;
  return { metadata: identity(attachment), spec: { nodeName, attacher, source: { persistentVolumeName } } };
}

function trimNodeClass(nodeClass: NodeClass): NodeClass {
  const finalizers = nodeClass.metadata?.finalizers; // O-276
  return { metadata: { ...identity(nodeClass), finalizers }, status: { conditions: nodeClass.status?.conditions } };
}
