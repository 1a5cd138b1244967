/**
 * The pods that workloads of the input still want. Formats, "Workloads are expanded": replicas minus the pods that the workload owns,
 * named `<workload>-<n>` and skipping names that exist.
 */

import type { LabelSelector } from "@joinery/api";
import {
  Deployments,
  type Job,
  Jobs,
  type KubeObject,
  type Pod,
  Pods,
  type PodTemplateSpec,
  ReplicaSets,
  StatefulSets,
  type Workload,
} from "@joinery/api";
import { matchesLabelSelector } from "@joinery/kube";
import type { ObjectSource } from "./input.ts";

interface Wish {
  readonly owner: KubeObject;
  readonly wanted: number;
  readonly template: PodTemplateSpec;
  readonly selector: LabelSelector | undefined;
  /** Kind and name of what may own its pods. */
  readonly owners: ReadonlySet<string>;
  readonly counts: (pod: Pod) => boolean;
  readonly claimTemplates?: readonly { readonly metadata?: { readonly name?: string } }[];
}

/** Pods to add to those of the input. */
export function expandWorkloads(objects: ObjectSource): readonly Pod[] {
  const pods = objects.of(Pods);
  const names = new Set(pods.map((pod) => keyOf(pod.metadata?.namespace, pod.metadata?.name)));
  const owned = ownersOf(pods);
  const adopted = new Set<Pod>();
  const made: Pod[] = [];
  for (const wish of wishes(objects)) {
    const namespace = wish.owner.metadata!.namespace!;
    let missing = wish.wanted - countOwned(wish, owned.get(namespace), adopted);
    for (let number = 0; missing > 0; number++) {
      const name = `${wish.owner.metadata!.name}-${number}`;
      if (names.has(keyOf(namespace, name))) continue;
      names.add(keyOf(namespace, name));
      made.push(podOf(wish, namespace, name));
      missing--;
    }
  }
  return made;
}

function* wishes(objects: ObjectSource): Iterable<Wish> {
  const deployments = objects.of(Deployments);
  const deploymentNames = new Set(deployments.map((deployment) => keyOf(deployment.metadata?.namespace, deployment.metadata?.name)));
  const replicaSets = objects.of(ReplicaSets);
  const unknownSets = setsOnlyNamed(objects.of(Pods), replicaSets);
  for (const deployment of deployments) {
    const through = replicaSets.filter((set) => isOwnedBy(set, "Deployment", deployment)).map((set) => `ReplicaSet/${set.metadata?.name}`);
    const absent = unknownSets.filter((unknown) => couldBeOf(unknown, deployment)).map(({ set }) => `ReplicaSet/${set}`);
    yield replicated(deployment, new Set([...through, ...absent]), isReplica);
  }
  for (const set of replicaSets) {
    const owner = set.metadata?.ownerReferences?.find(({ kind }) => kind === "Deployment")?.name;
    // Its Deployment stands for it.
    if (owner !== undefined && deploymentNames.has(keyOf(set.metadata?.namespace, owner))) continue;
    yield replicated(set, new Set([`ReplicaSet/${set.metadata?.name}`]), isReplica);
  }
  for (const controller of objects.named<Workload>("v1", "ReplicationController")) {
    const matchLabels = (controller.spec.selector ?? controller.spec.template.metadata?.labels) as Record<string, string> | undefined;
    const owners = new Set([`ReplicationController/${controller.metadata?.name}`]);
    yield { ...replicated(controller, owners, isReplica), selector: matchLabels && { matchLabels } };
  }
  for (const set of objects.of(StatefulSets)) {
    const claimTemplates = set.spec.volumeClaimTemplates as Wish["claimTemplates"];
    // A terminating pod keeps its name, so its successor cannot come before it is gone.
    const wish = replicated(set, new Set([`StatefulSet/${set.metadata?.name}`]), isNotTerminal);
    yield { ...wish, ...(claimTemplates && { claimTemplates }) };
  }
  for (const job of objects.of(Jobs)) yield jobWish(job);
}

interface UnknownSet {
  readonly set: string;
  readonly pod: Pod;
}

/** ReplicaSets that pods name as their owner but the input does not have: `kubectl get deployments,pods` leaves them out. */
function setsOnlyNamed(pods: readonly Pod[], replicaSets: readonly KubeObject[]): UnknownSet[] {
  const known = new Set(replicaSets.map(({ metadata }) => keyOf(metadata?.namespace, metadata?.name)));
  const found = new Map<string, UnknownSet>();
  for (const pod of pods) {
    const set = pod.metadata?.ownerReferences?.find(({ kind }) => kind === "ReplicaSet")?.name;
    if (set === undefined) continue;
    const key = keyOf(pod.metadata?.namespace, set);
    if (!known.has(key) && !found.has(key)) found.set(key, { set, pod });
  }
  return [...found.values()];
}

