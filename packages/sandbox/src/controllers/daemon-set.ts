/**
 * DaemonSets: a pod on each node that its template allows, bound by name through the scheduler as the real controller does. A
 * Fargate node takes none: its taint keeps them away, and where they tolerate everything its one place is taken.
 */
import type { DaemonSet, Node, Pod, PodSpec, Toleration } from "@joinery/api";
import { DaemonSets, Pods } from "@joinery/api";
import { isNotFound, keyOf, parseKey } from "@joinery/kube";
import { isTolerated, matchesNodeAffinity } from "../scheduler/node-match.ts";
import type { ClusterContext } from "../world/context.ts";
import { GATHER_MS, startWorkLoop } from "../world/work-loop.ts";
import { adoptOrphans } from "./adoption.ts";
import { createRevisions } from "./controller-revision.ts";
import { contentHash } from "./fnv.ts";
import { createPodOf } from "./pod-creation.ts";
import { availabilityOf, controllerOf, isEnded, isReady } from "./pod-facts.ts";
import { controllerReference, podFromTemplate } from "./pod-template.ts";
import { absoluteOf } from "./rollout.ts";
import { withoutZeros, writeStatus } from "./status-writer.ts";

interface UpdateStrategy {
  readonly type?: string;
  readonly rollingUpdate?: Readonly<Record<string, unknown>>;
}

const REVISION_LABEL = "controller-revision-hash";

/** What Kubernetes lets every DaemonSet pod tolerate. */
const STANDARD_TOLERATIONS: readonly Toleration[] = [
  { key: "node.kubernetes.io/not-ready", operator: "Exists", effect: "NoExecute" },
  { key: "node.kubernetes.io/unreachable", operator: "Exists", effect: "NoExecute" },
  { key: "node.kubernetes.io/disk-pressure", operator: "Exists", effect: "NoSchedule" },
  { key: "node.kubernetes.io/memory-pressure", operator: "Exists", effect: "NoSchedule" },
  { key: "node.kubernetes.io/pid-pressure", operator: "Exists", effect: "NoSchedule" },
  { key: "node.kubernetes.io/unschedulable", operator: "Exists", effect: "NoSchedule" },
];
const HOST_NETWORK_TOLERATION: Toleration = { key: "node.kubernetes.io/network-unavailable", operator: "Exists", effect: "NoSchedule" };

export function daemonPodSpec(spec: PodSpec, nodeName: string): PodSpec {
  const own = spec.tolerations ?? [];
  const added = standardTolerations(spec).filter(
    ({ key, effect }) => !own.some((one) => one.key === key && one.effect === effect && one.operator === "Exists"),
  );
  const fields = [{ key: "metadata.name", operator: "In" as const, values: [nodeName] }];
  // The name stands in for the terms of the template: the controller has already seen that the node meets them.
  const nodeSelectorTerms = [{ matchFields: fields }];
  const nodeAffinity = { ...spec.affinity?.nodeAffinity, requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } };
  return { ...spec, affinity: { ...spec.affinity, nodeAffinity }, tolerations: [...own, ...added] };
}

function standardTolerations({ hostNetwork }: PodSpec): readonly Toleration[] {
  return hostNetwork === true ? [...STANDARD_TOLERATIONS, HOST_NETWORK_TOLERATION] : STANDARD_TOLERATIONS;
}

/** `run`: a pod belongs there; `stay`: one that is there may go on (NoSchedule came later); `leave`: none belongs there. */
function verdictFor({ spec }: DaemonSet["spec"]["template"], node: Node): "run" | "stay" | "leave" {
  const place = { name: node.metadata?.name ?? "", labels: node.metadata?.labels ?? {} };
  if (!matchesNodeAffinity({ spec }, place)) {
    return "leave";
  }
  const tolerations = [...(spec.tolerations ?? []), ...standardTolerations(spec)];
  const untolerated = (node.spec?.taints ?? []).filter((taint) => !isTolerated(taint, tolerations));
  if (untolerated.some(({ effect }) => effect === "NoExecute")) {
    return "leave";
  }
  return untolerated.some(({ effect }) => effect === "NoSchedule") ? "stay" : "run";
}

