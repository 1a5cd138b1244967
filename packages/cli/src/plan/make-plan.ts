/** Checked manifests and a catalogue → the plan of one solve, made by the controller's own state and solver. */
import {
  type Ec2NodeClass,
  Ec2NodeClasses,
  invalidityMessage,
  type Kind,
  type KubeObject,
  KwokNodeClasses,
  NodeClaims,
  NodeOverlays,
  type NodePool,
  NodePools,
  Nodes,
  Pods,
  type TopologySpreadConstraint,
  validateNodePool,
} from "@joinery/api";
import { createCaches, createCluster, nominationMs, problemAt, type RejectedPod, silentLogger } from "@joinery/core";
import type { Clock, Random } from "@joinery/kube";
import {
  createDefaultSpread,
  createExplainer,
  flexibilityUsdPerHour,
  type InstanceType,
  type Plan,
  type PlanDocument,
  type PodToPlace,
  type Problem,
  type SolveOptions,
  toPlanDocument,
} from "@joinery/scheduling";
import { explainOptions, type Fix, fixesOf } from "../explain/fixes.ts";
import type { Loaded } from "../manifests/load.ts";
import type { Catalogue } from "./catalogue.ts";
import { classedCatalogue } from "./classed-catalogue.ts";
import { type ClusterObjects, clusterObjects } from "./cluster-objects.ts";
import { droppedPoolText } from "./empty-pool.ts";
import { type ExistingCost, existingCost } from "./existing-cost.ts";
import { createFileKubeClient } from "./file-kube-client.ts";
import { createObjectSource, type ObjectSource } from "./input.ts";
import { faultyClaims, inputHints } from "./input-hints.ts";
import { type LeftOutPods, leftOutPods } from "./left-out-pods.ts";
import { overlaidCatalogue, overlayFault } from "./overlaid-catalogue.ts";
import { type BufferDocument, bufferDocuments, type PlannedBuffer, plannedBuffers } from "./planned-buffers.ts";
import { volumesUsdPerHour } from "./root-volume.ts";
import { choosePools, type NotReady } from "./usable-pools.ts";

export interface PlanRequest {
  readonly loaded: Loaded;
  readonly catalogue: Catalogue;
  readonly clock: Clock;
  readonly random: Random;
  readonly preferencePolicy: SolveOptions["preferencePolicy"];
  readonly minValuesPolicy: SolveOptions["minValuesPolicy"];
  readonly reservedCapacity?: SolveOptions["reservedCapacity"];
  /** Absent: the greedy plan. */
  readonly improvement?: SolveOptions["improvement"] | undefined;
  /** Of pods that have no spread of their own (S-157). */
  readonly defaultSpread?: readonly TopologySpreadConstraint[];
  /** NodeOverlays count (feature gate `NodeOverlay`). */
  readonly hasOverlays?: boolean;
  /** CapacityBuffers count (feature gate `CapacityBuffer`). */
  readonly hasBuffers?: boolean;
}

/** The plan with what would help the pods that have no place. */
type PlanFileDocument = Omit<PlanDocument, "unschedulable"> & {
  readonly unschedulable: readonly (PlanDocument["unschedulable"][number] & { readonly fix?: Fix })[];
  /** Where pods are left to later solves: how many of those place some, and which. */
  readonly later?: { readonly solves: number; readonly pods: readonly string[] };
  /** Where the input has buffers that count. */
  readonly buffers?: readonly BufferDocument[];
  /** What is the matter with overlays that count. */
  readonly overlays?: readonly OverlayDocument[];
};

interface OverlayDocument {
  readonly overlay: string;
  readonly message: string;
}

export interface PlanResult {
  readonly plan: Plan;
  readonly document: PlanFileDocument;
  readonly skippedPools: readonly NotReady[];
  /** Pools that no instance type is left for, and what to write instead. */
  readonly droppedPools: readonly { readonly nodePool: string; readonly message: string }[];
  readonly existing: ExistingCost;
  readonly unlaunchedClaims: readonly string[];
  /** Pods that no place was looked for. */
  readonly leftOutPods: readonly LeftOutPods[];
  /** What may be missing in the input rather than in the cluster. */
  readonly hints: readonly string[];
}

