/** What pods are, and how long they take to be bound and to be ready. Rules O-199…O-205, V-104. */
import { ARCH_LABEL, CAPACITY_TYPE_LABEL, INSTANCE_TYPE_LABEL, NODE_POOL_LABEL, ZONE_LABEL } from "@joinery/api";
import type { Change, Clock } from "@joinery/kube";
import type { Caches } from "../state/caches.ts";
import { isTerminal, type PodRecord, podKey } from "../state/pod-record.ts";
import type { PodTimes } from "../state/pod-times.ts";
import { DURATION_BUCKETS } from "./buckets.ts";
import { seconds } from "./core-metrics.ts";
import { Histogram, type Registry, registerLiveGauge, type Sample, withoutSeries } from "./prometheus.ts";
import { createSummary } from "./summary.ts";

/** Registers the series; what is given back begins to follow the pods, and gives what ends that. */
export function createPodMetrics(registry: Registry, { pods, nodes }: Caches, podTimes: PodTimes, clock: Clock): () => () => void {
  const registers = [registry];
  const startup = createSummary(registry, clock, {
    name: "karpenter_pods_startup_duration_seconds",
    help: "From the creation of pods until they are ready.",
    labelNames: [],
  });
  const bound = new Histogram<"dynamic_resources">({
    name: "karpenter_pods_bound_duration_seconds",
    help: "From the creation of pods until they are bound.",
    labelNames: ["dynamic_resources"],
    buckets: DURATION_BUCKETS,
    registers,
  });
  // O-204: the same, counted from when a place was found for them.
  const provisioningBound = new Histogram<"dynamic_resources">({
    name: "karpenter_pods_provisioning_bound_duration_seconds",
    help: "From when a place was found for pods until they are bound.",
    labelNames: ["dynamic_resources"],
    buckets: DURATION_BUCKETS,
    registers,
  });
  const provisioningStartup = withoutSeries(
    new Histogram({
      name: "karpenter_pods_provisioning_startup_duration_seconds",
      help: "From when a place was found for pods until they are ready.",
      buckets: DURATION_BUCKETS,
      registers,
    }),
  );
  /** UIDs of pods that were seen pending and are not ready yet, by key. */
  const starting = new Map<string, string>();
  const pending = new Set<string>();
  let isFollowing = false;

  registerLiveGauge(registry, "karpenter_pods_state", "Pods and where they are.", function* () {
    for (const pod of isFollowing ? pods.values() : [])
      yield { labels: stateLabels(pod, nodes.find(pod.nodeName)?.metadata.labels), value: 1 };
  });
  registerLiveGauge(registry, "karpenter_pods_unstarted_time_seconds", "Age of pods that are not ready.", function* () {
    for (const key of starting.keys()) yield* age(key, {}, () => true);
  });
  registerLiveGauge(registry, "karpenter_pods_unbound_time_seconds", "Age of pods that are not bound.", function* () {
    for (const key of pending) yield* age(key, dynamic(pods.find(key)), ({ scheduledAtMs }) => scheduledAtMs === undefined);
  });

  registerLiveGauge(registry, "karpenter_pods_provisioning_unstarted_time_seconds", "Since when unready pods have a place.", function* () {
    for (const key of starting.keys()) yield* age(key, {}, () => true, podTimes.placedAtMs);
  });
  registerLiveGauge(registry, "karpenter_pods_provisioning_unbound_time_seconds", "Since when unbound pods have a place.", function* () {
    for (const key of pending) {
      yield* age(key, dynamic(pods.find(key)), ({ scheduledAtMs }) => scheduledAtMs === undefined, podTimes.placedAtMs);
    }
  });
  registerLiveGauge(
    registry,
    "karpenter_pods_provisioning_scheduling_undecided_time_seconds",
    "How long pods wait for the first decision about them.",
    function* () {
      for (const [key, waitedMs] of podTimes.undecided()) {
        const [namespace, name] = key.split("/");
        yield { labels: { name: name ?? "", namespace: namespace ?? "" }, value: seconds(waitedMs) };
      }
    },
  );

  function* age(
    key: string,
    extra: Record<string, string>,
    isWanted: (pod: PodRecord) => boolean,
    sinceMs: (pod: PodRecord) => number | undefined = ({ createdAtMs }) => createdAtMs,
  ): Iterable<Sample> {
    const pod = pods.find(key);
    const fromMs = pod && sinceMs(pod);
    if (pod === undefined || fromMs === undefined || !isWanted(pod)) return;
    const { name, namespace } = pod.metadata;
    yield { labels: { name, namespace, ...extra }, value: seconds(clock.wallMs() - fromMs) };
  }

  /** Conditions have whole seconds: what took less took none. */
  const sincePlaced = (pod: PodRecord, atMs: number): number | undefined => {
    const placedAtMs = podTimes.placedAtMs(pod);
    return placedAtMs === undefined ? undefined : seconds(Math.max(0, atMs - placedAtMs));
  };

  function see({ type, object: pod }: Change<PodRecord>): void {
    const key = podKey(pod);
    if (type === "deleted") {
      starting.delete(key);
      pending.delete(key);
      podTimes.forget(pod);
      return;
    }
    if (pod.phase === "Pending") {
      pending.add(key);
      starting.set(key, pod.metadata.uid);
    } else if (pending.delete(key) && pod.scheduledAtMs !== undefined) {
      bound.observe(dynamic(pod), seconds(pod.scheduledAtMs - pod.createdAtMs));
      const tookSeconds = sincePlaced(pod, pod.scheduledAtMs);
      if (tookSeconds !== undefined) provisioningBound.observe(dynamic(pod), tookSeconds);
    }
    // A short job may never have been seen to run; it was bound all the same.
    if (isTerminal(pod)) {
      starting.delete(key);
      podTimes.forget(pod);
    } else if (pod.readyAtMs !== undefined && starting.get(key) === pod.metadata.uid) {
      starting.delete(key);
      startup.observe({}, seconds(pod.readyAtMs - pod.createdAtMs));
      const tookSeconds = sincePlaced(pod, pod.readyAtMs);
      if (tookSeconds !== undefined) provisioningStartup.observe(tookSeconds);
      podTimes.forget(pod);
    }
  }

  return () => {
    isFollowing = true;
    const unsubscribe = pods.onChange(see);
    for (const object of pods.values()) see({ type: "added", object });
    return () => {
      isFollowing = false;
      unsubscribe();
      starting.clear();
      pending.clear();
    };
  };
}

