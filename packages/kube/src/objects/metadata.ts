/** Changes to an object's metadata and taints, as pure functions: each gives the same object back when there is nothing to change. */
import type { KubeObject, Node, Taint } from "@joinery/api";

export function hasFinalizer({ metadata }: KubeObject, finalizer: string): boolean {
  return metadata?.finalizers?.includes(finalizer) ?? false;
}

/** Appends it. */
export function withFinalizer<T extends KubeObject>(object: T, finalizer: string): T {
  return hasFinalizer(object, finalizer)
    ? object
    : withMetadata(object, { finalizers: [...(object.metadata?.finalizers ?? []), finalizer] });
}

export function withoutFinalizer<T extends KubeObject>(object: T, finalizer: string): T {
  return hasFinalizer(object, finalizer)
    ? withMetadata(object, { finalizers: object.metadata?.finalizers?.filter((other) => other !== finalizer) })
    : object;
}

/** A change to a map: a value sets the key, undefined removes it. */
export type MapChange = Readonly<Record<string, string | undefined>>;

/** `undefined` removes a key. */
export function withLabels<T extends KubeObject>(object: T, change: MapChange): T {
  const labels = changed(object.metadata?.labels, change);
  return labels === object.metadata?.labels ? object : withMetadata(object, { labels });
}

/** `undefined` removes a key. */
export function withAnnotations<T extends KubeObject>(object: T, change: MapChange): T {
  const annotations = changed(object.metadata?.annotations, change);
  return annotations === object.metadata?.annotations ? object : withMetadata(object, { annotations });
}

export function isDeleting({ metadata }: KubeObject): boolean {
  return metadata?.deletionTimestamp !== undefined;
}

/** Taints are the same when key and effect are; the value does not count. */
export function isSameTaint(a: Taint, b: Taint): boolean {
  return a.key === b.key && a.effect === b.effect;
}

/** Adds the taint, or replaces the one of the same key and effect if its value differs. */
export function withTaint(node: Node, taint: Taint): Node {
  const taints = node.spec?.taints ?? [];
  const held = taints.find((other) => isSameTaint(other, taint));
  if (held !== undefined && (held.value ?? "") === (taint.value ?? "")) {
    return node;
  }
  const next = held === undefined ? [...taints, taint] : taints.map((other) => (other === held ? taint : other));
  return { ...node, spec: { ...node.spec, taints: next } };
}

/** Takes away the taint of this key and effect, whatever its value. */
export function withoutTaint(node: Node, taint: Taint): Node {
  const taints = node.spec?.taints ?? [];
  const next = taints.filter((other) => !isSameTaint(other, taint));
  return next.length === taints.length ? node : { ...node, spec: { ...node.spec, taints: next } };
}

function withMetadata<T extends KubeObject>(object: T, change: KubeObject["metadata"]): T {
  return { ...object, metadata: { ...object.metadata, ...change } };
}

function changed(map: Readonly<Record<string, string>> | undefined, change: MapChange): Readonly<Record<string, string>> | undefined {
  const entries = Object.entries(change).filter(([key, value]) => map?.[key] !== value);
  if (entries.length === 0) {
    return map;
  }
  const next = new Map(Object.entries(map ?? {}));
  for (const [key, value] of entries) {
    if (value === undefined) {
      next.delete(key);
    } else {
      next.set(key, value);
    }
  }
  return Object.fromEntries(next);
}