export function startDaemonSets(context: ClusterContext): void {
  const { views, clock } = context;
  const client = context.client("daemonset-controller");
  const events = context.events("daemonset-controller");
  const revisions = createRevisions(client);

  async function reconcile(key: string): Promise<number | undefined> {
    const set = views.daemonSets.find(key);
    if (set === undefined || views.daemonSets.isLeaving(set)) {
      return undefined;
    }
    await revisions.ensure(set, "DaemonSet");
    await adoptOrphans({ owner: set, apiVersion: "apps/v1", kind: "DaemonSet" }, { client, kind: Pods, view: views.pods });
    const perNode = podsByNode(set);
    const stale: Pod[] = [];
    for (const node of views.nodes.values()) {
      const name = node.metadata?.name ?? "";
      const pods = perNode.get(name) ?? [];
      const living = pods.filter((pod) => !views.pods.isLeaving(pod));
      const verdict = verdictFor(set.spec.template, node);
      for (const pod of living.filter((one) => verdict === "leave" || isEnded(one) || isSurplus(set, one, living))) {
        await deletePod(set, pod);
      }
      if (verdict === "run" && pods.length === 0) {
        await createPod(set, name);
      }
      stale.push(...living.filter((pod) => !isEnded(pod) && !isUpdated(set, pod)).slice(0, verdict === "run" ? 1 : 0));
    }
    await (surgeOf(set) > 0 ? surge(set, stale, perNode) : rollOut(set, stale));
    return updateStatus(set);
  }

  function isUpdated(set: DaemonSet, pod: Pod): boolean {
    return pod.metadata?.labels?.[REVISION_LABEL] === revisionOf(set);
  }

  function isWorking(set: DaemonSet, pod: Pod): boolean {
    return availabilityOf(pod, Number(set.spec.minReadySeconds ?? 0), clock.wallMs()).kind === "available";
  }

  /** A second pod of the node: one too many, unless it is the new one that an old one still waits for. */
  function isSurplus(set: DaemonSet, pod: Pod, living: readonly Pod[]): boolean {
    const sameRevision = living.filter((other) => isUpdated(set, other) === isUpdated(set, pod));
    if (sameRevision[0] !== pod) {
      return true;
    }
    const successor = isUpdated(set, pod) ? undefined : living.find((other) => isUpdated(set, other));
    return successor !== undefined && (surgeOf(set) === 0 || isWorking(set, successor));
  }

  function surgeOf({ metadata, spec }: DaemonSet): number {
    const { type, rollingUpdate } = (spec.updateStrategy ?? {}) as UpdateStrategy;
    const all = views.pods.by("owner", metadata?.uid ?? "").length;
    return type === "OnDelete" ? 0 : absoluteOf(rollingUpdate?.maxSurge ?? 0, all, "up");
  }

  /** RollingUpdate with maxSurge: the new pod beside the old one first. An old one that does not work makes no difference. */
  async function surge(set: DaemonSet, stale: readonly Pod[], perNode: ReadonlyMap<string, readonly Pod[]>): Promise<void> {
    const nodeOf = (pod: Pod): string => pod.spec.nodeName ?? targetOf(pod);
    const waits = (pod: Pod): boolean => (perNode.get(nodeOf(pod)) ?? []).some((other) => other !== pod && isUpdated(set, other));
    let surging = stale.filter(waits).length;
    for (const pod of stale.filter((one) => !waits(one))) {
      if (!isWorking(set, pod)) {
        await deletePod(set, pod);
      } else if (surging < surgeOf(set)) {
        surging += 1;
        await createPod(set, nodeOf(pod));
      }
    }
  }

  function podsByNode(set: DaemonSet): Map<string, Pod[]> {
    const perNode = new Map<string, Pod[]>();
    for (const pod of views.pods.by("owner", set.metadata?.uid ?? "")) {
      const name = pod.spec.nodeName ?? targetOf(pod);
      perNode.set(name, [...(perNode.get(name) ?? []), pod]);
    }
    return perNode;
  }

  function podFor(set: DaemonSet, nodeName: string): Pod {
    const pod = podFromTemplate(set.spec.template, {
      namespace: set.metadata?.namespace ?? "",
      generateName: `${set.metadata?.name}-`,
      owner: controllerReference(set, "apps/v1", "DaemonSet"),
      labels: { [REVISION_LABEL]: revisionOf(set), "pod-template-generation": String(set.metadata?.generation ?? 1) },
    });
    return { ...pod, spec: daemonPodSpec(pod.spec, nodeName) };
  }

  async function createPod(set: DaemonSet, nodeName: string): Promise<void> {
    const pod = await createPodOf(set, podFor(set, nodeName), { client, events });
    views.pods.wrote(pod);
    events.publish(set, { reason: "SuccessfulCreate", message: `Created pod: ${pod.metadata?.name}` });
  }

  async function deletePod(set: DaemonSet, pod: Pod): Promise<void> {
    views.pods.leaving(pod);
    try {
      await client.delete(Pods, parseKey(keyOf(pod)), { uid: pod.metadata?.uid });
      events.publish(set, { reason: "SuccessfulDelete", message: `Deleted pod: ${pod.metadata?.name}` });
    } catch (error) {
      if (!isNotFound(error)) {
        throw error;
      }
    }
  }

  /** RollingUpdate: pods of the old template go while no more than maxUnavailable nodes are without a working one. */
  async function rollOut(set: DaemonSet, stale: readonly Pod[]): Promise<void> {
    const strategy = (set.spec.updateStrategy ?? {}) as UpdateStrategy;
    if (strategy.type === "OnDelete" || stale.length === 0) {
      return;
    }
    const all = views.pods.by("owner", set.metadata?.uid ?? "");
    const working = all.filter((pod) => !views.pods.isLeaving(pod) && isReady(pod));
    const allowed = Math.max(1, absoluteOf(strategy.rollingUpdate?.maxUnavailable ?? 1, all.length, "up"));
    let missing = podsByNode(set).size - new Set(working.map(({ spec }) => spec.nodeName)).size;
    for (const pod of [...stale].sort((a, b) => Number(isReady(a)) - Number(isReady(b)))) {
      if (!isReady(pod)) {
        await deletePod(set, pod);
      } else if (missing < allowed) {
        missing += 1;
        await deletePod(set, pod);
      }
    }
  }

  async function updateStatus(set: DaemonSet): Promise<number | undefined> {
    const perNode = podsByNode(set);
    const revision = revisionOf(set);
    const verdicts: ReturnType<typeof availabilityOf>[] = [];
    let [desired, current, misplaced, ready, updated] = [0, 0, 0, 0, 0];
    for (const node of views.nodes.values()) {
      const name = node.metadata?.name ?? "";
      const pod = perNode.get(name)?.find((one) => !views.pods.isLeaving(one));
      const verdict = verdictFor(set.spec.template, node);
      if (verdict === "leave") {
        misplaced += pod === undefined ? 0 : 1;
      } else if (verdict === "run" || pod !== undefined) {
        desired += 1;
        current += pod === undefined ? 0 : 1;
        ready += pod !== undefined && isReady(pod) ? 1 : 0;
        updated += pod?.metadata?.labels?.[REVISION_LABEL] === revision ? 1 : 0;
        verdicts.push(pod === undefined ? { kind: "unready" } : availabilityOf(pod, Number(set.spec.minReadySeconds ?? 0), clock.wallMs()));
      }
    }
    const available = verdicts.filter(({ kind }) => kind === "available").length;
    const status = {
      desiredNumberScheduled: desired,
      currentNumberScheduled: current,
      numberMisscheduled: misplaced,
      numberReady: ready,
      ...withoutZeros({ updatedNumberScheduled: updated, numberAvailable: available, numberUnavailable: desired - available }),
      observedGeneration: set.metadata?.generation ?? 0,
    };
    views.daemonSets.wrote(await writeStatus(client, DaemonSets, set, status));
    const waits = verdicts.flatMap((verdict) => (verdict.kind === "soon" ? [verdict.afterMs] : []));
    return waits.length > 0 ? Math.min(...waits) : undefined;
  }

  const loop = startWorkLoop({ name: "daemonset-controller", context, reconcile });
  const addAll = (): void => {
    for (const set of views.daemonSets.values()) {
      loop.addAfter(keyOf(set), GATHER_MS);
    }
  };
  views.daemonSets.onChange(({ object }) => loop.add(keyOf(object)));
  views.nodes.onChange((change) => {
    const isQuiet = change.type === "updated" && factsOf(change.previous) === factsOf(change.object);
    if (!isQuiet) {
      addAll();
    }
  });
  views.pods.onChange(({ object }) => {
    const owner = controllerOf(object);
    if (owner?.kind === "DaemonSet") {
      loop.addAfter(`${object.metadata?.namespace}/${owner.name}`, GATHER_MS);
    }
  });
}

/** The template's generation moves with scale-free edits too; its content is what makes a revision. */
function revisionOf(set: DaemonSet): string {
  return contentHash(set.spec.template);
}

function targetOf({ spec }: Pod): string {
  const [term] = spec.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms ?? [];
  return term?.matchFields?.find(({ key }) => key === "metadata.name")?.values?.[0] ?? "";
}

function factsOf({ metadata, spec }: Node): string {
  return JSON.stringify([metadata?.labels, spec?.taints]);
}
