/**
 * Workloads of the input: what makes pods, and pods whose maker the input does not have. Equal pods are one workload, so that
 * 15,000 pods of 300 Deployments are 300 questions.
 */
import {
  DaemonSets,
  Deployments,
  Jobs,
  type KubeObject,
  type OwnerReference,
  type Pod,
  type PodSpec,
  Pods,
  type PodTemplateSpec,
  ReplicaSets,
  StatefulSets,
} from "@joinery/api";
import type { FieldPath } from "../manifests/field-path.ts";
import type { Manifest } from "../manifests/manifest.ts";
import { type LocatedObjects, nameOf, namespaceOf } from "./located.ts";

export interface Workload {
  readonly kind: string;
  readonly name: string;
  readonly namespace: string;
  /** Unique: `namespace/kind/name`. */
  readonly key: string;
  readonly manifest: Manifest;
  /** Where the pod's template is in the object: `[]` for a bare pod. */
  readonly path: FieldPath;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  readonly spec: PodSpec;
  /** Pods that are wanted at a time; of a DaemonSet that depends on the nodes. */
  readonly replicas: number | undefined;
  /** Some pod of it is bound to a node. */
  readonly isRunning: boolean;
}

interface WithTemplate extends KubeObject {
  readonly spec: {
    readonly replicas?: number;
    readonly parallelism?: number;
    readonly template: PodTemplateSpec;
  };
}

interface CronJob extends KubeObject {
  readonly spec: { readonly jobTemplate: { readonly spec: { readonly parallelism?: number; readonly template: PodTemplateSpec } } };
}

type Found = Omit<Workload, "isRunning">;

export function findWorkloads(objects: LocatedObjects): readonly Workload[] {
  const made = templated(objects);
  const { running, orphans } = sortPods(objects, new Set(made.map(({ key }) => key)));
  return [...made.map((workload) => ({ ...workload, isRunning: running.has(workload.key) })), ...orphans];
}

function templated(objects: LocatedObjects): Found[] {
  const deployments = new Set(objects.of(Deployments).map(({ object }) => keyOf("Deployment", object)));
  const replicaSets = objects
    .of(ReplicaSets)
    .filter(({ object }) => !ownersOf(object).some((owner) => deployments.has(ownerKey(owner, object))));
  const cronJobs = new Set(objects.named("batch/v1", "CronJob").map(({ object }) => keyOf("CronJob", object)));
  const jobs = objects.of(Jobs).filter(({ object }) => !ownersOf(object).some((owner) => cronJobs.has(ownerKey(owner, object))));
  const plain = [
    ...objects.of(Deployments),
    ...replicaSets,
    ...objects.named<WithTemplate>("v1", "ReplicationController"),
    ...objects.of(StatefulSets),
    ...objects.of(DaemonSets),
    ...jobs,
  ].map(({ object, manifest }) => workloadOf(object as WithTemplate, manifest, ["spec", "template"], (object as WithTemplate).spec));
  const scheduled = objects
    .named<CronJob>("batch/v1", "CronJob")
    .map(({ object, manifest }) => workloadOf(object, manifest, ["spec", "jobTemplate", "spec", "template"], object.spec.jobTemplate.spec));
  return [...plain, ...scheduled];
}

function workloadOf(object: KubeObject, manifest: Manifest, path: FieldPath, { template, ...spec }: WithTemplate["spec"]): Found {
  const kind = object.kind ?? "";
  const isCounted = kind !== "DaemonSet";
  return {
    kind,
    name: nameOf(object),
    namespace: namespaceOf(object),
    key: keyOf(kind, object),
    manifest,
    path,
    labels: template.metadata?.labels ?? {},
    annotations: template.metadata?.annotations ?? {},
    spec: template.spec,
    replicas: isCounted ? (spec.parallelism ?? spec.replicas ?? 1) : undefined,
  };
}

