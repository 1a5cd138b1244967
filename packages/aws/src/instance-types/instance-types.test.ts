/** Labels, capacity and overhead of the fixture types of appendix C, from the built-in catalogue. Scenarios 1…19 and 26…32 of the chapter. */
import { beforeAll, describe, expect, test } from "vitest";
import { type Ec2Catalogue, loadEc2Catalogue } from "../catalogue/ec2-catalogue.ts";
import type { InstanceTypeInfo } from "../ec2/instance-type-info.ts";
import type { MachineSettings } from "./capacity.ts";
import { familyNamed } from "./family.ts";
import { resolveType } from "./instance-types.ts";
import { ItemPool } from "./item-pool.ts";
import { readKubelet } from "./kubelet-settings.ts";
import { reservedCpu } from "./overhead.ts";

const MIB = 2 ** 20;
const GIB = 2 ** 30;
let catalogue: Ec2Catalogue;
beforeAll(async () => {
  catalogue = await loadEc2Catalogue();
});

type Changes = Partial<MachineSettings>;

function infoOf(name: string): InstanceTypeInfo {
  const info = catalogue.types.find(({ InstanceType }) => InstanceType === name);
  if (info === undefined) throw new Error(`no ${name}`);
  return info;
}

function resolve(info: InstanceTypeInfo, changes: Changes = {}) {
  const settings = { family: familyNamed("AL2023"), vmMemoryOverheadPercent: 0.075, reservedEnis: 0, ...changes };
  const zones = catalogue.zones.slice(0, 3);
  const offered = catalogue.zonesByType.get(info.InstanceType) ?? ["us-east-1a"];
  return resolveType(info, offered, { region: "us-east-1", zones, settings, tables: catalogue.tables, pool: new ItemPool() });
}

function labelsOf(info: InstanceTypeInfo, changes: Changes = {}) {
  return Object.fromEntries(
    resolve(info, changes).requirements.map(({ key, operator, values }) => [
      key.replace("karpenter.k8s.aws/instance-", ""),
      operator === "In" ? values?.join() : operator,
    ]),
  );
}

