/**
 * A cluster that exists in files only, behind the client interface: lists answer from memory, watches stay silent, writes are
 * refused. So the controller's own caches and cluster state make the scheduling problem of `plan`.
 */
import type { Kind, KubeObject } from "@joinery/api";
import type { KubeClient } from "@joinery/kube";

export type ObjectsOf = <T extends KubeObject>(kind: Kind<T>) => readonly T[];

export function createFileKubeClient(objectsOf: ObjectsOf): KubeClient {
  const refuse = async (): Promise<never> => {
    throw new Error("Cannot write: the cluster is a set of files");
  };
  const find: KubeClient["find"] = async (kind, { name, namespace }) =>
    objectsOf(kind).find(({ metadata }) => metadata?.name === name && metadata?.namespace === namespace);
  return {
    find,
    async get(kind, key) {
      const found = await find(kind, key);
      if (found === undefined) throw new Error(`Cannot get ${kind.kind} ${key.name}: no such object in the files`);
      return found;
    },
    list: async (kind) => ({ items: objectsOf(kind), resourceVersion: "1" }),
    page: async (kind) => ({ objects: objectsOf(kind), resourceVersion: "1" }),
    async *listAll(kind) {
      yield* objectsOf(kind);
    },
    create: refuse,
    replace: refuse,
    patch: refuse,
    delete: refuse,
    createSubresource: refuse,
    // Nothing ever happens to files: the watch lasts until somebody stops it.
    async *watch(_kind, _options, signal) {
      if (!signal.aborted) await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
    },
    raw: refuse,
  };
}