/** A Deployment calls its ReplicaSets `<deployment>-<hash>`, and selects their pods. */
function couldBeOf({ set, pod }: UnknownSet, { metadata, spec }: Workload): boolean {
  const hashStart = set.lastIndexOf("-");
  return (
    keyOf(pod.metadata?.namespace, set.slice(0, Math.max(hashStart, 0))) === keyOf(metadata?.namespace, metadata?.name) &&
    matchesLabelSelector(spec.selector, pod.metadata?.labels)
  );
}

function replicated(owner: Workload, owners: ReadonlySet<string>, counts: (pod: Pod) => boolean): Wish {
  const { replicas, template, selector } = owner.spec;
  return { owner, wanted: replicas ?? 1, template, selector, owners, counts };
}

/** A Job never runs more pods than completions are left, and none when it is suspended or over. */
function jobWish(job: Job): Wish {
  const { parallelism, completions, template, selector } = job.spec;
  const isOver = ((job.status?.conditions ?? []) as readonly { type: string; status: string }[]).some(
    ({ type, status }) => (type === "Complete" || type === "Failed") && status === "True",
  );
  const wanted = isOver || job.spec.suspend === true ? 0 : Math.min(parallelism ?? 1, completions ?? Number.POSITIVE_INFINITY);
  return { owner: job, wanted, template, selector, owners: new Set([`Job/${job.metadata?.name}`]), counts: () => true };
}

interface NamespacePods {
  /** `Kind/name` of an owner → its pods. */
  readonly byOwner: ReadonlyMap<string, readonly Pod[]>;
  readonly ownerless: readonly Pod[];
}

function ownersOf(pods: readonly Pod[]): ReadonlyMap<string, NamespacePods> {
  const found = new Map<string, { byOwner: Map<string, Pod[]>; ownerless: Pod[] }>();
  for (const pod of pods) {
    const namespace = pod.metadata?.namespace ?? "default";
    const entry = found.get(namespace) ?? { byOwner: new Map<string, Pod[]>(), ownerless: [] };
    found.set(namespace, entry);
    const owners = pod.metadata?.ownerReferences ?? [];
    if (owners.length === 0) entry.ownerless.push(pod);
    for (const { kind, name } of owners) {
      const owner = `${kind}/${name}`;
      const list = entry.byOwner.get(owner);
      if (list === undefined) entry.byOwner.set(owner, [pod]);
      else list.push(pod);
    }
  }
  return found;
}

function countOwned({ owners, selector, counts }: Wish, pods: NamespacePods | undefined, adopted: Set<Pod>): number {
  if (pods === undefined) return 0;
  let count = 0;
  for (const owner of owners) count += (pods.byOwner.get(owner) ?? []).filter(counts).length;
  for (const pod of pods.ownerless) {
    if (adopted.has(pod) || !counts(pod) || !matchesLabelSelector(selector, pod.metadata?.labels)) continue;
    adopted.add(pod);
    count++;
  }
  return count;
}

function podOf({ owner, template, claimTemplates }: Wish, namespace: string, name: string): Pod {
  const { apiVersion = "", kind = "", metadata } = owner;
  const claims = (claimTemplates ?? []).map(({ metadata: claim }) => ({
    name: claim?.name ?? "",
    persistentVolumeClaim: { claimName: `${claim?.name}-${name}` },
  }));
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: {
      name,
      namespace,
      uid: `${namespace}/${name}`,
      ...(metadata?.creationTimestamp && { creationTimestamp: metadata.creationTimestamp }),
      ...(template.metadata?.labels && { labels: template.metadata.labels }),
      ...(template.metadata?.annotations && { annotations: template.metadata.annotations }),
      ownerReferences: [{ apiVersion, kind, name: metadata?.name ?? "", uid: metadata?.uid ?? "", controller: true }],
    },
    spec: claims.length === 0 ? template.spec : { ...template.spec, volumes: [...claims, ...(template.spec.volumes ?? [])] },
  };
}

function isOwnedBy(object: KubeObject, kind: string, owner: KubeObject): boolean {
  if (object.metadata?.namespace !== owner.metadata?.namespace) return false;
  return (object.metadata?.ownerReferences ?? []).some((reference) => reference.kind === kind && reference.name === owner.metadata?.name);
}

/** Failed, finished and terminating pods are replaced at once. */
function isReplica(pod: Pod): boolean {
  return isNotTerminal(pod) && pod.metadata?.deletionTimestamp === undefined;
}

function isNotTerminal({ status }: Pod): boolean {
  return status?.phase !== "Failed" && status?.phase !== "Succeeded";
}

function keyOf(namespace: string | undefined, name: string | undefined): string {
  return `${namespace ?? "default"}/${name ?? ""}`;
}