describe("labels", () => {
  test("scenario 1: g4dn.8xlarge", () => {
    expect(labelsOf(infoOf("g4dn.8xlarge"))).toMatchObject({
      category: "g",
      generation: "4",
      family: "g4dn",
      size: "8xlarge",
      cpu: "32",
      memory: "131072",
      "cpu-manufacturer": "intel",
      "cpu-sustained-clock-speed-mhz": "2500",
      "ebs-bandwidth": "9500",
      "network-bandwidth": "50000",
      "gpu-name": "t4",
      "gpu-manufacturer": "nvidia",
      "gpu-count": "1",
      "gpu-memory": "16384",
      "local-nvme": "900",
      hypervisor: "nitro",
      "encryption-in-transit-supported": "true",
      "capability-flex": "false",
      tenancy: "default,dedicated",
      "accelerator-name": "DoesNotExist",
      "node.kubernetes.io/windows-build": "DoesNotExist",
      "kubernetes.io/arch": "amd64",
      "kubernetes.io/os": "linux",
      "topology.kubernetes.io/region": "us-east-1",
    });
  });

  test("scenario 2: inf2.xlarge", () => {
    expect(labelsOf(infoOf("inf2.xlarge"))).toMatchObject({
      "accelerator-name": "inferentia2",
      "accelerator-manufacturer": "aws",
      "accelerator-count": "1",
      "gpu-name": "DoesNotExist",
      "network-bandwidth": "2083",
    });
    expect(resolve(infoOf("inf2.xlarge")).capacity).toMatchObject({ "aws.amazon.com/neuron": 1, "aws.amazon.com/neuroncore": 2 });
  });

  test.each([
    { rule: "I-315", name: "u7i-12tb.224xlarge", category: "u", generation: "7", family: "u7i-12tb", size: "224xlarge", flex: "false" },
    { rule: "I-315", name: "p6-b200.48xlarge", category: "p", generation: "6", family: "p6-b200", size: "48xlarge", flex: "false" },
    { rule: "I-315", name: "u-6tb1.metal", category: "u", generation: "1", family: "u-6tb1", size: "metal", flex: "false" },
    {
      rule: "I-315",
      name: "mac-m4.metal",
      category: "DoesNotExist",
      generation: "DoesNotExist",
      family: "mac-m4",
      size: "metal",
      flex: "false",
    },
    { rule: "I-316", name: "m7i-flex.large", category: "m", generation: "7", family: "m7i-flex", size: "large", flex: "true" },
    {
      rule: "scenario 4",
      name: "test",
      category: "DoesNotExist",
      generation: "DoesNotExist",
      family: "DoesNotExist",
      size: "DoesNotExist",
      flex: "false",
    },
  ])("$rule: $name", ({ name, category, generation, family, size, flex }) => {
    const labels = labelsOf({ ...infoOf("m5.large"), InstanceType: name });
    expect([labels.category, labels.generation, labels.family, labels.size, labels["capability-flex"]]).toEqual([
      category,
      generation,
      family,
      size,
      flex,
    ]);
  });

  test.each([
    { rule: "I-302", change: { ProcessorInfo: { SupportedArchitectures: ["i386", "x86_64"] } }, key: "kubernetes.io/arch", value: "amd64" },
    { rule: "I-310", change: { ProcessorInfo: {} }, key: "cpu-manufacturer", value: "" },
    { rule: "I-311", change: { ProcessorInfo: {} }, key: "cpu-sustained-clock-speed-mhz", value: "0" },
    { rule: "I-313", change: { EbsInfo: { EbsOptimizedSupport: "supported" } }, key: "ebs-bandwidth", value: "DoesNotExist" },
    {
      rule: "I-318",
      change: { InstanceStorageInfo: { TotalSizeInGB: 75, NvmeSupport: "unsupported" } },
      key: "local-nvme",
      value: "DoesNotExist",
    },
    { rule: "I-321", change: { Hypervisor: undefined }, key: "hypervisor", value: "" },
    { rule: "I-319", change: { GpuInfo: { Gpus: [{ Name: "a" }, { Name: "b" }] } }, key: "gpu-name", value: "DoesNotExist" },
    { rule: "I-327", change: { GpuInfo: { Gpus: [{ Name: "Radeon Pro V520" }] } }, key: "gpu-name", value: "radeon-pro-v520" },
    {
      rule: "I-307",
      change: { SupportedUsageClasses: ["capacity-block", "on-demand", "spot"] },
      key: "karpenter.sh/capacity-type",
      value: "on-demand,spot",
    },
    { rule: "I-325", change: {}, key: "karpenter.k8s.aws/capacity-reservation-id", value: "DoesNotExist" },
  ])("$rule: $key is $value", ({ change, key, value }) => {
    expect(labelsOf({ ...infoOf("m5.large"), ...change } as InstanceTypeInfo)[key]).toBe(value);
  });

  test.each([
    { rule: "I-303", name: "m5.large", os: "windows" },
    { rule: "I-303", name: "c6g.large", os: "" },
  ])("$rule: Windows on $name", ({ name, os }) => {
    const labels = labelsOf(infoOf(name), { family: familyNamed("Windows2022") });
    expect([labels["kubernetes.io/os"], labels["node.kubernetes.io/windows-build"]]).toEqual([os, "10.0.20348"]);
  });

  test("X-33: there is no nitro-sandbox label, and I-304 only zones with subnets", () => {
    const labels = labelsOf(infoOf("m5.large"));
    expect(labels).not.toHaveProperty("karpenter.k8s.aws/nitro-sandbox");
    expect(labels["topology.kubernetes.io/zone"]).toBe("us-east-1a,us-east-1b,us-east-1c");
    expect(labels["topology.k8s.aws/zone-id"]).toBe("use1-az6,use1-az1,use1-az2");
  });
});

