/** What happens in a cluster, and when, as a watch tells it: pods that wait, run and go, and the NodeClaims they wait for. */
import { type KubeObject, NodeClaims, Nodes, type Pod, Pods } from "@joinery/api";
import { createCache, createRealClock, createSystemRandom, type KubeClient } from "@joinery/kube";

export interface PodLife {
  /** On the clock of `performance.now()`: when its creation was seen, and that kube-scheduler found no node. */
  readonly createdMs: number;
  unschedulableMs: number | undefined;
  /** When it was seen bound, and to which node. */
  boundMs: number | undefined;
  nodeName: string | undefined;
}

export interface Observer {
  readonly podCount: number;
  readonly runningCount: number;
  readonly readyNodeCount: number;
  readonly nodeClaimCount: number;
  /** Of pods and NodeClaims that came after `reset`. NodeClaims of kwok have the names of their nodes. */
  readonly pods: ReadonlyMap<string, PodLife>;
  readonly claimedMs: ReadonlyMap<string, number>;
  /** Forgets lives until now. */
  reset(): void;
  stop(): Promise<void>;
}

interface SeenPod extends KubeObject {
  readonly nodeName: string | undefined;
  readonly isRunning: boolean;
  readonly isUnschedulable: boolean;
}

interface SeenNode extends KubeObject {
  readonly isReady: boolean;
}

const PAGE_SIZE = 2000;

export async function observe(client: KubeClient): Promise<Observer> {
  const stop = new AbortController();
  const common = { clock: createRealClock(), random: createSystemRandom(), pageSize: PAGE_SIZE, encoding: "trimmed" } as const;
  const pods = createCache<Pod, SeenPod>(client, Pods, { ...common, trim: seenPod });
  const nodes = createCache<KubeObject, SeenNode>(client, Nodes, { ...common, trim: seenNode });
  const claims = createCache<KubeObject>(client, NodeClaims, { ...common, trim: ({ metadata }) => ({ metadata: identity(metadata) }) });
  let runningCount = 0;
  let readyNodeCount = 0;
  const lives = new Map<string, PodLife>();
  const claimedMs = new Map<string, number>();
  pods.onChange((change) => {
    runningCount += count(change.type !== "deleted" && change.object.isRunning);
    runningCount -= count(change.type !== "added" && (change.type === "updated" ? change.previous : change.object).isRunning);
    const uid = change.object.metadata?.uid ?? "";
    if (change.type === "added") {
      lives.set(uid, { createdMs: performance.now(), unschedulableMs: undefined, boundMs: undefined, nodeName: undefined });
    }
    const life = lives.get(uid);
    if (life === undefined || change.type === "deleted") return;
    if (change.object.isUnschedulable) life.unschedulableMs ??= performance.now();
    if (change.object.nodeName !== undefined) {
      life.boundMs ??= performance.now();
      life.nodeName = change.object.nodeName;
    }
  });
  nodes.onChange((change) => {
    readyNodeCount += count(change.type !== "deleted" && change.object.isReady);
    readyNodeCount -= count(change.type !== "added" && (change.type === "updated" ? change.previous : change.object).isReady);
  });
  claims.onChange((change) => {
    if (change.type === "added") claimedMs.set(change.object.metadata?.name ?? "", performance.now());
  });
  const running = [pods, nodes, claims].map((cache) => cache.start(stop.signal));
  await Promise.all([pods, nodes, claims].map((cache) => cache.whenSynced()));
  return {
    get podCount() {
      return pods.size;
    },
    get runningCount() {
      return runningCount;
    },
    get readyNodeCount() {
      return readyNodeCount;
    },
    get nodeClaimCount() {
      return claims.size;
    },
    pods: lives,
    claimedMs,
    reset() {
      lives.clear();
      claimedMs.clear();
    },
    async stop() {
      stop.abort();
      await Promise.all(running);
    },
  };
}

function seenPod({ metadata, spec, status }: Pod): SeenPod {
  const isUnschedulable = status?.conditions?.some(({ type, status: is }) => type === "PodScheduled" && is === "False") ?? false;
  return { metadata: identity(metadata), nodeName: spec.nodeName, isRunning: status?.phase === "Running", isUnschedulable };
}

function seenNode(node: KubeObject): SeenNode {
  const { status } = node as { readonly status?: { readonly conditions?: readonly { readonly type: string; readonly status: string }[] } };
  const isReady = status?.conditions?.some(({ type, status: is }) => type === "Ready" && is === "True") ?? false;
  return { metadata: identity(node.metadata), isReady };
}

function identity({ name, namespace, uid, resourceVersion }: NonNullable<KubeObject["metadata"]> = {}) {
  return { name, namespace, uid, resourceVersion };
}

function count(is: boolean): number {
  return is ? 1 : 0;
}
