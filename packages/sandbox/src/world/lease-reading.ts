/**
 * Node leases look alive to whoever reads them. Kubelets of this process are known to live without a lease, and write theirs so seldom
 * that a quiet day is cheap; a person who reads one would take its node for dead. So a read brings them up to date first.
 */
import { formatMicroTime, Leases } from "@joinery/api";
import type { Clock } from "@joinery/kube";
import type { ApiServer } from "../api-server/api-server.ts";
import { answer } from "../api-server/wire/dispatch.ts";

export interface LeaseReadingOptions {
  readonly apiServer: ApiServer;
  readonly clock: Clock;
  readonly isBeating: (nodeName: string) => boolean;
}

const NAMESPACE = "kube-node-lease";
const COLLECTION = "coordination.k8s.io/leases";
/** How often a real kubelet writes its lease. */
const BEAT_MS = 10_000;

/** To be called before leases are read: writes those that a real kubelet would have written since, at the time at which it would have. */
export function refreshLeases({ apiServer, clock, isBeating }: LeaseReadingOptions, name?: string): void {
  const { inside } = apiServer;
  for (const lease of inside.backend.store.collection(COLLECTION).list(NAMESPACE)) {
    const node = String(lease.metadata.name);
    if ((name !== undefined && name !== node) || !isBeating(node)) {
      continue;
    }
    const lastMs = Date.parse((lease as unknown as { spec?: { renewTime?: string } }).spec?.renewTime ?? "");
    const beats = Math.floor((clock.wallMs() - lastMs) / BEAT_MS);
    if (beats >= 1) {
      const body = { spec: { renewTime: formatMicroTime(lastMs + beats * BEAT_MS) } };
      const path = `/apis/coordination.k8s.io/v1/namespaces/${NAMESPACE}/${Leases.resource}/${node}`;
      answer(inside, { method: "PATCH", path, contentType: "application/merge-patch+json", body, userAgent: "kubelet" }, false);
    }
  }
}

/** Whether a read sees node leases. */
export function readsNodeLeases(id: string, namespace: string | undefined): boolean {
  return id === COLLECTION && (namespace === undefined || namespace === NAMESPACE);
}
