/** What a workload selects and nobody controls becomes its own: so a workload takes up what `kubectl delete --cascade=orphan` left. */
import type { Kind, KubeObject, LabelSelector } from "@joinery/api";
import { type KubeClient, keyOf, matchesLabelSelector, parseKey } from "@joinery/kube";
import type { View } from "../world/view.ts";
import { controllerReference } from "./pod-template.ts";

export interface Adopter {
  readonly owner: KubeObject & { readonly spec: { readonly selector?: LabelSelector } };
  readonly apiVersion: string;
  readonly kind: string;
}

export interface Orphanage<T extends KubeObject> {
  readonly client: KubeClient;
  readonly kind: Kind<T>;
  /** With the index `orphan`. */
  readonly view: View<T>;
}

export async function adoptOrphans<T extends KubeObject>(
  { owner, apiVersion, kind }: Adopter,
  orphanage: Orphanage<T>,
  mayAdopt: (orphan: T) => boolean = () => true,
): Promise<void> {
  const { client, view } = orphanage;
  for (const orphan of view.by("orphan", owner.metadata?.namespace ?? "")) {
    if (matchesLabelSelector(owner.spec.selector, orphan.metadata?.labels) && !view.isLeaving(orphan) && mayAdopt(orphan)) {
      const ownerReferences = [...(orphan.metadata?.ownerReferences ?? []), controllerReference(owner, apiVersion, kind)];
      const body = { metadata: { uid: orphan.metadata?.uid, ownerReferences } };
      view.wrote(await client.patch(orphanage.kind, parseKey(keyOf(orphan)), { type: "merge", body }));
    }
  }
}
