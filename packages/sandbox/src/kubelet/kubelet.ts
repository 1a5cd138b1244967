/** One kubelet: registers its Node, becomes ready, renews its lease, runs what is bound to it, and dies with its machine. */
import { type CsiNode, CsiNodes, formatMicroTime, type Lease, Leases, type Node, Nodes, type Pod } from "@joinery/api";
import { isAlreadyExists, isNotFound, keyOf, type Random } from "@joinery/kube";
import type { ContainerLog } from "../api-server/verbs/container-log.ts";
import type { ClusterContext } from "../world/context.ts";
import type { EventSink } from "../world/event-sink.ts";
import { type NodeWish, nodeConditions, nodeObject, nodeStatus } from "./node-object.ts";
import type { PodRuntime } from "./pod-runtime.ts";
import { createPodWorker, type PodWorker } from "./pod-worker.ts";

export interface KubeletSpec extends NodeWish {
  /** From now until the Node appears. */
  readonly registerAfterMs: number;
  /** From registration until Ready=True: the network plugin starts. */
  readonly readyAfterMs: number;
  /** The Node exists already: a provider made it, and it has no machine. */
  readonly isAdopted?: boolean;
  /** All pods share the address of the machine (Fargate). */
  readonly sharesHostIp?: boolean;
  /** Attachments that the EBS CSI driver reports; no driver when absent. */
  readonly volumesMax?: number;
}

export interface KubeletOptions {
  readonly context: ClusterContext;
  readonly spec: KubeletSpec;
  readonly random: Random;
  readonly runtimeOf: (pod: Pod) => PodRuntime;
  readonly timing: KubeletTiming;
  readonly writesEvents: boolean;
  readonly nextPodIp: () => string;
  readonly hasVolumes: (pod: Pod, node: string) => boolean;
  /** Called once when it has died. */
  readonly onDeath: () => void;
}

export interface KubeletTiming {
  /** Image pull and sandbox of one pod. */
  readonly podStartMs: readonly [number, number];
  /**
   * Between two writes of the node's Lease. A live kubelet of this process is known to be alive without them, so that a quiet day
   * need not write 8,640 leases per node.
   */
  readonly leaseRenewMs: number;
}

export interface Kubelet {
  readonly nodeName: string;
  podChanged(pod: Pod): void;
  podGone(pod: Pod): void;
  /** Of the pod's first container, where it is a real process. */
  logOf(pod: Pod, previous: boolean): ContainerLog | undefined;
  /** Something that pods may wait for has changed. */
  recheck(): void;
  die(): void;
}

const LEASE_NAMESPACE = "kube-node-lease";
const LEASE_DURATION_SECONDS = 40;
const EBS_DRIVER = "ebs.csi.aws.com";
const Topology = { keys: ["topology.kubernetes.io/zone", "kubernetes.io/os", "kubernetes.io/arch"] };
const RETRY_MS = 2_000;

