/** The object whose template a pod is made from: what people edit. */
import { Deployments, Jobs, type KubeObject, type OwnerReference, type Pod, type PodSpec, ReplicaSets, StatefulSets } from "@joinery/api";
import type { ObjectSource } from "../plan/input.ts";

export interface Owner {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly namespace: string;
  /** As the owner's template has it where the input has the owner, else as the pod has it. */
  readonly spec: PodSpec;
}

interface WithTemplate extends KubeObject {
  readonly spec: { readonly template: { readonly spec: PodSpec } };
}

/** The pod itself where nothing owns it. A ReplicaSet leads on to its Deployment, also where the input lacks the ReplicaSet. */
export function ownerOf(pod: Pod, source: ObjectSource): Owner {
  const { name = "", namespace = "default", ownerReferences } = pod.metadata ?? {};
  const [reference] = ownerReferences ?? [];
  if (reference === undefined) return { apiVersion: "v1", kind: "Pod", name, namespace, spec: pod.spec };
  const top = topmost(pod, reference, namespace, source);
  const object = templated(top, namespace, source);
  return { apiVersion: top.apiVersion, kind: top.kind, name: top.name, namespace, spec: object?.spec.template.spec ?? pod.spec };
}

type Named = Pick<OwnerReference, "apiVersion" | "kind" | "name">;

function topmost(pod: Pod, reference: OwnerReference, namespace: string, source: ObjectSource): Named {
  if (reference.kind !== "ReplicaSet") return reference;
  const set = templated(reference, namespace, source);
  const above = set?.metadata?.ownerReferences?.find(({ kind }) => kind === "Deployment");
  if (set !== undefined) return above ?? reference;
  const hash = pod.metadata?.labels?.["pod-template-hash"];
  if (hash === undefined || !reference.name.endsWith(`-${hash}`)) return reference;
  return { apiVersion: "apps/v1", kind: "Deployment", name: reference.name.slice(0, -hash.length - 1) };
}

function templated({ kind, name }: Named, namespace: string, source: ObjectSource): WithTemplate | undefined {
  const found = objectsOf(kind, source).find(({ metadata }) => metadata?.name === name && metadata.namespace === namespace);
  return found as WithTemplate | undefined;
}

function objectsOf(kind: string, source: ObjectSource): readonly KubeObject[] {
  const kinds = [Deployments, ReplicaSets, StatefulSets, Jobs].find((one) => one.kind === kind);
  if (kinds !== undefined) return source.of<KubeObject>(kinds);
  return kind === "ReplicationController" ? source.named("v1", kind) : [];
}
