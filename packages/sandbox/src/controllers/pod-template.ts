/** Makes the pods of a workload out of its template. */
import type { KubeObject, ObjectMeta, OwnerReference, Pod, PodTemplateSpec } from "@joinery/api";

export function controllerReference(owner: KubeObject, apiVersion: string, kind: string): OwnerReference {
  return {
    apiVersion,
    kind,
    name: owner.metadata?.name ?? "",
    uid: owner.metadata?.uid ?? "",
    controller: true,
    blockOwnerDeletion: true,
  };
}

export interface PodIdentity {
  readonly namespace: string;
  /** The server completes `generateName` where there is no `name`; workloads with identities give both. */
  readonly name?: string;
  readonly generateName?: string;
  readonly owner: OwnerReference;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  /** Beside those of the template. */
  readonly finalizers?: readonly string[];
}

export function podFromTemplate(template: PodTemplateSpec, identity: PodIdentity): Pod {
  const { namespace, name, generateName, owner } = identity;
  const annotations = { ...template.metadata?.annotations, ...identity.annotations };
  const finalizers = [...((template.metadata as ObjectMeta | undefined)?.finalizers ?? []), ...(identity.finalizers ?? [])];
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: {
      ...(name === undefined ? {} : { name }),
      ...(generateName === undefined ? {} : { generateName }),
      namespace,
      labels: { ...template.metadata?.labels, ...identity.labels },
      ...(Object.keys(annotations).length > 0 ? { annotations } : {}),
      ...(finalizers.length > 0 ? { finalizers } : {}),
      ownerReferences: [owner],
    },
    spec: template.spec,
  };
}
