/** Small random clusters as manifests, in which many pods have no place: each thing that a fix could be about occurs. */
import fc from "fast-check";
import type { Json } from "./apply-fix.ts";

const ZONE = "topology.kubernetes.io/zone";
const maybe = <T>(arbitrary: fc.Arbitrary<T>, absentWeight: number) =>
  fc.oneof({ weight: absentWeight, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary });
const zones = fc.subarray(["z1", "z2", "z3", "z9"], { minLength: 1, maxLength: 3 });
const one = (key: string, values: readonly string[]) => ({ key, operator: "In", values });

const pool = (index: number) =>
  fc
    .record({
      weight: maybe(fc.constant(10), 2),
      zones: maybe(zones, 2),
      arch: maybe(fc.constantFrom("amd64", "arm64"), 2),
      capacityType: fc.constantFrom(["on-demand"], ["spot"], ["spot", "on-demand"], ["reserved", "on-demand"]),
      taint: maybe(fc.constantFrom("a", "b"), 3),
      limits: maybe(fc.constantFrom({ cpu: "2" }, { cpu: "6", memory: "8Gi" }, { nodes: "1" }, { memory: "4Gi" }), 2),
      minTypes: maybe(fc.constantFrom(2, 4), 5),
    })
    .map(
      ({ weight, zones: listed, arch, capacityType, taint, limits, minTypes }): Json => ({
        apiVersion: "karpenter.sh/v1",
        kind: "NodePool",
        metadata: { name: `pool-${index}` },
        spec: {
          ...(weight && { weight }),
          ...(limits && { limits }),
          template: {
            spec: {
              nodeClassRef: { group: "karpenter.kwok.sh", kind: "KWOKNodeClass", name: "default" },
              ...(taint && { taints: [{ key: "dedicated", value: taint, effect: "NoSchedule" }] }),
              requirements: [
                one("karpenter.sh/capacity-type", capacityType),
                ...(listed ? [one(ZONE, listed)] : []),
                ...(arch ? [one("kubernetes.io/arch", [arch])] : []),
                ...(minTypes ? [{ key: "node.kubernetes.io/instance-type", operator: "Exists", minValues: minTypes }] : []),
              ],
            },
          },
        },
      }),
    );

const term = fc
  .record({ topologyKey: fc.constantFrom(ZONE, "kubernetes.io/hostname"), app: fc.constantFrom("w0", "w1", "run", "rnu") })
  .map(({ topologyKey, app }) => ({ topologyKey, labelSelector: { matchLabels: { app } } }));
const required = (terms: readonly Json[]) => ({ requiredDuringSchedulingIgnoredDuringExecution: terms });

const podSpec = fc
  .record({
    cpu: fc.constantFrom("100m", "1", "1900m", "3", "7", "30"),
    memory: fc.constantFrom("256Mi", "2Gi", "20Gi"),
    port: maybe(fc.constantFrom(80, 81), 4),
    selector: maybe(
      fc.constantFrom<Json>(
        { [ZONE]: "z1" },
        { [ZONE]: "z3" },
        { "topology.kubernetes.io/zonne": "z2" },
        { "kubernetes.io/arch": "arm64" },
        { "kubernetes.io/arch": "amd46" },
        { team: "a" },
        { "karpenter.sh/capacity-type": "spot", [ZONE]: "z2" },
      ),
      2,
    ),
    expression: maybe(
      fc.constantFrom(one(ZONE, ["z2", "z3"]), { key: "rack", operator: "Exists" }, one("kubernetes.io/arch", ["arm64"])),
      4,
    ),
    affinity: maybe(term, 4),
    antiAffinity: maybe(term, 3),
    spread: maybe(
      fc.record({
        topologyKey: fc.constantFrom(ZONE, "kubernetes.io/hostname", "topology.kubernetes.io/zonne"),
        app: fc.constantFrom("w0", "w1"),
        minDomains: maybe(fc.constantFrom(3, 5), 3),
      }),
      2,
    ),
    toleration: maybe(fc.constant("a"), 3),
    volumes: maybe(fc.subarray(["d1", "d2", "d3", "d4"], { minLength: 1 }), 3),
  })
  .map(({ cpu, memory, port, selector, expression, affinity, antiAffinity, spread, toleration, volumes }): Json => {
    const nodeAffinity = expression &&
      required([] as Json[]) && {
        requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [{ matchExpressions: [expression] }] },
      };
    return {
      containers: [
        {
          name: "main",
          image: "registry.example/main:1",
          resources: { requests: { cpu, memory } },
          ...(port && { ports: [{ containerPort: port, hostPort: port }] }),
        },
        { name: "side", image: "registry.example/side:1", resources: { requests: { cpu: "50m" } } },
      ],
      ...(selector && { nodeSelector: selector }),
      ...((nodeAffinity || affinity || antiAffinity) && {
        affinity: {
          ...(nodeAffinity && { nodeAffinity }),
          ...(affinity && { podAffinity: required([affinity]) }),
          ...(antiAffinity && { podAntiAffinity: required([antiAffinity]) }),
        },
      }),
      ...(spread && {
        topologySpreadConstraints: [
          {
            topologyKey: spread.topologyKey,
            maxSkew: 1,
            whenUnsatisfiable: "DoNotSchedule",
            labelSelector: { matchLabels: { app: spread.app } },
            ...(spread.minDomains && { minDomains: spread.minDomains }),
          },
        ],
      }),
      ...(toleration && { tolerations: [{ key: "dedicated", operator: "Equal", value: toleration, effect: "NoSchedule" }] }),
      ...(volumes && { volumes: volumes.map((claimName) => ({ name: claimName, persistentVolumeClaim: { claimName } })) }),
    };
  });