interface SortedPods {
  /** Keys of workloads that have a bound pod. */
  readonly running: ReadonlySet<string>;
  /** Pods without a maker in the input, equal ones together. */
  readonly orphans: readonly Workload[];
}

function sortPods(objects: LocatedObjects, made: ReadonlySet<string>): SortedPods {
  const running = new Set<string>();
  const groups = new Map<string, { pod: Pod; manifest: Manifest; count: number; isRunning: boolean }>();
  const makerOf = makers(objects);
  for (const { object: pod, manifest } of objects.of(Pods)) {
    if (isOver(pod) || isPinned(pod)) continue;
    const maker = makerOf(pod);
    const isBound = pod.spec.nodeName !== undefined;
    if (maker !== undefined && made.has(maker)) {
      if (isBound) running.add(maker);
      continue;
    }
    const key = maker ?? bareKey(pod);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, { pod, manifest, count: 1, isRunning: isBound });
    else groups.set(key, { ...group, count: group.count + 1, isRunning: group.isRunning || isBound });
  }
  return { running, orphans: Array.from(groups.values(), podWorkload) };
}

function podWorkload({ pod, manifest, count, isRunning }: { pod: Pod; manifest: Manifest; count: number; isRunning: boolean }): Workload {
  const { labels = {}, annotations = {} } = pod.metadata ?? {};
  const [name, namespace, key] = [nameOf(pod), namespaceOf(pod), keyOf("Pod", pod)];
  return { kind: "Pod", name, namespace, key, manifest, path: [], labels, annotations, spec: pod.spec, replicas: count, isRunning };
}

/** The workload that made a pod: a Deployment through its ReplicaSet, also where the input lacks the ReplicaSet. */
function makers(objects: LocatedObjects): (pod: Pod) => string | undefined {
  const above = new Map<string, string>();
  for (const { object } of [...objects.of(ReplicaSets), ...objects.of(Jobs)]) {
    const [owner] = ownersOf(object);
    if (owner !== undefined) above.set(keyOf(object.kind ?? "", object), ownerKey(owner, object));
  }
  const deployments = new Set(objects.of(Deployments).map(({ object }) => keyOf("Deployment", object)));
  return (pod) => {
    const [owner] = ownersOf(pod);
    if (owner === undefined) return undefined;
    const key = ownerKey(owner, pod);
    const known = above.get(key);
    if (known !== undefined) return known;
    const hash = pod.metadata?.labels?.["pod-template-hash"];
    if (owner.kind !== "ReplicaSet" || hash === undefined || !owner.name.endsWith(`-${hash}`)) return key;
    const deployment = ownerKey({ ...owner, kind: "Deployment", name: owner.name.slice(0, -hash.length - 1) }, pod);
    return deployments.has(deployment) ? deployment : key;
  };
}

function isOver({ status, metadata }: Pod): boolean {
  return status?.phase === "Succeeded" || status?.phase === "Failed" || metadata?.deletionTimestamp !== undefined;
}

/** Pods of DaemonSets and of nodes themselves go where their node is. */
function isPinned(pod: Pod): boolean {
  return ownersOf(pod).some(({ kind }) => kind === "DaemonSet" || kind === "Node");
}

function bareKey({ metadata, spec }: Pod): string {
  const { nodeName: _, ...rest } = spec;
  return JSON.stringify([metadata?.namespace, metadata?.labels, metadata?.annotations, rest]);
}

function ownersOf({ metadata }: KubeObject): readonly OwnerReference[] {
  const owners = metadata?.ownerReferences ?? [];
  return owners.length < 2 ? owners : owners.toSorted((a, b) => Number(b.controller ?? false) - Number(a.controller ?? false));
}

function ownerKey({ kind, name }: OwnerReference, owned: KubeObject): string {
  return `${namespaceOf(owned)}/${kind}/${name}`;
}

function keyOf(kind: string, object: KubeObject): string {
  return `${namespaceOf(object)}/${kind}/${nameOf(object)}`;
}