export function createKubelet(options: KubeletOptions): Kubelet {
  const { context, spec, random, timing, runtimeOf } = options;
  const { clock, views } = context;
  const client = context.client("kubelet");
  const events: EventSink = options.writesEvents ? context.events("kubelet") : { publish: () => {} };
  const workers = new Map<string, PodWorker>();
  const cancels = new Set<() => void>();
  const hostIp = spec.addresses.find(({ type }) => type === "InternalIP")?.address ?? "";
  let isDead = false;
  let hasRegistered = spec.isAdopted === true;

  function later(ms: number, what: string, action: () => Promise<void>): void {
    const cancel = clock.after(ms, () => {
      cancels.delete(cancel);
      if (isDead) {
        return;
      }
      action().catch((error: unknown) => {
        if (!isDead && !context.signal.aborted) {
          context.report("kubelet", `${what} of ${spec.name}`, error);
          later(RETRY_MS, what, action);
        }
      });
    });
    cancels.add(cancel);
  }

  async function register(): Promise<void> {
    try {
      views.nodes.wrote(await client.create(Nodes, nodeObject(spec, clock.wallMs())));
    } catch (error) {
      if (!isAlreadyExists(error)) {
        throw error;
      }
    }
    hasRegistered = true;
    await renewLease();
    await registerDriver();
    later(spec.readyAfterMs, "readiness", becomeReady);
    for (const pod of views.pods.by("node", spec.name)) {
      podChanged(pod);
    }
  }

  async function becomeReady(): Promise<void> {
    const node = views.nodes.find(spec.name);
    if (node === undefined) {
      return;
    }
    const conditions = nodeConditions(true, clock.wallMs(), node.status?.conditions);
    const status = spec.isAdopted
      ? { ...nodeStatus({ ...spec }, true, clock.wallMs()), ...node.status, conditions, phase: "Running" }
      : { conditions };
    views.nodes.wrote(await client.patch(Nodes, { name: spec.name }, { type: "merge", body: { status } }, { subresource: "status" }));
    events.publish(node, { reason: "NodeReady", message: `Node ${spec.name} status is now: NodeReady` });
    for (const pod of views.pods.by("node", spec.name)) {
      podChanged(pod);
    }
  }

  async function renewLease(): Promise<void> {
    const now = formatMicroTime(clock.wallMs());
    const key = { namespace: LEASE_NAMESPACE, name: spec.name };
    const body = { spec: { holderIdentity: spec.name, leaseDurationSeconds: LEASE_DURATION_SECONDS, renewTime: now } };
    try {
      await client.patch(Leases, key, { type: "merge", body });
    } catch (error) {
      if (!isNotFound(error)) {
        throw error;
      }
      const uid = views.nodes.find(spec.name)?.metadata?.uid;
      const ownerReferences = uid === undefined ? [] : [{ apiVersion: "v1", kind: "Node", name: spec.name, uid }];
      const lease: Lease = { apiVersion: "coordination.k8s.io/v1", kind: "Lease", metadata: { ...key, ownerReferences }, ...body };
      await client.create(Leases, lease);
    }
    later(timing.leaseRenewMs, "lease", renewLease);
  }

  async function registerDriver(): Promise<void> {
    const uid = views.nodes.find(spec.name)?.metadata?.uid;
    const ownerReferences = uid === undefined ? [] : [{ apiVersion: "v1", kind: "Node", name: spec.name, uid }];
    const nodeID = spec.providerId?.split("/").at(-1) ?? spec.name;
    const drivers =
      spec.volumesMax === undefined
        ? []
        : [{ name: EBS_DRIVER, nodeID, topologyKeys: Topology.keys, allocatable: { count: spec.volumesMax } }];
    const csiNode: CsiNode = {
      apiVersion: "storage.k8s.io/v1",
      kind: "CSINode",
      metadata: { name: spec.name, ownerReferences },
      spec: { drivers },
    };
    await client.create(CsiNodes, csiNode).catch((error: unknown) => {
      if (!isAlreadyExists(error)) {
        throw error;
      }
    });
  }

  function podChanged(pod: Pod): void {
    if (isDead || !hasRegistered) {
      return;
    }
    const key = pod.metadata?.uid ?? keyOf(pod);
    let worker = workers.get(key);
    if (worker === undefined) {
      const sharesHostIp = spec.sharesHostIp === true || pod.spec.hostNetwork === true;
      worker = createPodWorker(
        {
          context,
          client,
          events,
          random,
          runtime: runtimeOf(pod),
          node: nodeNow,
          hostIp,
          podIp: sharesHostIp ? hostIp : options.nextPodIp(),
          startLatencyMs: timing.podStartMs,
          hasVolumes: (its) => options.hasVolumes(its, spec.name),
          onGone: () => workers.delete(key),
        },
        pod,
      );
      workers.set(key, worker);
    }
    worker.changed(pod);
  }

  function nodeNow(): Node {
    return views.nodes.find(spec.name) ?? nodeObject(spec, clock.wallMs());
  }

  if (spec.isAdopted) {
    later(0, "lease", renewLease);
    later(spec.readyAfterMs, "readiness", becomeReady);
  } else {
    later(spec.registerAfterMs, "registration", register);
  }

  return {
    nodeName: spec.name,
    podChanged,
    podGone: (pod) => workers.get(pod.metadata?.uid ?? keyOf(pod))?.die(),
    logOf: (pod, previous) => workers.get(pod.metadata?.uid ?? keyOf(pod))?.log(previous),
    recheck() {
      for (const pod of views.pods.by("node", spec.name)) {
        podChanged(pod);
      }
    },
    die() {
      if (isDead) {
        return;
      }
      isDead = true;
      for (const cancel of cancels) {
        cancel();
      }
      cancels.clear();
      for (const worker of [...workers.values()]) {
        worker.die();
      }
      options.onDeath();
    },
  };
}
