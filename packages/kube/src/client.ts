/** What one can ask of an API server. Made from a `Transport` by `createKubeClient`. */
import type { Kind, KubeObject, LabelSelector } from "@joinery/api";

export interface ObjectKey {
  readonly name: string;
  /** Absent for cluster-scoped kinds. */
  readonly namespace?: string;
}

export interface ListOptions {
  /** All namespaces when absent. */
  readonly namespace?: string;
  readonly labelSelector?: string | LabelSelector;
  readonly fieldSelector?: string;
  /** Page size; `list` returns one page, `listAll` walks them. */
  readonly limit?: number;
  readonly continue?: string;
  readonly resourceVersion?: string;
  readonly resourceVersionMatch?: "Exact" | "NotOlderThan";
  readonly encoding?: Encoding;
}

/**
 * `whole`, which is also meant when absent: objects as the server has them. `trimmed`: they are only read, never written back, so fields that our types do
 * not know, or that no cache reads, may be missing; that is half the bytes and a tenth of the work where the server has such an encoding of the kind.
 * `outline`: as `trimmed`, and status may be missing too.
 */
export type Encoding = "whole" | "trimmed" | "outline";

export interface ObjectList<T> {
  readonly items: readonly T[];
  readonly resourceVersion: string;
  readonly continue?: string;
  readonly remainingItemCount?: number;
}

/** A page whose objects are read when they are asked for, one after the other, so that they need not all be held; they can be gone through once. */
export interface ObjectPage<T> extends Omit<ObjectList<T>, "items"> {
  readonly objects: Iterable<T>;
}

export type Patch =
  | { readonly type: "merge"; readonly body: unknown }
  | { readonly type: "json"; readonly body: readonly unknown[] }
  | { readonly type: "strategic"; readonly body: unknown }
  | { readonly type: "apply"; readonly body: unknown; readonly fieldManager: string; readonly force?: boolean };

export interface DeleteOptions {
  readonly uid?: string;
  readonly resourceVersion?: string;
  readonly gracePeriodSeconds?: number;
  readonly propagationPolicy?: "Background" | "Foreground" | "Orphan";
}

export type WatchEvent<T> =
  | { readonly type: "ADDED" | "MODIFIED" | "DELETED"; readonly object: T }
  | { readonly type: "BOOKMARK"; readonly resourceVersion: string };

export interface WatchOptions {
  readonly namespace?: string;
  readonly labelSelector?: string | LabelSelector;
  readonly fieldSelector?: string;
  readonly resourceVersion?: string;
  /** The server closes the watch after this many seconds. */
  readonly timeoutSeconds?: number;
  readonly encoding?: Encoding;
}

/**
 * Every call throws `ApiError` (with `status`, `reason`, `message`, `details` of the server's Status object) for an answer that
 * is no success, and `TransportError` when there was no answer.
 */
export interface KubeClient {
  get<T extends KubeObject>(kind: Kind<T>, key: ObjectKey, signal?: AbortSignal): Promise<T>;
  /** As `get`, but undefined where the server says 404. */
  find<T extends KubeObject>(kind: Kind<T>, key: ObjectKey, signal?: AbortSignal): Promise<T | undefined>;
  list<T extends KubeObject>(kind: Kind<T>, options?: ListOptions, signal?: AbortSignal): Promise<ObjectList<T>>;
  /** As `list`. What cannot be read is found while the objects are gone through. */
  page<T extends KubeObject>(kind: Kind<T>, options?: ListOptions, signal?: AbortSignal): Promise<ObjectPage<T>>;
  /** All objects, fetched page by page. */
  listAll<T extends KubeObject>(kind: Kind<T>, options?: ListOptions, signal?: AbortSignal): AsyncIterable<T>;
  create<T extends KubeObject>(kind: Kind<T>, object: T, signal?: AbortSignal): Promise<T>;
  replace<T extends KubeObject>(kind: Kind<T>, object: T, options?: { readonly subresource?: string }, signal?: AbortSignal): Promise<T>;
  patch<T extends KubeObject>(
    kind: Kind<T>,
    key: ObjectKey,
    patch: Patch,
    options?: { readonly subresource?: string },
    signal?: AbortSignal,
  ): Promise<T>;
  /** Gives the object as it stands now where finalizers still hold it, as far as the server shows it. */
  delete<T extends KubeObject>(kind: Kind<T>, key: ObjectKey, options?: DeleteOptions, signal?: AbortSignal): Promise<T | undefined>;
  /** POST to a subresource, e.g. `eviction` or `binding` of a pod. */
  createSubresource<T extends KubeObject>(
    kind: Kind<T>,
    key: ObjectKey,
    subresource: string,
    body: unknown,
    signal?: AbortSignal,
  ): Promise<unknown>;
  /** Ends when the server closes the watch; throws `ApiError` with status 410 when the version is too old. */
  watch<T extends KubeObject>(kind: Kind<T>, options: WatchOptions, signal: AbortSignal): AsyncIterable<WatchEvent<T>>;
  /** For what has no kind: `/version`, `/readyz`, discovery. */
  raw(path: string, signal?: AbortSignal): Promise<unknown>;
}
