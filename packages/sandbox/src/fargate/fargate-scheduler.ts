/**
 * The scheduler of EKS Fargate: a micro-VM with a node of its own for each pod, and the node's end with its pod. Rules F-33…F-48. It
 * ignores affinity and spread (F-40), and does not try a refused pod again (F-31).
 */
import { findCondition, Nodes, type Pod, Pods } from "@joinery/api";
import { isNotFound, keyOf, parseKey, type Random, randomHex } from "@joinery/kube";
import { withCondition } from "../controllers/condition-list.ts";
import { isEnded } from "../controllers/pod-facts.ts";
import type { Kubelets } from "../kubelet/kubelets.ts";
import { between } from "../kubelet/pod-runtime.ts";
import { matchesNodeAffinity } from "../scheduler/node-match.ts";
import type { ClusterContext } from "../world/context.ts";
import { startWorkLoop } from "../world/work-loop.ts";
import { FARGATE_SCHEDULER } from "./admission.ts";
import type { FargateProfile, FargateProfiles, FargateSubnet } from "./profiles.ts";
import { FARGATE_PROFILE_LABEL } from "./selectors.ts";
import { capacityText, type FargateSize, fargateSize } from "./size.ts";
import { unsupportedReason } from "./support.ts";

/** F-39: a pod that no Fargate node can take, such as each pod of a DaemonSet (F-83), which is bound to another node by name. */
const NO_SUCH_NODE = "MATCH_NODE_SELECTOR_FAILED";
const COMPUTE_TYPE_LABEL = "eks.amazonaws.com/compute-type";

export interface FargateOptions {
  readonly kubelets: Kubelets;
  readonly profiles: FargateProfiles;
  readonly region: string;
  readonly findSubnet: (id: string) => FargateSubnet | undefined;
  /** From the pod's creation to its node. */
  readonly startMs: readonly [number, number];
  /** Image pull, on a cold machine each time. */
  readonly readyMs: readonly [number, number];
}

/** F-47: nodes report the host's shape, not the size that is paid for. */
const HOST_CAPACITY = { cpu: 2_000, memory: 15_649_708 * 1024, "ephemeral-storage": 30_832_548 * 1024, pods: 1 };

