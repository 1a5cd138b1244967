/** An API server for this room's tests, reduced to what the provider calls. */
import type { Kind, KubeObject } from "@joinery/api";
import { ApiError, type KubeClient } from "@joinery/kube";

export interface MemoryClient {
  readonly client: KubeClient;
  put<T extends KubeObject>(kind: Kind<T>, object: T): void;
  all<T extends KubeObject>(kind: Kind<T>): readonly T[];
  /** The next create has this effect but its answer is lost; or it fails without effect. */
  failNextCreate(how: "before" | "after"): void;
}

export function createMemoryClient(): MemoryClient {
  const store = new Map<string, KubeObject>();
  let fault: "before" | "after" | undefined;
  const keyOf = ({ resource }: Kind, name: string | undefined) => `${resource}/${name}`;
  const ofKind = <T extends KubeObject>(kind: Kind<T>) =>
    [...store].filter(([key]) => key.startsWith(`${kind.resource}/`)).map(([, object]) => object as T);
  const refuse = (status: number, reason: string) => new ApiError({ status, reason, message: reason });
  const client = {
    async find(kind: Kind, { name }: { readonly name: string }) {
      return store.get(keyOf(kind, name));
    },
    async *listAll(kind: Kind) {
      yield* ofKind(kind);
    },
    async create(kind: Kind, object: KubeObject) {
      const how = fault;
      fault = undefined;
      if (how === "before") throw refuse(503, "ServiceUnavailable");
      const key = keyOf(kind, object.metadata?.name);
      if (store.has(key)) throw refuse(409, "AlreadyExists");
      store.set(key, { ...object, metadata: { ...object.metadata, creationTimestamp: "2026-01-01T00:00:00Z" } });
      if (how === "after") throw refuse(500, "InternalError");
      return object;
    },
    async delete(kind: Kind, { name }: { readonly name: string }) {
      if (!store.delete(keyOf(kind, name))) throw refuse(404, "NotFound");
    },
  };
  return {
    client: client as unknown as KubeClient,
    put: (kind, object) => void store.set(keyOf(kind, object.metadata?.name), object),
    all: ofKind,
    failNextCreate: (how) => {
      fault = how;
    },
  };
}
