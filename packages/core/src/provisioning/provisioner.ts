/**
 * The provisioning loop: pods that want capacity open a batch, one solve answers the whole batch, its answer becomes NodeClaims and
 * events. Rules S-1…S-10, S-186…S-189, L-40.
 */
import { DISRUPTED_TAINT, type Kind, type NodePool } from "@joinery/api";
import { type Change, createRateLimiter, isSameTaint, randomUuid } from "@joinery/kube";
import {
  bufferOutcome,
  effectiveZones,
  type Plan,
  type PodShape,
  type PodToPlace,
  type PoolOffer,
  type Reason,
  sentences,
  solve,
} from "@joinery/scheduling";
import { noBuffers, type ProvisionedBuffers } from "../buffers/provisioned-buffers.ts";
import type { Logger } from "../logger.ts";
import { seconds } from "../metrics/core-metrics.ts";
import type { Rooms } from "../rooms.ts";
import { messageOf } from "../runtime/answers.ts";
import { durationText, listText, reconcileFields, within } from "../runtime/log-context.ts";
import { SINGLETON } from "../runtime/source.ts";
import type { NodeRecord } from "../state/node-record.ts";
import { isTerminal, type PodRecord, podKey } from "../state/pod-record.ts";
import { type ProblemView, problemAt } from "../state/problem.ts";
import { isInitialized } from "../state/state-node.ts";
import { createBatcher } from "./batcher.ts";
import { createNodeClaims } from "./create-node-claims.ts";
import { failedScheduling, noCompatibleInstanceTypes, nominated, RESERVATION_WAIT_TOLD_MS, waitingForReservedCapacity } from "./events.ts";
import { createPreferenceNotice } from "./preference-notice.ts";
import { isUsable, offersOf } from "./usable-pools.ts";

export interface Provisioner {
  /** S-2, V-91: something beside a pod asks for a new look. */
  trigger(uid?: string): void;
  run(signal: AbortSignal): Promise<void>;
}

/** S-1, S-2: whoever still waits asks again after this long. One timer for all of them. */
const RETRIGGER_MS = 10_000;
/** L-216: whether buffers still have their room. One timer for all of them; what has not changed is not solved again. */
const BUFFER_RETRIGGER_MS = 30_000;
const CONTROLLER = "provisioner";
/** S-87: what is placed by then is launched; the rest of the pods wait for the next solve. */
const SOLVE_MAX_MS = 60_000;

export function createProvisioner(rooms: Rooms, buffers: ProvisionedBuffers = noBuffers): Provisioner {
  const { cluster, caches, clock, options, provider, podTimes, log } = rooms;
  const batcher = createBatcher(clock, { idleMs: options.batchIdleMs, maxMs: options.batchMaxMs });
  const notice = createPreferenceNotice(clock, log);
  // S-1: back-off or not, who waits asks again; an hour without the API server must not cost pods another quarter of an hour.
  const limiter = createRateLimiter(clock, { maxMs: RETRIGGER_MS });
  const ids = rooms.random.split(`reconciles of ${CONTROLLER}`);
  let last: Solved | undefined;

  function watch(): () => void {
    const see = (pod: PodRecord) => {
      if (pod.isProvisionable) {
        podTimes.acknowledge(pod);
        batcher.trigger(pod.metadata.uid);
      } else if (pod.nodeName !== "" || pod.scheduledAtMs !== undefined || isTerminal(pod)) podTimes.settle(pod); // O-205
    };
    const seeNode = (node: NodeRecord) => {
      if (isDisrupted(node)) batcher.trigger(node.metadata.uid);
    };
    const unsubscribes = [
      cluster.onPod(see),
      caches.pods.onChange(({ type, object }) => {
        if (type === "deleted") podTimes.forget(object);
      }),
      caches.nodes.onChange(({ object }) => seeNode(object)),
      // A pool that becomes usable is what waiting pods wait for; no need to let them wait for the timer.
      caches.nodePools.onChange((change) => {
        if (cluster.hasProvisionable && hasNewOffer(change, provider.nodeClassKinds)) batcher.trigger(change.object.metadata?.uid);
      }),
    ];
    for (const pod of cluster.provisionable()) see(pod);
    for (const node of caches.nodes.values()) seeNode(node);
    return () => {
      for (const unsubscribe of unsubscribes) unsubscribe();
    };
  }

  function isAnyoneWaiting(): boolean {
    if (cluster.hasProvisionable) return true;
    for (const node of caches.nodes.values()) if (isDisrupted(node)) return true;
    return false;
  }

  function provision(signal: AbortSignal): Promise<Solved | undefined> {
    if (options.preferencePolicy === "Respect") notice.tell(cluster.provisionable());
    return provisionOnce({ rooms, buffers, last, log }, signal);
  }

  async function run(signal: AbortSignal): Promise<void> {
    const unwatch = watch();
    let cancelRetrigger = () => {};
    const triggerAfter = (ms: number) => {
      cancelRetrigger();
      cancelRetrigger = clock.after(ms, () => batcher.trigger());
    };
    try {
      for (;;) {
        await batcher.next(signal);
        log.debug({}, "batch window closed");
        cancelRetrigger();
        const fields = reconcileFields(undefined, SINGLETON, ids);
        try {
          last = await within(log, fields, () => provision(signal));
          limiter.forget(CONTROLLER);
          if (isAnyoneWaiting()) triggerAfter(RETRIGGER_MS);
          else if ((await buffers.virtualPods(signal)).length > 0) triggerAfter(BUFFER_RETRIGGER_MS);
        } catch (error) {
          signal.throwIfAborted();
          last = undefined;
          log.error({ ...fields, error: messageOf(error) }, "Reconciler error");
          triggerAfter(limiter.next(CONTROLLER));
        }
      }
    } catch (error) {
      if (!signal.aborted) throw error;
    } finally {
      cancelRetrigger();
      unwatch();
    }
  }

  return { trigger: batcher.trigger, run };
}

