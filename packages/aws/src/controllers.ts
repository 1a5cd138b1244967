/** What runs beside core's loops while this process leads: node classes, refreshing of types and prices, and old launch templates. */
import { type Ec2NodeClass, Ec2NodeClasses, type NodeClaim } from "@joinery/api";
import { type Cache, type Clock, createWorkQueue, isConflict, type KubeClient, type LiveCache } from "@joinery/kube";
import { type ReconcilerRooms, reconcileNodeClass } from "./node-class/node-class-reconciler.ts";

/** Works until the signal aborts. */
export interface ProviderController {
  readonly name: string;
  run(signal: AbortSignal): Promise<void>;
}

export interface ControllerRooms {
  /** Core's cache: node classes wait for the NodeClaims that use them. */
  readonly nodeClaims: Cache<NodeClaim>;
  readonly onError?: (controller: string, key: string, error: unknown) => void;
  /** An event for the node class (W-320.1). */
  readonly onWaiting?: ReconcilerRooms["onWaiting"];
}

export interface NodeClassControllerOptions extends Omit<ReconcilerRooms, "claimsOf" | "onWaiting" | "onWritten"> {
  readonly client: KubeClient;
  readonly nodeClasses: LiveCache<Ec2NodeClass>;
}

const WORKERS = 10;

/** W-200: on changes of node classes, and of a node class's NodeClaims when one is gone. */
export function createNodeClassController(
  options: NodeClassControllerOptions,
  { nodeClaims, onError, onWaiting }: ControllerRooms,
): ProviderController {
  const { clock, nodeClasses } = options;
  const claimsOf = (name: string) => [...nodeClaims.values()].filter((claim) => isOfClass(claim, name));
  const rooms: ReconcilerRooms = { ...options, claimsOf, onWaiting, onWritten: (written) => nodeClasses.noteWritten(written) };
  return {
    name: "nodeclass",
    async run(signal) {
      const queue = createWorkQueue({
        clock,
        concurrency: WORKERS,
        onError: (key, error) => onError?.("nodeclass", key, error),
        async work(key, workSignal) {
          const nodeClass = nodeClasses.find(key);
          if (nodeClass === undefined) return undefined;
          try {
            const step = await reconcileNodeClass(nodeClass, rooms, workSignal);
            return step.kind === "again" ? { afterMs: step.afterMs } : undefined;
          } catch (error) {
            if (isConflict(error)) return { retry: true };
            throw error;
          }
        },
      });
      const stops = [
        nodeClasses.onChange(({ object }) => queue.add(object.metadata?.name ?? "")),
        nodeClaims.onChange(({ type, object }) => {
          if (type === "deleted") queue.add(object.spec.nodeClassRef.name);
        }),
      ];
      for (const nodeClass of nodeClasses.values()) queue.add(nodeClass.metadata?.name ?? "");
      try {
        await Promise.all([nodeClasses.start(signal), nodeClaims.whenSynced(signal).then(() => queue.run(signal))]);
      } catch (error) {
        if (!signal.aborted) throw error;
      } finally {
        for (const stop of stops) stop();
      }
    },
  };
}

export interface RefreshOptions {
  readonly name: string;
  readonly clock: Clock;
  readonly everyMs: number;
  readonly refresh: (signal: AbortSignal) => Promise<void>;
  readonly onError?: ControllerRooms["onError"];
}

/** At once and then at intervals; after a failure sooner, with back-off. I-104, I-904. */
export function createRefreshController({ name, clock, everyMs, refresh, onError }: RefreshOptions): ProviderController {
  return {
    name,
    async run(signal) {
      const queue = createWorkQueue({
        clock,
        baseMs: 1_000,
        maxMs: 1_000_000,
        onError: (key, error) => onError?.(name, key, error),
        async work(_, workSignal) {
          await refresh(workSignal);
          return { afterMs: everyMs };
        },
      });
      queue.add("");
      await queue.run(signal);
    },
  };
}

function isOfClass({ spec }: NodeClaim, name: string): boolean {
  const { group, kind, name: referred } = spec.nodeClassRef;
  return referred === name && group === Ec2NodeClasses.group && kind === Ec2NodeClasses.kind;
}
