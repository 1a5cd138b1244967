/** All kubelets of the cluster: hands each the pods of its node, and knows which of them are alive. */
import type { Node, Pod } from "@joinery/api";
import { parseResources } from "@joinery/api";
import type { Random } from "@joinery/kube";
import type { ClusterContext } from "../world/context.ts";
import { createKubelet, type Kubelet, type KubeletSpec, type KubeletTiming } from "./kubelet.ts";
import { between, createSimulatedRuntime, type PodRuntime } from "./pod-runtime.ts";

export interface KubeletsOptions {
  readonly timing?: Partial<KubeletTiming>;
  /** A runtime for the pods that it wants to run itself; undefined leaves a pod to the simulation. */
  readonly podRuntime?: (pod: Pod) => PodRuntime | undefined;
  /** Whether kubelets write Events of containers; they are a third of the writes that a starting pod causes. Default true. */
  readonly writesEvents?: boolean;
  /** How long Job pods without annotation run. */
  readonly jobRunMs?: readonly [number, number];
  /** From the creation of a node without machine until it is ready. */
  readonly fakeReadyMs?: readonly [number, number];
}

export interface Kubelets {
  start(spec: KubeletSpec): Kubelet;
  find(nodeName: string): Kubelet | undefined;
  /** All machines are switched off: what their pods run is ended. */
  stop(): void;
  /** The machine under the node is gone. */
  kill(nodeName: string): void;
  /** `beating` while its kubelet lives; else when it last did; undefined for a node that never had one. */
  heartbeatOf(nodeName: string): "beating" | number | undefined;
  onDeath(listener: (nodeName: string) => void): void;
  /** The newest of the addresses that pods have; each is given once. */
  nextPodIp(): string;
}

/** Nodes with this annotation have no machine: nobody but this room acts for them, as KWOK's controller does. */
const FAKE_NODE_ANNOTATION = "kwok.x-k8s.io/node";

const DEFAULT_TIMING: KubeletTiming = { podStartMs: [800, 4_000], leaseRenewMs: 3_600_000 };
const FAKE_READY_MS: readonly [number, number] = [500, 2_000];

export function createKubelets(context: ClusterContext, options: KubeletsOptions = {}): Kubelets {
  const { views, clock, chance } = context;
  const living = new Map<string, Kubelet>();
  const lastBeats = new Map<string, number>();
  const deathListeners: ((nodeName: string) => void)[] = [];
  const simulated = createSimulatedRuntime({ clock, chance, jobRunMs: options.jobRunMs });
  const timing: KubeletTiming = { ...DEFAULT_TIMING, ...options.timing };
  let podCount = 0;

  function nextPodIp(): string {
    podCount += 1;
    return `10.${64 + Math.floor(podCount / 65_000)}.${Math.floor((podCount % 65_000) / 250)}.${(podCount % 250) + 2}`;
  }

  function start(spec: KubeletSpec): Kubelet {
    living.get(spec.name)?.die();
    const kubelet = createKubelet({
      context,
      spec,
      random: chance(`kubelet/${spec.name}`),
      writesEvents: options.writesEvents ?? true,
      runtimeOf: (pod) => options.podRuntime?.(pod) ?? simulated,
      timing,
      nextPodIp,
      hasVolumes: volumesAttached,
      onDeath() {
        living.delete(spec.name);
        lastBeats.set(spec.name, clock.wallMs());
        for (const listener of deathListeners) {
          listener(spec.name);
        }
      },
    });
    living.set(spec.name, kubelet);
    return kubelet;
  }

  /** All volumes of its claims are attached here, as the attachments say. */
  function volumesAttached(pod: Pod, nodeName: string): boolean {
    const claims = (pod.spec.volumes ?? []).flatMap(({ name, persistentVolumeClaim, ephemeral }) =>
      persistentVolumeClaim !== undefined
        ? [persistentVolumeClaim.claimName]
        : ephemeral !== undefined
          ? [`${pod.metadata?.name}-${name}`]
          : [],
    );
    if (claims.length === 0) {
      return true;
    }
    const attached = new Set(
      views.attachments
        .by("node", nodeName)
        .flatMap(({ spec, status }) => (status?.attached === true ? [spec.source.persistentVolumeName] : [])),
    );
    return claims.every((claim) => {
      const volumeName = views.claims.find(`${pod.metadata?.namespace}/${claim}`)?.spec.volumeName;
      const needsAttachment = views.volumes.find(volumeName ?? "")?.spec.csi !== undefined;
      return volumeName !== undefined && (!needsAttachment || attached.has(volumeName));
    });
  }

  views.pods.onChange((change) => {
    const pod = change.object;
    const kubelet = pod.spec.nodeName === undefined ? undefined : living.get(pod.spec.nodeName);
    if (change.type === "deleted") {
      kubelet?.podGone(pod);
    } else {
      kubelet?.podChanged(pod);
    }
  });
  views.attachments.onChange(({ object }) => living.get(object.spec.nodeName)?.recheck());
  views.nodes.onChange((change) => {
    const node = change.object;
    const name = node.metadata?.name ?? "";
    if (node.metadata?.annotations?.[FAKE_NODE_ANNOTATION] !== "fake") {
      return;
    }
    if (change.type === "deleted") {
      living.get(name)?.die();
    } else if (!living.has(name)) {
      start(adoptionOf(node, chance(`fake/${name}`), options.fakeReadyMs ?? FAKE_READY_MS));
    }
  });

  return {
    start,
    find: (nodeName) => living.get(nodeName),
    stop() {
      for (const kubelet of [...living.values()]) {
        kubelet.die();
      }
    },
    kill: (nodeName) => living.get(nodeName)?.die(),
    heartbeatOf: (nodeName) => (living.has(nodeName) ? "beating" : lastBeats.get(nodeName)),
    onDeath: (listener) => void deathListeners.push(listener),
    nextPodIp,
  };
}

/** A kubelet's view of a node that a provider created by itself. */
function adoptionOf(node: Node, random: Random, readyMs: readonly [number, number]): KubeletSpec {
  return {
    name: node.metadata?.name ?? "",
    providerId: node.spec?.providerID,
    labels: node.metadata?.labels ?? {},
    taints: node.spec?.taints ?? [],
    capacity: parseResources(node.status?.capacity),
    allocatable: parseResources(node.status?.allocatable ?? node.status?.capacity),
    addresses: withInternalAddress(node.status?.addresses ?? [], random),
    isAdopted: true,
    registerAfterMs: 0,
    readyAfterMs: between(random, readyMs),
  };
}

/** Pods want the address of their machine, also where there is none. */
function withInternalAddress(addresses: KubeletSpec["addresses"], random: Random): KubeletSpec["addresses"] {
  return addresses.some(({ type }) => type === "InternalIP")
    ? addresses
    : [...addresses, { type: "InternalIP", address: `10.200.${random.below(250)}.${2 + random.below(250)}` }];
}