/** What a solve read and answered. */
interface Solved {
  readonly revision: number;
  readonly offers: readonly PoolOffer[];
  readonly virtualPods: readonly PodToPlace[];
  readonly view: ProblemView;
  readonly plan: Plan;
}

interface Pass {
  readonly rooms: Rooms;
  readonly buffers: ProvisionedBuffers;
  readonly last: Solved | undefined;
  readonly log: Logger;
}

/** Reads, decides, acts. Gives what may be reused while nothing changes. */
async function provisionOnce({ rooms, buffers, last, log }: Pass, signal: AbortSignal): Promise<Solved | undefined> {
  const { cluster, caches, clock, provider } = rooms;
  let offers: readonly PoolOffer[];
  let virtualPods: readonly PodToPlace[];
  const closedAtMs = clock.monotonicMs();
  do {
    // S-5: not before every NodeClaim that was created has its instance; then at once, so no trigger is lost.
    await cluster.sync.whenSynced(signal);
    offers = await offersOf(caches.nodePools.values(), provider, log, signal);
    virtualPods = await buffers.virtualPods(signal);
  } while (!cluster.sync.isSynced);
  log.debug({ duration: durationText(clock.monotonicMs() - closedAtMs) }, "every nodeclaim has its instance");
  if (last !== undefined && isUnchanged(last, { revision: cluster.revision, offers, virtualPods })) {
    // S-186: what the pods were promised is promised again, or disruption would take it while they are on their way.
    publish(last, rooms);
    await buffers.tell(bufferOutcome(virtualPods, last.plan), last.view.nodeKeys, signal);
    return last;
  }
  const solved = solveNow(rooms, offers, virtualPods, log);
  await buffers.tell(bufferOutcome(virtualPods, solved?.plan ?? NO_PLAN), solved?.view.nodeKeys ?? new Map(), signal);
  if (solved === undefined) return undefined;
  countDecisions(solved, rooms);
  tellPlan(solved, rooms);
  publish(solved, rooms);
  const { newNodes } = solved.plan;
  if (newNodes.length === 0) return solved;
  const podsOf = (keys: readonly string[]) => keys.flatMap((key) => solved.view.pods.get(key) ?? []);
  const uids = new Map(solved.view.problem.pods.map(({ key, uid }) => [key, uid]));
  await createNodeClaims(
    newNodes.map((planned) => ({ planned, pods: podsOf(planned.pods), podUids: planned.pods.map((key) => uids.get(key) ?? key) })),
    rooms,
    signal,
  );
  return undefined;
}