const workload = (index: number) =>
  fc
    .record({
      spec: podSpec,
      replicas: fc.constantFrom(1, 1, 3, 5),
      kind: fc.constantFrom("Deployment", "Deployment", "StatefulSet", "Pod"),
    })
    .map(({ spec, replicas, kind }): Json => {
      const labels = { app: `w${index}` };
      const metadata = { name: `w${index}`, namespace: "default" };
      if (kind === "Pod") return { apiVersion: "v1", kind, metadata: { ...metadata, labels }, spec };
      return {
        apiVersion: "apps/v1",
        kind,
        metadata,
        spec: {
          replicas,
          ...(kind === "StatefulSet" && { serviceName: "none" }),
          selector: { matchLabels: labels },
          template: { metadata: { labels }, spec },
        },
      };
    });

const node = (index: number) =>
  fc
    .record({ zone: fc.constantFrom("z1", "z2", "z3"), cpu: fc.constantFrom("500m", "2"), runs: fc.boolean(), apart: fc.boolean() })
    .map(({ zone, cpu, runs, apart }): Json[] => {
      const name = `node-${index}`;
      const amounts = { cpu, memory: "8Gi", pods: "20" };
      const labels = { "kubernetes.io/hostname": name, [ZONE]: zone, "kubernetes.io/arch": "amd64", "kubernetes.io/os": "linux" };
      const running: Json = {
        apiVersion: "v1",
        kind: "Pod",
        metadata: { name: `run-${index}`, namespace: "default", labels: { app: "run" } },
        spec: {
          nodeName: name,
          containers: [{ name: "main", image: "registry.example/run:1", resources: { requests: { cpu: "100m" } } }],
          ...(apart && { affinity: { podAntiAffinity: required([{ topologyKey: ZONE, labelSelector: { matchLabels: { app: "w0" } } }]) } }),
        },
        status: { phase: "Running" },
      };
      const status = { capacity: amounts, allocatable: amounts, conditions: [{ type: "Ready", status: "True" }] };
      return [{ apiVersion: "v1", kind: "Node", metadata: { name, labels }, status }, ...(runs ? [running] : [])];
    });

const agent: Json = {
  apiVersion: "apps/v1",
  kind: "DaemonSet",
  metadata: { name: "agent", namespace: "default" },
  spec: {
    selector: { matchLabels: { app: "agent" } },
    template: {
      metadata: { labels: { app: "agent" } },
      spec: {
        containers: [
          {
            name: "main",
            image: "registry.example/agent:1",
            resources: { requests: { cpu: "200m" } },
            ports: [{ containerPort: 80, hostPort: 80 }],
          },
        ],
      },
    },
  },
};

function volume(name: string, zone: string): Json[] {
  const metadata = { name, namespace: "default", annotations: { "pv.kubernetes.io/bind-completed": "yes" } };
  const matchExpressions = [one(ZONE, [zone])];
  return [
    {
      apiVersion: "v1",
      kind: "PersistentVolume",
      metadata: { name },
      spec: {
        capacity: { storage: "1Gi" },
        accessModes: ["ReadWriteOnce"],
        csi: { driver: "ebs.csi.aws.com", volumeHandle: name },
        claimRef: { name, namespace: "default" },
        nodeAffinity: { required: { nodeSelectorTerms: [{ matchExpressions }] } },
      },
    },
    {
      apiVersion: "v1",
      kind: "PersistentVolumeClaim",
      metadata,
      spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } }, volumeName: name },
      status: { phase: "Bound" },
    },
  ];
}

const VOLUMES = [volume("d1", "z1"), volume("d2", "z1"), volume("d3", "z1"), volume("d4", "z2")].flat();

/** The types are those of `catalog.json`. */
export const anyManifests: fc.Arbitrary<Json[]> = fc
  .record({
    pools: fc.oneof(fc.tuple(pool(0)), fc.tuple(pool(0), pool(1))),
    workloads: fc.oneof(fc.tuple(workload(0)), fc.tuple(workload(0), workload(1)), fc.tuple(workload(0), workload(1), workload(2))),
    nodes: fc.oneof(fc.constant([]), fc.tuple(node(0)), fc.tuple(node(0), node(1))),
    hasAgent: fc.boolean(),
  })
  .map(({ pools, workloads, nodes, hasAgent }) => [...pools, ...workloads, ...nodes.flat(), ...(hasAgent ? [agent] : []), ...VOLUMES]);