/** Appendix C: derived pods and memory (P 0.075), prices. */
test.each([
  { name: "c6g.large", pods: 29, memoryMib: 3729, price: 0.068 },
  { name: "g4dn.8xlarge", pods: 58, memoryMib: 121241, price: 2.176 },
  { name: "g5.12xlarge", pods: 737, memoryMib: 181862, price: 5.672 },
  { name: "inf2.xlarge", pods: 58, memoryMib: 15155, price: 0.7582 },
  { name: "inf2.24xlarge", pods: 737, memoryMib: 363724, price: 6.49063 },
  { name: "m5.large", pods: 29, memoryMib: 7577, price: 0.096 },
  { name: "m5.xlarge", pods: 58, memoryMib: 15155, price: 0.192 },
  { name: "m5.metal", pods: 737, memoryMib: 363724, price: 4.608 },
  { name: "m6idn.32xlarge", pods: 394, memoryMib: 484966, price: 10.18368 },
  { name: "m7i-flex.large", pods: 29, memoryMib: 7577, price: 0.09576 },
  { name: "p5.48xlarge", pods: 100, memoryMib: 1939865, price: 55.04 },
  { name: "t3.large", pods: 35, memoryMib: 7577, price: 0.0832 },
  { name: "t4g.small", pods: 11, memoryMib: 1835, price: 0.0168 },
  { name: "t4g.medium", pods: 17, memoryMib: 3729, price: 0.0336 },
  { name: "t4g.xlarge", pods: 58, memoryMib: 15096, price: 0.1344 },
  { name: "trn1.2xlarge", pods: 58, memoryMib: 30310, price: 1.34375 },
])("appendix C: $name has $pods pods and $memoryMib Mi", ({ name, pods, memoryMib, price }) => {
  const { capacity } = resolve(infoOf(name));
  expect([capacity.pods, (capacity.memory ?? 0) / MIB, catalogue.onDemandPrice(name)]).toEqual([pods, memoryMib, price]);
});

/** What a real kubelet reported is never below the estimate (I-611). */
test.each([
  { name: "t4g.small", memoryKib: 1408312, millicores: 1930 },
  { name: "t4g.medium", memoryKib: 3377496, millicores: 1930 },
  { name: "t4g.xlarge", memoryKib: 15136012, millicores: 3920 },
  { name: "m5.large", memoryKib: 7220184, millicores: 1930 },
])("I-611: the estimate for $name is within what its kubelet reports", ({ name, memoryKib, millicores }) => {
  const { capacity, overhead } = resolve(infoOf(name));
  const memory = (capacity.memory ?? 0) - (overhead.kubeReserved.memory ?? 0) - (overhead.evictionThreshold.memory ?? 0);
  expect(memory).toBeLessThanOrEqual(memoryKib * 1024);
  expect((capacity.cpu ?? 0) - (overhead.kubeReserved.cpu ?? 0)).toBeLessThanOrEqual(millicores);
});

test("I-611: m5.xlarge, worked example", () => {
  const { capacity, overhead } = resolve(infoOf("m5.xlarge"));
  expect(capacity).toMatchObject({
    cpu: 4000,
    memory: 15155 * MIB,
    "ephemeral-storage": 20 * GIB,
    pods: 58,
    "vpc.amazonaws.com/pod-eni": 18,
  });
  expect(overhead).toEqual({
    kubeReserved: { cpu: 80, memory: 893 * MIB, "ephemeral-storage": GIB },
    systemReserved: {},
    evictionThreshold: { memory: 100 * MIB, "ephemeral-storage": 2 * GIB },
  });
});