/** One solve of what there is now; undefined when nobody asks for anything. */
function solveNow(
  { cluster, caches, clock, metrics, options, random, vocabulary, defaultSpread }: Rooms,
  offers: readonly PoolOffer[],
  virtualPods: readonly PodToPlace[],
  log: Logger,
): Solved | undefined {
  const { preferencePolicy, minValuesPolicy, improvement } = options;
  const startedAtMs = clock.monotonicMs();
  const view = problemAt({
    cluster,
    caches,
    pools: offers,
    vocabulary,
    nowMs: clock.wallMs(),
    defaultSpread,
    virtualPods,
    options: {
      preferencePolicy,
      minValuesPolicy,
      reservedCapacity: options.isReservedCapacityOn ? "strict" : "ignored",
      wellKnownLabels: vocabulary.wellKnown,
      ...(improvement !== undefined && { improvement }),
      isOverdue: () => clock.monotonicMs() - startedAtMs > SOLVE_MAX_MS,
    },
  });
  metrics.ignoredPods.set(view.rejected.length);
  countZones(view, metrics);
  if (view.problem.pods.length === 0 && view.rejected.length === 0) return undefined;
  const read = { revision: cluster.revision, offers, virtualPods, view };
  if (offers.length === 0) {
    // S-8: such pods are not even tried on the nodes that exist, and not told; the log is for whoever set up the pools.
    log.info({ pods: view.pods.size }, "no dynamic nodepools found");
    return { ...read, plan: NO_PLAN };
  }
  // O-219: while a solve runs nobody can look; afterwards its queue is empty, and it has no unfinished work.
  metrics.queueDepth.reset();
  const plan = solve(view.problem);
  const solvedMs = clock.monotonicMs() - startedAtMs;
  metrics.queueDepth.set({ controller: CONTROLLER, scheduling_id: randomUuid(random.split(`solve-${startedAtMs}`)) }, 0);
  metrics.schedulingDuration.observe({ controller: CONTROLLER }, seconds(solvedMs));
  const unplaced = plan.unschedulable.filter(({ pod, reasons }) => view.pods.has(pod) && !isUndecided(reasons));
  metrics.unschedulablePods.set({ controller: CONTROLLER }, unplaced.length);
  log.info({ Pods: listText([...view.pods.keys()]), duration: durationText(solvedMs) }, "found provisionable pod(s)");
  return { ...read, plan };
}

const NO_PLAN: Plan = { newNodes: [], existingNodes: [], unschedulable: [], droppedPools: [] };

/** What a solve came to, for the log. What did not change is not told again. */
function tellPlan({ view, plan: { newNodes, existingNodes, unschedulable } }: Solved, { cluster, log }: Rooms): void {
  const podCount = (nodes: readonly { readonly pods: readonly string[] }[]) => nodes.reduce((sum, { pods }) => sum + pods.length, 0);
  if (newNodes.length > 0) log.info({ nodeclaims: newNodes.length, pods: podCount(newNodes) }, "computed new nodeclaim(s) to fit pod(s)");
  const unready = existingNodes.filter(({ name, pods }) => {
    const state = cluster.find(view.nodeKeys.get(name) ?? "");
    return pods.length > 0 && state !== undefined && !isInitialized(state);
  });
  if (unready.length > 0) log.info({ nodes: unready.length, pods: podCount(unready) }, "computed unready node(s) will fit pod(s)");
  for (const { pod, reasons } of unschedulable) {
    const { metadata } = view.pods.get(pod) ?? {};
    if (metadata === undefined || isUndecided(reasons)) continue;
    log.error({ Pod: { name: metadata.name, namespace: metadata.namespace }, error: sentences(reasons) }, "could not schedule pod");
  }
}

/** S-193: of the pods that wait, not of those whose nodes leave. Zones of the solve before are gone. */
function countZones({ problem, pods }: ProblemView, { pendingPodsByZone }: Rooms["metrics"]): void {
  const zoneOf = effectiveZones(problem);
  const counts = new Map<PodShape, number>();
  for (const { key, shape } of problem.pods) {
    const pod = pods.get(key);
    if (pod?.phase === "Pending" && pod.nodeName === "") counts.set(shape, (counts.get(shape) ?? 0) + 1);
  }
  pendingPodsByZone.reset();
  for (const [shape, count] of counts) pendingPodsByZone.inc({ controller: CONTROLLER, zone: zoneOf(shape) }, count);
}