/** What a plan and its explanation are made from. */
export interface Question {
  readonly source: ObjectSource;
  readonly objects: ClusterObjects;
  readonly problem: Problem;
  readonly rejected: readonly RejectedPod[];
  readonly skippedPools: readonly NotReady[];
  /** As node classes and overlays make it. */
  readonly catalogue: Catalogue;
  readonly overlayFaults: readonly OverlayDocument[];
  readonly buffers: readonly PlannedBuffer[];
}

export async function readQuestion(request: PlanRequest): Promise<Question> {
  const source = createObjectSource(request.loaded.manifests);
  const objects = clusterObjects(source);
  const overlays = request.hasOverlays ? source.of(NodeOverlays) : [];
  const { catalogue, verdicts } = overlaidCatalogue(classedCatalogue(request.catalogue, source), overlays, source.of(NodePools));
  const buffers = request.hasBuffers ? plannedBuffers(source) : [];
  const findNodeClass = ({ kind, name }: { readonly kind: string; readonly name: string }) => {
    const kinds: readonly Kind[] = [Ec2NodeClasses, KwokNodeClasses];
    const found = kinds.find((one) => one.kind === kind);
    return found && source.of<KubeObject>(found).find(({ metadata }) => metadata?.name === name);
  };
  const pools = choosePools({
    nodePools: source.of(NodePools),
    nodeClassKinds: catalogue.nodeClassKinds,
    ...(request.loaded.wholeKinds && { wholeKinds: request.loaded.wholeKinds }),
    findNodeClass,
    faultOf: (nodePool) => {
      const { invalid } = validateNodePool(nodePool, catalogue.vocabulary);
      return invalid.length === 0 ? undefined : invalidityMessage(invalid);
    },
  });
  const offers = pools.usable.map((nodePool) => {
    const { kind, name } = nodePool.spec.template.spec.nodeClassRef;
    const nodeClass = kind === Ec2NodeClasses.kind ? (findNodeClass({ kind, name }) as Ec2NodeClass | undefined) : undefined;
    const rootVolumeUsdPerHour = nodeClass && volumesUsdPerHour(nodeClass);
    return { nodePool, instanceTypes: catalogue.typesFor(nodePool), ...(rootVolumeUsdPerHour !== undefined && { rootVolumeUsdPerHour }) };
  });
  const virtualPods = buffers.flatMap(({ pods }) => pods);
  const { problem, rejected } = await problemOf({ ...request, virtualPods }, objects, offers);
  const overlayFaults = [...verdicts]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .flatMap(([overlay, verdict]) => {
      const message = overlayFault(verdict);
      return message === undefined ? [] : [{ overlay, message }];
    });
  return { source, objects, problem, rejected, skippedPools: pools.skipped, catalogue, overlayFaults, buffers };
}

export async function makePlan(request: PlanRequest): Promise<PlanResult> {
  const { clock } = request;
  const question = await readQuestion(request);
  const { source, objects, problem, rejected, skippedPools, catalogue, overlayFaults, buffers } = question;

  const options = explainOptions(question);
  const startMs = clock.monotonicMs();
  const explainer = createExplainer(problem, options);
  const solveMilliseconds = Math.round((clock.monotonicMs() - startMs) * 1000) / 1000;

  const plan = withRefusals(explainer.plan, rejected, skippedPools);
  const existing = existingCost(objects.of(Nodes), objects.of(NodeClaims), typesByPool(source.of(NodePools), catalogue));
  const virtualCount = buffers.reduce((sum, { pods }) => sum + pods.length, 0);
  const stats = { pods: objects.pending.length + virtualCount, instanceTypes: catalogue.types.length, solveMilliseconds };
  const document = toPlanDocument(plan, {
    stats,
    existingUsdPerHour: existing.usdPerHour,
    flexibilityUsdPerHour: flexibilityUsdPerHour(problem, plan),
  });
  const fixes = fixesOf(question, explainer, options);
  const unschedulable = document.unschedulable.map((entry) => {
    const fix = fixes.get(entry.pod);
    return fix === undefined ? entry : { ...entry, fix };
  });
  const later = explainer.later();
  return {
    plan,
    document: {
      ...document,
      unschedulable,
      ...(later && { later: { solves: later.count, pods: placedLater(explainer.plan, later.unplaced) } }),
      ...(buffers.length > 0 && { buffers: bufferDocuments(buffers, plan) }),
      ...(overlayFaults.length > 0 && { overlays: overlayFaults }),
    },
    skippedPools,
    existing,
    unlaunchedClaims: objects.unlaunchedClaims,
    leftOutPods: leftOutPods(objects.of(Pods)),
    droppedPools: plan.droppedPools.flatMap(({ nodePool, reason }) =>
      namedPools(problem, new Set([nodePool])).map((pool) => ({ nodePool, message: droppedPoolText(pool, reason, catalogue) })),
    ),
    hints: inputHints({
      faultyClaims: faultyClaims(unschedulable.flatMap(({ reasons }) => reasons)),
      emptyPools: [],
      usedPools: problem.pools.map(({ nodePool }) => nodePool),
      source,
      objects: objects.of,
      catalogue,
    }),
  };
}