/** V-104. */
function dynamic(pod: PodRecord | undefined): { dynamic_resources: string } {
  return { dynamic_resources: String(pod?.shape.hasResourceClaims ?? false) };
}

/** O-199. */
function stateLabels(pod: PodRecord, node: Readonly<Record<string, string>> = {}): Record<string, string> {
  const { name, namespace } = pod.metadata;
  return {
    name,
    namespace,
    owner: ownerLabel(pod),
    node: pod.nodeName,
    scheduled: String(pod.scheduledAtMs !== undefined),
    nodepool: node[NODE_POOL_LABEL] ?? "",
    zone: node[ZONE_LABEL] ?? "",
    arch: node[ARCH_LABEL] ?? "",
    capacity_type: node[CAPACITY_TYPE_LABEL] ?? "",
    instance_type: node[INSTANCE_TYPE_LABEL] ?? "",
    phase: pod.phase,
    ready: String(pod.readyAtMs !== undefined),
    managed: String(node[NODE_POOL_LABEL] !== undefined),
  };
}

function ownerLabel({ ownerPath, metadata: { namespace } }: PodRecord): string {
  if (ownerPath === "") return "";
  const parts = ownerPath.split("/");
  const [name, kind] = [parts.at(-1)!, parts.at(-2)!];
  return `/apis/${parts.slice(0, -2).join("/")}/namespaces/${namespace}/${kind.toLowerCase()}s/${name}`;
}