/** L-64. */
function countDecisions({ view: { pods, rejected }, plan }: Solved, { metrics, podTimes }: Rooms): void {
  const placed = new Set([...plan.newNodes, ...plan.existingNodes].flatMap((node) => node.pods));
  const undecided = new Set(plan.unschedulable.flatMap(({ pod, reasons }) => (isUndecided(reasons) ? [pod] : [])));
  const decided = [...pods].flatMap(([key, pod]) => (undecided.has(key) ? [] : [pod]));
  for (const pod of [...decided, ...rejected.map((refused) => refused.pod)]) {
    const waitedMs = podTimes.decide(pod, placed.has(podKey(pod)));
    if (waitedMs !== undefined) metrics.schedulingDecision.observe(seconds(waitedMs));
  }
}

/** Status that is only counted up makes no difference to the pods that wait. */
function hasNewOffer(change: Change<NodePool>, nodeClassKinds: readonly Kind[]): boolean {
  if (change.type !== "updated") return true;
  const { object, previous } = change;
  return (
    object.metadata?.generation !== previous.metadata?.generation || isUsable(object, nodeClassKinds) !== isUsable(previous, nodeClassKinds)
  );
}

/** The same problem has the same answer. Nodes that leave make it depend on the time (S-15), so then it is solved anew. */
function isUnchanged(last: Solved, { revision, offers, virtualPods }: Pick<Solved, "revision" | "offers" | "virtualPods">): boolean {
  if (last.revision !== revision || last.offers.length !== offers.length || last.virtualPods !== virtualPods) return false;
  if (last.plan.unschedulable.some(({ reasons }) => isUntried(reasons))) return false;
  for (const { nodeName } of last.view.pods.values()) if (nodeName !== "") return false;
  return offers.every(({ nodePool, instanceTypes }, at) => {
    const before = last.offers[at]!;
    return before.nodePool === nodePool && before.instanceTypes === instanceTypes;
  });
}

function publish(solved: Solved, rooms: Rooms): void {
  const { view, plan } = solved;
  const { cluster, events } = rooms;
  const { nodesWithRealPods } = bufferOutcome(solved.virtualPods, plan);
  for (const { name, pods } of plan.existingNodes) {
    if (!nodesWithRealPods.has(name)) continue; // L-52
    const key = view.nodeKeys.get(name);
    if (key !== undefined) cluster.nominate(key);
    const state = key === undefined ? undefined : cluster.find(key);
    const places = { nodeClaim: state?.claim?.metadata?.name, node: state?.node?.metadata.name };
    for (const podName of pods) {
      const pod = view.pods.get(podName);
      if (pod !== undefined) events.publish(nominated(pod, places));
    }
  }
  publishFailures(solved, rooms);
}

function publishFailures({ view, plan }: Solved, { caches, events, podTimes }: Rooms): void {
  for (const { pod, reasons } of view.rejected) {
    if (!reasons.some(({ kind }) => kind === "opted-out")) events.publish(failedScheduling(pod, reasons));
  }
  for (const { pod: key, reasons } of plan.unschedulable) {
    const pod = view.pods.get(key);
    if (pod === undefined) continue;
    if (!isUndecided(reasons)) events.publish(failedScheduling(pod, reasons));
    else if (isForReservation(reasons) && podTimes.undecidedMs(pod) >= RESERVATION_WAIT_TOLD_MS)
      events.publish(waitingForReservedCapacity(pod, reasons));
  }
  for (const { nodePool, reason } of plan.droppedPools) {
    const pool = caches.nodePools.find(nodePool);
    if (pool !== undefined) events.publish(noCompatibleInstanceTypes(pool, reason));
  }
}

/** S-87, S-171: not an answer. Waiting for another pod's place is one (S-141). */
function isUndecided(reasons: readonly Reason[]): boolean {
  return reasons.some((reason) => reason.kind === "next-solve" && reason.waitsFor !== "other-pods");
}

/** S-171, V-63. */
function isForReservation(reasons: readonly Reason[]): boolean {
  return reasons.some((reason) => reason.kind === "next-solve" && reason.waitsFor === "reservation");
}

/** S-87. */
function isUntried(reasons: readonly Reason[]): boolean {
  return reasons.some((reason) => reason.kind === "next-solve" && reason.waitsFor === undefined);
}

function isDisrupted({ taints }: NodeRecord): boolean {
  return taints.some((taint) => isSameTaint(taint, DISRUPTED_TAINT));
}