/** In the order of the plan. */
function placedLater({ unschedulable }: Plan, unplaced: ReadonlySet<string>): readonly string[] {
  return unschedulable.map(({ pod }) => pod).filter((pod) => !unplaced.has(pod));
}

export function namedPools({ pools }: Problem, names: ReadonlySet<string>): readonly NodePool[] {
  return pools.map(({ nodePool }) => nodePool).filter(({ metadata }) => names.has(metadata?.name ?? ""));
}

/** Which types a node of a pool is of; of the catalogue as it is for a pool that the input lacks. */
function typesByPool(nodePools: readonly NodePool[], catalogue: Catalogue): (nodePool: string | undefined) => readonly InstanceType[] {
  const pools = new Map(nodePools.map((pool) => [pool.metadata?.name, pool]));
  return (name) => {
    const pool = pools.get(name);
    return pool === undefined ? catalogue.types : catalogue.typesFor(pool);
  };
}

type ProblemRequest = Omit<PlanRequest, "loaded" | "hasOverlays" | "hasBuffers"> & { readonly virtualPods?: readonly PodToPlace[] };

/** The problem as the controller would see it: its caches and its cluster state, fed from the files. */
export async function problemOf(
  {
    catalogue,
    clock,
    random,
    preferencePolicy,
    minValuesPolicy,
    reservedCapacity = "strict",
    defaultSpread: constraints = [],
    virtualPods = [],
    improvement,
  }: ProblemRequest,
  objects: ClusterObjects,
  pools: Problem["pools"],
): Promise<{ problem: Problem; rejected: readonly RejectedPod[] }> {
  const { vocabulary, nodeClassKinds } = catalogue;
  const stop = new AbortController();
  const kube = createFileKubeClient(objects.of);
  const hasDefaultSpread = constraints.length > 0;
  const caches = createCaches({ kube, clock, random, nodeClassKinds, log: silentLogger, wants: { defaultSpread: hasDefaultSpread } });
  const running = caches.run(stop.signal).catch(() => undefined);
  await caches.whenSynced();
  const cluster = createCluster({ caches, clock, nodeClassKinds, nominationMs: nominationMs(0) });
  const options: SolveOptions = {
    preferencePolicy,
    minValuesPolicy,
    reservedCapacity,
    wellKnownLabels: vocabulary.wellKnown,
    ...(improvement !== undefined && { improvement }),
  };
  const defaultSpread = createDefaultSpread(constraints);
  const view = problemAt({ cluster, caches, pools, options, vocabulary, nowMs: clock.wallMs(), defaultSpread, virtualPods });
  cluster.dispose();
  stop.abort();
  await running;
  return view;
}

/** Every pending pod is in exactly one list: also those that no solve was asked about (S-18), and with the reason why no pool was (S-8). */
function withRefusals(plan: Plan, rejected: readonly RejectedPod[], skipped: readonly NotReady[]): Plan {
  const refused = rejected.map(({ pod, reasons }) => ({ pod: `${pod.metadata.namespace}/${pod.metadata.name}`, reasons }));
  const solved = plan.unschedulable.map(({ pod, reasons }) => {
    const hasNoPool = reasons.some(({ kind }) => kind === "no-node-pool");
    return { pod, reasons: hasNoPool ? [...reasons, ...skipped] : reasons };
  });
  const unschedulable = [...solved, ...refused].sort((a, b) => (a.pod < b.pod ? -1 : a.pod > b.pod ? 1 : 0));
  return { ...plan, unschedulable };
}