test.each([
  [1, 60],
  [2, 70],
  [4, 80],
  [8, 90],
  [16, 110],
  [48, 190],
  [96, 310],
  [192, 550],
  [448, 1190],
])("I-601: %i vCPU keep %i millicores", (vcpus, millicores) => {
  expect(reservedCpu(vcpus * 1000)).toBe(millicores);
});

test.each([
  { rule: "I-405", name: "t3.large", changes: { reservedEnis: 1 }, resource: "pods", amount: 24 },
  { rule: "I-405", name: "t3.large", changes: { reservedEnis: 1e6 }, resource: "pods", amount: 0 },
  { rule: "I-404", name: "t3.large", changes: { family: familyNamed("Windows2022"), reservedEnis: 1 }, resource: "pods", amount: 110 },
  { rule: "I-402", name: "m5.large", changes: { vmMemoryOverheadPercent: 0 }, resource: "memory", amount: 8192 * MIB },
  { rule: "I-403.1", name: "m6idn.32xlarge", changes: { instanceStorePolicy: "RAID0" }, resource: "ephemeral-storage", amount: 7600e9 },
  {
    rule: "I-403.4",
    name: "m5.large",
    changes: { blockDeviceMappings: [{ deviceName: "/dev/xvda", ebs: { volumeSize: "100Gi" } }] },
    resource: "ephemeral-storage",
    amount: 100 * GIB,
  },
  {
    rule: "I-403.5",
    name: "m5.large",
    changes: { blockDeviceMappings: [{ deviceName: "/dev/xvda", ebs: {} }] },
    resource: "ephemeral-storage",
    amount: 20 * GIB,
  },
  {
    rule: "I-403.2",
    name: "m5.large",
    changes: {
      family: familyNamed("Custom"),
      blockDeviceMappings: [
        { deviceName: "a", ebs: { volumeSize: "20G" } },
        { deviceName: "b", rootVolume: true, ebs: { volumeSize: "40G" } },
        { deviceName: "c", ebs: { volumeSize: "20G" } },
      ],
    },
    resource: "ephemeral-storage",
    amount: 40e9,
  },
  { rule: "I-403.6", name: "m5.large", changes: { family: familyNamed("Custom") }, resource: "ephemeral-storage", amount: 20 * GIB },
  { rule: "I-407", name: "g5.12xlarge", changes: {}, resource: "nvidia.com/gpu", amount: 4 },
  { rule: "I-408", name: "inf2.24xlarge", changes: {}, resource: "aws.amazon.com/neuroncore", amount: 12 },
  { rule: "I-409", name: "p5.48xlarge", changes: {}, resource: "vpc.amazonaws.com/efa", amount: 32 },
  { rule: "I-409", name: "p5.48xlarge", changes: { networkInterfaces: [] }, resource: "vpc.amazonaws.com/efa", amount: 0 },
  { rule: "I-410", name: "t3.large", changes: {}, resource: "vpc.amazonaws.com/pod-eni", amount: 0 },
  { rule: "I-410", name: "m5.large", changes: {}, resource: "vpc.amazonaws.com/pod-eni", amount: 9 },
  {
    rule: "I-411",
    name: "m5.large",
    changes: { family: familyNamed("Windows2022") },
    resource: "vpc.amazonaws.com/PrivateIPv4Address",
    amount: 9,
  },
  {
    rule: "scenario 16",
    name: "m6idn.32xlarge",
    changes: {
      networkInterfaces: [
        { networkCardIndex: 0, interfaceType: "interface" },
        { networkCardIndex: 0, interfaceType: "efa-only" },
      ],
    },
    resource: "pods",
    amount: 345,
  },
])("$rule: $name has $amount of $resource", ({ name, changes, resource, amount }) => {
  expect(resolve(infoOf(name), changes as Changes).capacity[resource]).toBe(amount);
});

