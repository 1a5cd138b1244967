/** Writes of the objects that several controllers share, each of which is in the cache as soon as it is answered. Rules L-17, L-78. */
import {
  apiVersionOf,
  type CapacityBuffer,
  CapacityBuffers,
  type Kind,
  type KubeObject,
  type Node,
  type NodeClaim,
  NodeClaims,
  type NodeOverlay,
  NodeOverlays,
  type NodePool,
  NodePools,
  Nodes,
} from "@joinery/api";
import { type KubeClient, lockedPatch } from "@joinery/kube";
import type { Caches } from "../state/caches.ts";
import type { NodeRecord } from "../state/node-record.ts";
import { unlessGone } from "./answers.ts";

export interface Writes {
  createNodeClaim(claim: NodeClaim, signal?: AbortSignal): Promise<NodeClaim>;
  /**
   * Brings the object from `before` to `after`: metadata first, then status. Nothing is sent where nothing changed. Throws a conflict
   * when somebody else was faster.
   */
  saveNodeClaim(before: NodeClaim, after: NodeClaim, signal?: AbortSignal): Promise<NodeClaim>;
  saveNodePool(before: NodePool, after: NodePool, signal?: AbortSignal): Promise<NodePool>;
  saveNodeOverlay(before: NodeOverlay, after: NodeOverlay, signal?: AbortSignal): Promise<NodeOverlay>;
  saveBuffer(before: CapacityBuffer, after: CapacityBuffer, signal?: AbortSignal): Promise<CapacityBuffer>;
  /** A merge patch onto this very version of the Node. */
  patchNode(node: NodeRecord, body: Partial<Node>, signal?: AbortSignal): Promise<Node>;
  /** False when it was gone already. Never deletes another object of the same name. */
  deleteNodeClaim(claim: NodeClaim, signal?: AbortSignal): Promise<boolean>;
  deleteNode(node: KubeObject, signal?: AbortSignal): Promise<boolean>;
  /** Whether this very state of the object was written here: its writer knows it already and need not be woken for it. */
  isOwn(object: KubeObject): boolean;
}

/** Versions that are remembered as own; more than can be on their way to one controller at once. */
const OWN_VERSIONS_MAX = 4096;

type WithStatus = KubeObject & { readonly status?: object };

/** One for each controller. */
export function createWrites(kube: KubeClient, caches: Caches): Writes {
  const ownVersions = new Set<string>();

  function own<T extends KubeObject>(written: T): T {
    ownVersions.add(written.metadata?.resourceVersion ?? "");
    if (ownVersions.size > OWN_VERSIONS_MAX) ownVersions.delete(ownVersions.values().next().value ?? "");
    return written;
  }

  async function save<T extends WithStatus>(
    kind: Kind<T>,
    before: T,
    after: T,
    note: (written: T) => void,
    signal?: AbortSignal,
  ): Promise<T> {
    const { name = "", namespace } = before.metadata ?? {};
    const key = { name, ...(namespace && { namespace }) };
    let held = before;
    const main = lockedPatch(held, { ...after, status: held.status });
    if (main !== undefined) {
      held = own(await kube.patch(kind, key, main, {}, signal));
      note(held);
    }
    const status = lockedPatch(held, { ...held, status: after.status });
    if (status !== undefined) {
      held = own(await kube.patch(kind, key, status, { subresource: "status" }, signal));
      note(held);
    }
    return held;
  }

  /** That the object goes is in the cache at once, so that nobody deletes it for a second reason. */
  async function remove<T extends KubeObject>(
    kind: Kind<T>,
    { metadata }: KubeObject,
    note: (left: T) => void,
    signal?: AbortSignal,
  ): Promise<boolean> {
    const deletion = kube.delete(kind, { name: metadata?.name ?? "" }, { uid: metadata?.uid }, signal);
    return unlessGone(deletion.then((left) => left !== undefined && note(left)));
  }

  return {
    async createNodeClaim(claim, signal) {
      const created = await kube.create(NodeClaims, { ...claim, apiVersion: apiVersionOf(NodeClaims), kind: NodeClaims.kind }, signal);
      caches.nodeClaims.noteWritten(created);
      return created;
    },
    saveNodeClaim: (before, after, signal) => save(NodeClaims, before, after, noteUnlessOver(caches.nodeClaims.noteWritten), signal),
    saveNodePool: (before, after, signal) => save(NodePools, before, after, noteUnlessOver(caches.nodePools.noteWritten), signal),
    saveNodeOverlay: (before, after, signal) => save(NodeOverlays, before, after, noteUnlessOver(caches.nodeOverlays.noteWritten), signal),
    saveBuffer: (before, after, signal) => save(CapacityBuffers, before, after, noteUnlessOver(caches.buffers.noteWritten), signal),
    async patchNode({ metadata: { name, resourceVersion } }, body, signal) {
      const locked = { ...body, metadata: { ...body.metadata, resourceVersion } };
      const written = own(await kube.patch(Nodes, { name }, { type: "merge", body: locked }, {}, signal));
      noteUnlessOver(caches.noteNode)(written);
      return written;
    },
    isOwn: ({ metadata }) => ownVersions.has(metadata?.resourceVersion ?? ""),
    deleteNodeClaim: (claim, signal) => remove(NodeClaims, claim, caches.nodeClaims.noteWritten, signal),
    deleteNode: (node, signal) => remove(Nodes, node, caches.noteNode, signal),
  };
}

/** The answer to the removal of the last finalizer describes an object that is gone. */
function noteUnlessOver<T extends KubeObject>(note: (written: T) => void): (written: T) => void {
  return (written) => {
    const { deletionTimestamp, finalizers = [] } = written.metadata ?? {};
    if (deletionTimestamp === undefined || finalizers.length > 0) note(written);
  };
}
