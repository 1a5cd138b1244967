/** The Node that a kubelet registers, and its conditions. Pure. */
import { formatResources, formatTime, type Node, type NodeCondition, type Resources, type ResourceTexts, type Taint } from "@joinery/api";

export interface NodeWish {
  readonly name: string;
  readonly providerId?: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly taints: readonly Taint[];
  readonly capacity: Resources;
  readonly allocatable: Resources;
  readonly addresses: readonly { readonly type: string; readonly address: string }[];
  readonly info?: Readonly<Record<string, string>>;
}

const NETWORK_MISSING =
  "container runtime network not ready: NetworkReady=false reason:NetworkPluginNotReady message:Network plugin returns error: cni plugin not initialized";

/** What the API server admits together with an unready Node, before any controller could add it. */
const NOT_READY_TAINT: Taint = { key: "node.kubernetes.io/not-ready", effect: "NoSchedule" };

export function nodeObject(wish: NodeWish, nowMs: number): Node {
  return {
    apiVersion: "v1",
    kind: "Node",
    metadata: {
      name: wish.name,
      labels: wish.labels,
      annotations: { "volumes.kubernetes.io/controller-managed-attach-detach": "true", ...wish.annotations },
    },
    spec: {
      ...(wish.providerId === undefined ? {} : { providerID: wish.providerId }),
      taints: [...wish.taints, NOT_READY_TAINT],
    },
    status: nodeStatus(wish, false, nowMs),
  };
}

export function nodeStatus(wish: NodeWish, isReady: boolean, nowMs: number): NonNullable<Node["status"]> {
  const architecture = wish.labels["kubernetes.io/arch"] ?? "amd64";
  return {
    capacity: texts(wish.capacity),
    allocatable: texts(wish.allocatable),
    addresses: wish.addresses,
    conditions: nodeConditions(isReady, nowMs),
    nodeInfo: {
      architecture,
      operatingSystem: wish.labels["kubernetes.io/os"] ?? "linux",
      kernelVersion: `6.12.55-74.119.amzn2023.${architecture === "arm64" ? "aarch64" : "x86_64"}`,
      osImage: "Amazon Linux 2023.9.20251117",
      containerRuntimeVersion: "containerd://2.1.4",
      kubeletVersion: "v1.37.0",
      kubeProxyVersion: "",
      machineID: "",
      systemUUID: "",
      bootID: "",
      ...wish.info,
    },
  };
}

/** `previous` keeps its transition times where the status stays. */
export function nodeConditions(isReady: boolean, nowMs: number, previous: readonly NodeCondition[] = []): readonly NodeCondition[] {
  const healthy = (type: string, reason: string, message: string): NodeCondition => condition(type, "False", reason, message);
  const condition = (type: string, status: "True" | "False", reason: string, message: string): NodeCondition => {
    const old = previous.find((one) => one.type === type);
    const lastTransitionTime = old?.status === status && old.lastTransitionTime !== undefined ? old.lastTransitionTime : formatTime(nowMs);
    return { type, status, lastHeartbeatTime: formatTime(nowMs), lastTransitionTime, reason, message };
  };
  const own = [
    healthy("MemoryPressure", "KubeletHasSufficientMemory", "kubelet has sufficient memory available"),
    healthy("DiskPressure", "KubeletHasNoDiskPressure", "kubelet has no disk pressure"),
    healthy("PIDPressure", "KubeletHasSufficientPID", "kubelet has sufficient PID available"),
    isReady
      ? condition("Ready", "True", "KubeletReady", "kubelet is posting ready status")
      : condition("Ready", "False", "KubeletNotReady", NETWORK_MISSING),
  ];
  return [...previous.filter(({ type }) => !own.some((one) => one.type === type)), ...own];
}

function texts(resources: Resources): ResourceTexts {
  return formatResources(resources);
}
