/** Instances of EC2 become nodes: a booted one gets a kubelet, and the kubelet dies with it. */
import { instanceIdOf } from "@joinery/aws";
import { type Random, randomUuid } from "@joinery/kube";
import type { CloudInstance, NodeCloud } from "../controllers/cloud-node.ts";
import type { InstanceListeners, Machine } from "../ec2/index.ts";
import type { Kubelets } from "../kubelet/kubelets.ts";
import { between } from "../kubelet/pod-runtime.ts";
import type { ClusterContext } from "./context.ts";

export interface MachineTiming {
  /** From the booted instance to its Node: cloud-init, nodeadm and the kubelet's start. */
  readonly registerMs: readonly [number, number];
  /** From the Node to Ready: the network plugin's start. */
  readonly readyMs: readonly [number, number];
}

export const MACHINE_TIMING: MachineTiming = { registerMs: [8_000, 16_000], readyMs: [4_000, 9_000] };

const UNINITIALIZED = { key: "node.cloudprovider.kubernetes.io/uninitialized", value: "true", effect: "NoSchedule" } as const;

export interface Machines extends NodeCloud {
  /** The nodes' machines that live now, by instance ID. */
  readonly living: ReadonlyMap<string, Machine>;
}

export interface MachinesOptions {
  readonly instances: InstanceListeners;
  readonly kubelets: Kubelets;
  readonly timing: MachineTiming;
}

/** Connects the instances to the kubelets, and answers for the cloud controller. */
export function startMachines(context: ClusterContext, { instances, kubelets, timing }: MachinesOptions): Machines {
  const living = new Map<string, Machine>();

  instances.onInstanceRunning((machine) => {
    living.set(machine.instanceId, machine);
    const random = context.chance(`machine/${machine.instanceId}`);
    kubelets.start({
      ...machine,
      // What the cloud knows arrives through the cloud controller.
      labels: kubeletLabels(machine),
      taints: [...machine.taints, UNINITIALIZED],
      info: identityOf(random),
      registerAfterMs: between(random, timing.registerMs),
      readyAfterMs: between(random, timing.readyMs),
    });
  });
  const end = (machine: Machine): void => {
    living.delete(machine.instanceId);
    kubelets.kill(machine.name);
  };
  instances.onInstanceStopping(end);
  instances.onInstanceTerminated(end);

  return {
    living,
    isMine: (node) => instanceIdOf(node.spec?.providerID ?? "") !== undefined,
    instanceOf(node) {
      const machine = living.get(instanceIdOf(node.spec?.providerID ?? "") ?? "");
      return machine === undefined ? undefined : cloudInstance(machine);
    },
  };
}

/** On EC2 the system's UUID begins with `ec2`. */
function identityOf(random: Random): Readonly<Record<string, string>> {
  const systemUUID = `ec2${randomUuid(random).slice(3)}`;
  return { systemUUID, machineID: systemUUID.replaceAll("-", ""), bootID: randomUuid(random) };
}

const CLOUD_LABELS: ReadonlySet<string> = new Set([
  "node.kubernetes.io/instance-type",
  "topology.kubernetes.io/zone",
  "topology.kubernetes.io/region",
  "topology.k8s.aws/zone-id",
]);

function kubeletLabels({ labels }: Machine): Record<string, string> {
  const { "kubernetes.io/arch": arch = "amd64", "kubernetes.io/os": os = "linux" } = labels;
  const own = Object.fromEntries(Object.entries(labels).filter(([key]) => !CLOUD_LABELS.has(key)));
  return { ...own, "beta.kubernetes.io/arch": arch, "beta.kubernetes.io/os": os };
}

function cloudInstance({ providerId, instanceType, zone, labels }: Machine): CloudInstance {
  return { providerId, instanceType, zone, region: labels["topology.kubernetes.io/region"], zoneId: labels["topology.k8s.aws/zone-id"] };
}