export function startFargate(context: ClusterContext, options: FargateOptions): void {
  const { views, clock } = context;
  const { kubelets, profiles, region } = options;
  const client = context.client(FARGATE_SCHEDULER);
  const events = context.events(FARGATE_SCHEDULER);
  /** Pods whose micro-VM is being made, by UID. */
  const starting = new Set<string>();

  async function reconcile(key: string): Promise<number | undefined> {
    const pod = views.pods.find(key);
    const uid = pod?.metadata?.uid ?? "";
    if (pod === undefined || !isWaiting(pod) || starting.has(uid)) {
      return undefined;
    }
    const profile = profiles.find(pod.metadata?.labels?.[FARGATE_PROFILE_LABEL] ?? "");
    if (profile?.status !== "ACTIVE") {
      await refuse(pod, "Misconfigured Fargate Profile: the profile of the pod is not active");
      return undefined;
    }
    const zones = zonesOf(profile).filter((zone) => matchesNodeAffinity(pod, { name: "", labels: placeLabels(zone) }));
    if (zones.length === 0) {
      await refuse(pod, "Pod not supported on Fargate: its node selector or node affinity matches no Fargate node", NO_SUCH_NODE);
      return undefined;
    }
    const reason = unsupportedReason(pod);
    const sizing = fargateSize(pod);
    if (reason !== undefined || sizing.kind === "too-big") {
      await refuse(
        pod,
        `Pod not supported on Fargate: ${reason ?? "requested resources exceed 16 vCPU, 120 GB of memory or 175 GiB of storage"}`,
      );
      return undefined;
    }
    const random = context.chance(`fargate/${uid}`);
    starting.add(uid);
    await annotate(pod, sizing.size);
    launch(pod, zones[random.below(zones.length)] ?? `${region}a`, random);
    return undefined;
  }

  function isWaiting(pod: Pod): boolean {
    return (
      pod.spec.schedulerName === FARGATE_SCHEDULER &&
      pod.spec.nodeName === undefined &&
      !views.pods.isLeaving(pod) &&
      !isEnded(pod) &&
      findCondition(pod, "PodScheduled")?.status !== "False"
    );
  }

  /** F-36, F-39: the reason is not `Unschedulable`, so no autoscaler acts on it. */
  async function refuse(pod: Pod, message: string, reason = "UNSUPPORTED_POD"): Promise<void> {
    const wish = { type: "PodScheduled", status: "False", reason, message } as const;
    const conditions = withCondition(pod.status?.conditions, wish, clock.wallMs());
    views.pods.wrote(
      await client.patch(Pods, parseKey(keyOf(pod)), { type: "merge", body: { status: { conditions } } }, { subresource: "status" }),
    );
    events.publish(pod, { type: "Warning", reason: "FailedScheduling", message });
  }

  async function annotate(pod: Pod, size: FargateSize): Promise<void> {
    const annotations = { CapacityProvisioned: capacityText(size), Logging: "LoggingDisabled: LOGGING_CONFIGMAP_NOT_FOUND" };
    views.pods.wrote(
      await client.patch(Pods, parseKey(keyOf(pod)), { type: "merge", body: { metadata: { uid: pod.metadata?.uid, annotations } } }),
    );
  }

  /** One per subnet of the profile; AWS chooses among them (F-27). */
  function zonesOf({ subnetIds }: FargateProfile): readonly string[] {
    const zones = subnetIds.flatMap((id) => options.findSubnet(id)?.zone ?? []);
    return zones.length > 0 ? zones : [`${region}a`];
  }

  /** F-45, but for the hostname. */
  function placeLabels(zone: string): Readonly<Record<string, string>> {
    return {
      [COMPUTE_TYPE_LABEL]: "fargate",
      "beta.kubernetes.io/arch": "amd64",
      "beta.kubernetes.io/os": "linux",
      "failure-domain.beta.kubernetes.io/region": region,
      "failure-domain.beta.kubernetes.io/zone": zone,
      "kubernetes.io/arch": "amd64",
      "kubernetes.io/os": "linux",
      "topology.kubernetes.io/region": region,
      "topology.kubernetes.io/zone": zone,
    };
  }

  function launch(pod: Pod, zone: string, random: Random): void {
    const address = freshAddress(random);
    const hostname = `ip-${address.replaceAll(".", "-")}.${region === "us-east-1" ? "ec2.internal" : `${region}.compute.internal`}`;
    const nodeName = `fargate-ip-${address.replaceAll(".", "-")}.${region}.compute.internal`;
    kubelets.start({
      name: nodeName,
      providerId: `aws:///${zone}/${randomHex(random, 10)}-${randomHex(random, 32)}/${nodeName}`,
      labels: { ...placeLabels(zone), "kubernetes.io/hostname": hostname },
      taints: [{ key: COMPUTE_TYPE_LABEL, value: "fargate", effect: "NoSchedule" }],
      capacity: HOST_CAPACITY,
      allocatable: { ...HOST_CAPACITY, memory: HOST_CAPACITY.memory - 100 * 1024 * 1024, "ephemeral-storage": 28_415_508_217 },
      addresses: [
        { type: "InternalIP", address },
        { type: "InternalDNS", address: hostname },
        { type: "Hostname", address: hostname },
      ],
      info: { osImage: "Amazon Linux 2", containerRuntimeVersion: "containerd://2.1.4", kernelVersion: "5.10.245-241.978.amzn2.x86_64" },
      registerAfterMs: between(random, options.startMs),
      readyAfterMs: between(random, options.readyMs),
      sharesHostIp: true,
    });
    pending.set(nodeName, keyOf(pod));
  }

  /** Node → key of the pod it was made for. */
  const pending = new Map<string, string>();
  const taken = new Set<string>();

  function freshAddress(random: Random): string {
    for (;;) {
      const address = `10.0.${random.below(4) * 16 + 128 + random.below(16)}.${4 + random.below(250)}`;
      if (!taken.has(address)) {
        taken.add(address);
        return address;
      }
    }
  }

  async function bind(nodeName: string): Promise<void> {
    const key = pending.get(nodeName) ?? "";
    const pod = views.pods.find(key);
    if (pod === undefined || pod.spec.nodeName !== undefined) {
      return;
    }
    const { name = "", namespace = "", uid } = pod.metadata ?? {};
    const metadata = { name, namespace, uid };
    const binding = { apiVersion: "v1", kind: "Binding", metadata, target: { apiVersion: "v1", kind: "Node", name: nodeName } };
    await client.createSubresource(Pods, { name, namespace }, "binding", binding);
    events.publish(pod, { reason: "Scheduled", message: `Successfully assigned ${namespace}/${name} to ${nodeName}` });
  }

  /** F-44, F-86: a completed pod keeps its machine until it is deleted. */
  async function release(nodeName: string): Promise<void> {
    pending.delete(nodeName);
    taken.delete(addressOf(nodeName));
    kubelets.kill(nodeName);
    await client.delete(Nodes, { name: nodeName }).catch((error: unknown) => {
      if (!isNotFound(error)) {
        throw error;
      }
    });
  }

  const pods = startWorkLoop({ name: FARGATE_SCHEDULER, context, reconcile });
  const nodes = startWorkLoop({
    name: "fargate-nodes",
    context,
    async reconcile(nodeName) {
      const isWanted = views.pods.find(pending.get(nodeName) ?? "") !== undefined;
      const node = views.nodes.find(nodeName);
      if (!isWanted) {
        await release(nodeName);
      } else if (node !== undefined && findCondition(node, "Ready")?.status === "True") {
        await bind(nodeName);
      }
      return undefined;
    },
  });
  views.nodes.onChange((change) => {
    const name = change.object.metadata?.name ?? "";
    if (change.type === "deleted") {
      kubelets.kill(name);
    } else if (pending.has(name)) {
      nodes.add(name);
    }
  });
  views.pods.onChange((change) => {
    const { object } = change;
    if (object.spec.schedulerName !== FARGATE_SCHEDULER) {
      return;
    }
    if (change.type !== "deleted") {
      pods.add(keyOf(object));
      return;
    }
    starting.delete(object.metadata?.uid ?? "");
    for (const [nodeName, key] of pending) {
      if (key === keyOf(object)) {
        nodes.add(nodeName);
      }
    }
  });
}

/** `fargate-ip-10-0-1-2.…` → `10.0.1.2`. */
function addressOf(nodeName: string): string {
  return (/^fargate-ip-([\d-]+)\./.exec(nodeName)?.[1] ?? "").replaceAll("-", ".");
}
