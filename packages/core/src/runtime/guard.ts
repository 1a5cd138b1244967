/** Lets nothing be written that was decided under a leadership that is over. */
import type { KubeClient } from "@joinery/kube";

export class LeadershipLostError extends Error {
  override readonly name = "LeadershipLostError";
}

/**
 * The client of one term of leadership: reads and writes end with the term, and a write that has not been sent when the term ends
 * is refused.
 */
export function guarded(kube: KubeClient, term: AbortSignal): KubeClient {
  const during = (signal: AbortSignal | undefined): AbortSignal => {
    if (term.aborted) throw new LeadershipLostError("Cannot write to the API server: this replica does not lead any more");
    return signal === undefined || signal === term ? term : AbortSignal.any([term, signal]);
  };
  return {
    get: (kind, key, signal) => kube.get(kind, key, signal ?? term),
    find: (kind, key, signal) => kube.find(kind, key, signal ?? term),
    list: (kind, options, signal) => kube.list(kind, options, signal ?? term),
    page: (kind, options, signal) => kube.page(kind, options, signal ?? term),
    listAll: (kind, options, signal) => kube.listAll(kind, options, signal ?? term),
    watch: (kind, options, signal) => kube.watch(kind, options, signal),
    raw: (path, signal) => kube.raw(path, signal ?? term),
    create: async (kind, object, signal) => kube.create(kind, object, during(signal)),
    replace: async (kind, object, options, signal) => kube.replace(kind, object, options, during(signal)),
    patch: async (kind, key, patch, options, signal) => kube.patch(kind, key, patch, options, during(signal)),
    delete: async (kind, key, options, signal) => kube.delete(kind, key, options, during(signal)),
    createSubresource: async (kind, key, subresource, body, signal) => kube.createSubresource(kind, key, subresource, body, during(signal)),
  };
}