test.each([
  { family: "AL2023", memoryMib: 640 },
  { family: "AL2", memoryMib: 640 },
  { family: "Bottlerocket", memoryMib: 519 },
  { family: "Windows2022", memoryMib: 1465 },
] as const)("I-602: t3.large with a reserved interface keeps $memoryMib Mi on $family", ({ family, memoryMib }) => {
  const { overhead } = resolve(infoOf("t3.large"), { family: familyNamed(family), reservedEnis: 1 });
  expect((overhead.kubeReserved.memory ?? 0) / MIB).toBe(memoryMib);
});

describe("spec.kubelet", () => {
  const kubelet = (changes: Record<string, unknown>): Changes => {
    const reading = readKubelet(changes);
    if (reading.kind === "invalid") throw new Error(reading.message);
    return { kubelet: reading.settings };
  };

  test.each([
    { rule: "I-404", name: "t3.large", given: { maxPods: 10 }, family: "AL2023", pods: 10, memoryMib: 640 },
    { rule: "scenario 14", name: "t3.large", given: { maxPods: 10 }, family: "Bottlerocket", pods: 10, memoryMib: 365 },
    { rule: "scenario 15", name: "t3.large", given: { podsPerCore: 4, maxPods: 20 }, family: "AL2023", pods: 8, memoryMib: 640 },
    { rule: "scenario 15", name: "t3.large", given: { podsPerCore: 1 }, family: "Bottlerocket", pods: 35, memoryMib: 640 },
    { rule: "I-406", name: "t3.large", given: { podsPerCore: 0 }, family: "AL2023", pods: 35, memoryMib: 640 },
  ] as const)("$rule: $given on $family is $pods pods", ({ name, given, family, pods, memoryMib }) => {
    const { capacity, overhead } = resolve(infoOf(name), { ...kubelet(given), family: familyNamed(family) });
    expect([capacity.pods, (overhead.kubeReserved.memory ?? 0) / MIB]).toEqual([pods, memoryMib]);
  });

  test("I-604, I-605, scenario 17: what the user reserves wins, key by key", () => {
    const { overhead } = resolve(
      infoOf("m5.xlarge"),
      kubelet({ kubeReserved: { cpu: "2", memory: "10Gi" }, systemReserved: { cpu: "1" } }),
    );
    expect(overhead.kubeReserved).toEqual({ cpu: 2000, memory: 10 * GIB, "ephemeral-storage": GIB });
    expect(overhead.systemReserved).toEqual({ cpu: 1000 });
  });

  test.each([
    { threshold: "500Mi", bytes: 500 * MIB },
    { threshold: "10%", bytes: Math.ceil(8192 * MIB * 0.1) },
    { threshold: "100%", bytes: 0 },
  ])("I-608, scenario 18: $threshold of memory", ({ threshold, bytes }) => {
    const changes = {
      ...kubelet({ evictionHard: { "memory.available": threshold }, evictionSoft: { "memory.available": "5Gi" } }),
      vmMemoryOverheadPercent: 0,
    };
    expect(resolve(infoOf("m5.large"), changes).overhead.evictionThreshold.memory).toBe(bytes);
  });

  test.each([
    { given: { maxPods: "min(110, vcpus * 8)" }, reason: "KubeletExpressionsDisabled" },
    { given: { kubeReserved: { cpu: "vcpus * 30" } }, reason: "KubeletExpressionsDisabled" },
    { given: { maxPods: -1 }, reason: "InvalidKubeletConfiguration" },
    { given: { podsPerCore: "4" }, reason: "InvalidKubeletConfiguration" },
    { given: { kubeReserved: { cpu: "-1" } }, reason: "InvalidKubeletConfiguration" },
    { given: { evictionHard: { "memory.available": "101%" } }, reason: "InvalidKubeletConfiguration" },
    { given: { systemReserved: ["cpu"] }, reason: "InvalidKubeletConfiguration" },
  ])("$given is refused: $reason", ({ given, reason }) => {
    expect(readKubelet(given)).toMatchObject({ kind: "invalid", reason });
  });
});
