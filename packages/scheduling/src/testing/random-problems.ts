/** Small random problems in which everything happens: taints, limits, overrides, DaemonSets, custom labels, nodes of all kinds. */
import type {
  LabelSelector,
  NodePool,
  NodeSelectorRequirement,
  PodAffinityTerm,
  Taint,
  Toleration,
  TopologySpreadConstraint,
} from "@joinery/api";
import fc from "fast-check";
import type { InstanceType } from "../instance-type.ts";
import type { ExistingNode, PodToPlace, Problem, VolumeClaim } from "../problem.ts";
import { aDaemonSet, aNode, anOffering, aPod, aPool, aReservation, aType, FIXTURE_LABELS } from "./builders.ts";

const ZONE = "topology.kubernetes.io/zone";
const CAPACITY_TYPE = "karpenter.sh/capacity-type";
const ARCH = "kubernetes.io/arch";

/** undefined `absentWeight` times as often as a value. */
const maybe = <T>(arbitrary: fc.Arbitrary<T>, absentWeight = 2): fc.Arbitrary<T | undefined> =>
  fc.oneof({ weight: absentWeight, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary });
const zones = fc.subarray(["z1", "z2", "z3", "nowhere"], { minLength: 1 });
const cpus = fc.constantFrom("1m", "100m", "250m", "500m", "1", "1500m", "3", "7");
const memories = fc.constantFrom("1Mi", "256Mi", "1Gi", "1800Mi", "6Gi");

/** No two of one key and effect, which the API server refuses. */
const taints: fc.Arbitrary<Taint[]> = fc.uniqueArray(
  fc.record({
    key: fc.constantFrom("t1", "t2"),
    value: fc.constantFrom("a", "b"),
    effect: fc.constantFrom<Taint["effect"]>("NoSchedule", "PreferNoSchedule", "NoExecute"),
  }),
  { maxLength: 2, selector: ({ key, effect }) => key + effect },
);
const tolerations: fc.Arbitrary<Toleration[]> = fc.array(
  fc.constantFrom<Toleration>(
    { key: "t1", operator: "Exists" },
    { key: "t2", value: "a" },
    { key: "t2", operator: "Exists", effect: "NoSchedule" },
    { operator: "Exists" },
  ),
  { maxLength: 2 },
);

/** Expressions on keys that node selectors here do not use, so that no pod contradicts itself (S-45). */
const expression: fc.Arbitrary<NodeSelectorRequirement> = fc.oneof(
  zones.map((values) => ({ key: ZONE, operator: "In" as const, values })),
  zones.map((values) => ({ key: ZONE, operator: "NotIn" as const, values: values.slice(0, 1) })),
  fc.constantFrom("4", "8").map((bound) => ({ key: "integer", operator: "Gt" as const, values: [bound] })),
  fc.constantFrom("8", "16").map((bound) => ({ key: "integer", operator: "Lt" as const, values: [bound] })),
  fc.constantFrom("NotIn" as const, "In" as const).map((operator) => ({ key: "color", operator, values: ["red"] })),
  fc.constantFrom("Exists" as const, "DoesNotExist" as const).map((operator) => ({ key: "color", operator })),
);

const APP = "app";
const selector = fc.constantFrom<LabelSelector | undefined>(
  { matchLabels: { [APP]: "a" } },
  { matchLabels: { [APP]: "b" } },
  { matchExpressions: [{ key: APP, operator: "In", values: ["a", "b"] }] },
  { matchExpressions: [{ key: APP, operator: "Exists" }] },
  {},
  undefined,
);
const topologyKey = fc.constantFrom(ZONE, ZONE, "kubernetes.io/hostname", "kubernetes.io/hostname", CAPACITY_TYPE, "team");
const spread: fc.Arbitrary<TopologySpreadConstraint> = fc
  .record({
    topologyKey,
    labelSelector: selector,
    maxSkew: fc.constantFrom(1, 1, 2),
    whenUnsatisfiable: fc.constantFrom("DoNotSchedule", "DoNotSchedule", "ScheduleAnyway"),
    minDomains: maybe(fc.constantFrom(2, 3), 4),
    nodeAffinityPolicy: maybe(fc.constantFrom("Ignore", "Honor")),
    nodeTaintsPolicy: maybe(fc.constantFrom("Ignore", "Honor")),
    matchLabelKeys: maybe(fc.constant(["rev"]), 4),
  })
  // What the API server refuses is no problem: minDomains with a preference, matchLabelKeys without a selector.
  .map(({ minDomains, matchLabelKeys, ...spread }) => ({
    ...spread,
    minDomains: spread.whenUnsatisfiable === "DoNotSchedule" ? minDomains : undefined,
    matchLabelKeys: spread.labelSelector === undefined ? undefined : matchLabelKeys,
  }))
  .map(present);
/** No two along one label with one effect. */
const spreads = fc.uniqueArray(spread, {
  minLength: 1,
  maxLength: 2,
  selector: ({ topologyKey: key, whenUnsatisfiable }) => key + whenUnsatisfiable,
});
const term: fc.Arbitrary<PodAffinityTerm> = fc
  .record({
    topologyKey,
    labelSelector: selector,
    namespaces: maybe(fc.constant(["other"]), 5),
    namespaceSelector: maybe(fc.constantFrom<LabelSelector>({}, { matchLabels: { kind: "b" } }), 5),
  })
  .map(present);
const weighted = fc.record({ weight: fc.integer({ min: 1, max: 3 }), podAffinityTerm: term });
const terms = maybe(fc.array(term, { minLength: 1, maxLength: 2 }), 5);
const preferredTerms = maybe(fc.array(weighted, { minLength: 1, maxLength: 2 }), 6);
const hostPorts = maybe(
  fc.uniqueArray(
    fc.record({
      hostPort: fc.constantFrom(80, 81),
      hostIP: maybe(fc.constantFrom("10.0.0.1", "10.0.0.2"), 1),
      protocol: fc.constant("TCP" as const),
    }),
    { minLength: 1, maxLength: 2, selector: ({ hostPort, hostIP }) => `${hostIP}:${hostPort}` },
  ),
  8,
);

/** What one pod has to do with others. */
const company = fc.record({
  app: maybe(fc.constantFrom("a", "b"), 1),
  rev: maybe(fc.constantFrom("1", "2"), 2),
  namespace: fc.constantFrom("default", "default", "other"),
  spreads: maybe(spreads, 2),
  affinity: terms,
  antiAffinity: terms,
  preferredAffinity: preferredTerms,
  preferredAntiAffinity: preferredTerms,
  preferredNodes: maybe(fc.array(fc.record({ weight: fc.integer({ min: 1, max: 2 }), expression }), { minLength: 1, maxLength: 2 }), 5),
  ports: hostPorts,
  claims: maybe(fc.subarray(["c1", "c2", "c3", "c4", "lost"], { minLength: 1, maxLength: 3 }), 3),
});

const volumeClaim: fc.Arbitrary<VolumeClaim> = fc
  .record({
    alternatives: fc.array(
      // One requirement per label under whatever name: no node has two zones.
      fc.uniqueArray(
        fc.oneof(
          zones.map((values) => ({ key: ZONE, operator: "In" as const, values })),
          fc.constantFrom("z1", "z2").map((zone) => ({ key: "topology.ebs.csi.aws.com/zone", operator: "In" as const, values: [zone] })),
          fc.constant({ key: "kubernetes.io/hostname", operator: "In" as const, values: ["node-0"] }),
        ),
        { minLength: 1, maxLength: 2, selector: ({ key }) => key.endsWith("zone") },
      ),
      { maxLength: 2 },
    ),
    driver: maybe(fc.constantFrom("d1", "d2"), 1),
  })
  .map(present);

/** Without the properties that are undefined: a shape has only what is there. */
function present<T extends object>(object: T): { [K in keyof T]: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]: Exclude<T[K], undefined>;
  };
}

function withReservation(type: InstanceType, wish: { id: string; slots: number; zone: string }): InstanceType {
  const more: Readonly<Record<string, string>> = { [ZONE]: wish.zone, [CAPACITY_TYPE]: "reserved" };
  const requirements = type.requirements.map((item) => {
    const value = more[item.key];
    return value === undefined ? item : { ...item, values: [...new Set([...(item.values ?? []), value])] };
  });
  return { ...type, requirements, offerings: [...type.offerings, aReservation(wish)] };
}

function withCompany({ shape, ...pod }: PodToPlace, wish: typeof company extends fc.Arbitrary<infer T> ? T : never): PodToPlace {
  const podAffinity = present({
    requiredDuringSchedulingIgnoredDuringExecution: wish.affinity,
    preferredDuringSchedulingIgnoredDuringExecution: wish.preferredAffinity,
  });
  const podAntiAffinity = present({
    requiredDuringSchedulingIgnoredDuringExecution: wish.antiAffinity,
    preferredDuringSchedulingIgnoredDuringExecution: wish.preferredAntiAffinity,
  });
  const preferred = wish.preferredNodes?.map(({ weight, expression: item }) => ({ weight, preference: { matchExpressions: [item] } }));
  const nodeAffinity = present({ ...shape.affinity?.nodeAffinity, preferredDuringSchedulingIgnoredDuringExecution: preferred });
  const affinity = { nodeAffinity, podAffinity, podAntiAffinity };
  const ports = wish.ports?.map(({ hostPort, hostIP, protocol }) => ({ port: hostPort, ip: hostIP ?? "0.0.0.0", protocol }));
  return {
    ...pod,
    shape: {
      ...shape,
      ...present({ topologySpreadConstraints: wish.spreads, hostPorts: ports, claimNames: wish.claims }),
      namespace: wish.namespace,
      labels: present({ [APP]: wish.app, rev: wish.rev }) as Record<string, string>,
      affinity,
    },
  };
}

const pod = (index: number): fc.Arbitrary<PodToPlace> =>
  fc
    .record({
      cpu: cpus,
      memory: memories,
      gpu: maybe(fc.constant(1), 9),
      team: maybe(fc.constantFrom("a", "b"), 4),
      arch: maybe(fc.constantFrom("amd64", "arm64"), 4),
      capacityType: maybe(fc.constantFrom("spot", "on-demand"), 4),
      terms: maybe(fc.array(fc.uniqueArray(expression, { maxLength: 2, selector: ({ key }) => key }), { minLength: 1, maxLength: 3 }), 3),
      tolerations,
      age: fc.nat({ max: 3 }),
    })
    .map(({ cpu, memory, gpu, team, arch, capacityType, terms, tolerations, age }) =>
      aPod({
        name: `p-${index}`,
        createdAtMs: age * 700,
        requests: { cpu, memory, ...(gpu && { "vendor-a": gpu }) },
        nodeSelector: { ...(team && { team }), ...(arch && { [ARCH]: arch }), ...(capacityType && { [CAPACITY_TYPE]: capacityType }) },
        ...(terms && { terms }),
        tolerations,
      }),
    );

const pool = (index: number): fc.Arbitrary<NodePool> =>
  fc
    .record({
      weight: maybe(fc.integer({ min: 1, max: 3 })),
      zones: maybe(zones, 3),
      capacityType: maybe(fc.constantFrom("spot", "on-demand"), 3),
      arch: maybe(fc.constantFrom("amd64", "arm64"), 4),
      team: maybe(
        fc.constantFrom<NodeSelectorRequirement>({ key: "team", operator: "Exists" }, { key: "team", operator: "In", values: ["a"] }),
        1,
      ),
      color: maybe(fc.constantFrom("red", "blue")),
      taints: maybe(taints, 4),
      cpuLimit: maybe(fc.constantFrom("2", "20", "60"), 3),
      nodeLimit: maybe(fc.constantFrom("0", "2"), 4),
      minTypes: maybe(fc.constantFrom(2, 3), 5),
      minZones: maybe(fc.constant(2), 7),
    })
    .map(({ minTypes, minZones, weight, zones, capacityType, arch, team, color, taints, cpuLimit, nodeLimit }) => {
      const one = (key: string, values: readonly string[]) => ({ key, operator: "In" as const, values: [...values] });
      return aPool({
        name: `pool-${index}`,
        ...(weight && { weight }),
        requirements: [
          ...(zones ? [one(ZONE, zones)] : []),
          ...(minTypes ? [{ key: "node.kubernetes.io/instance-type", operator: "Exists" as const, minValues: minTypes }] : []),
          ...(minZones ? [{ key: ZONE, operator: "Exists" as const, minValues: minZones }] : []),
          ...(capacityType ? [one(CAPACITY_TYPE, [capacityType])] : []),
          ...(arch ? [one(ARCH, [arch])] : []),
          ...(team ? [team as NodePool["spec"]["template"]["spec"]["requirements"][number]] : []),
        ],
        ...(color && { labels: { color } }),
        ...(taints && { taints }),
        limits: { ...(cpuLimit && { cpu: cpuLimit }), ...(nodeLimit && { nodes: nodeLimit }) },
      });
    });

const type = (index: number): fc.Arbitrary<InstanceType> =>
  fc
    .record({
      cpu: fc.constantFrom(2, 4, 8, 16),
      memory: fc.constantFrom("2Gi", "4Gi", "16Gi"),
      pods: fc.constantFrom(1, 4, 10),
      arch: fc.constantFrom("amd64", "arm64"),
      gpu: maybe(fc.constant(2), 5),
      offerings: fc.uniqueArray(
        fc.record({
          zone: fc.constantFrom("z1", "z2", "z3"),
          capacityType: fc.constantFrom("spot", "on-demand"),
          price: fc.integer({ min: 1, max: 5 }),
          isAvailable: fc.constantFrom(true, true, true, false),
          memoryOverride: maybe(fc.constantFrom(2 ** 30, 2 ** 33), 5),
        }),
        { minLength: 1, maxLength: 4, selector: ({ zone, capacityType }) => zone + capacityType },
      ),
    })
    .map(({ cpu, memory, pods, arch, gpu, offerings }) =>
      aType({
        name: `type-${index}`,
        cpu,
        memory,
        pods,
        arch,
        ...(gpu && { resources: { "vendor-a": gpu } }),
        offerings: offerings.map(({ zone, capacityType, price, isAvailable, memoryOverride }) =>
          anOffering(capacityType, zone, price, { isAvailable, ...(memoryOverride && { capacityOverride: { memory: memoryOverride } }) }),
        ),
      }),
    );

const node = (index: number): fc.Arbitrary<ExistingNode> =>
  fc
    .record({
      zone: maybe(fc.constantFrom("z1", "z2")),
      pool: maybe(fc.constantFrom("pool-0", "pool-1")),
      team: maybe(fc.constantFrom("a", "b"), 4),
      taints: maybe(taints, 4),
      cpu: cpus,
      isInitialized: fc.boolean(),
    })
    .map(({ zone, pool, team, taints, cpu, isInitialized }) =>
      aNode({
        name: `node-${index}`,
        labels: {
          ...(zone && { [ZONE]: zone }),
          ...(pool && { "karpenter.sh/nodepool": pool }),
          ...(team && { team }),
          [ARCH]: "amd64",
          integer: "4",
        },
        ...(taints && { taints }),
        allocatable: { cpu, memory: "4Gi", pods: 4 },
        isInitialized,
      }),
    );

const daemonSet = (index: number) =>
  fc
    .record({
      cpu: fc.constantFrom("100m", "1"),
      size: maybe(fc.constantFrom("large", "small")),
      port: maybe(fc.constantFrom(80, 81), 4),
      tolerations,
      terms: maybe(fc.array(fc.tuple(expression), { minLength: 1, maxLength: 2 }), 3),
    })
    .map(({ cpu, size, port, tolerations, terms }) =>
      aDaemonSet({
        name: `daemon-${index}`,
        requests: { cpu, memory: "10Mi" },
        ...(size && { nodeSelector: { size } }),
        ...(port && {
          spec: {
            containers: [{ name: "c", resources: { requests: { cpu, memory: "10Mi" } }, ports: [{ containerPort: port, hostPort: port }] }],
          },
        }),
        tolerations,
        ...(terms && { terms }),
      }),
    );

const listOf = <T>(make: (index: number) => fc.Arbitrary<T>, minLength: number, maxLength: number): fc.Arbitrary<T[]> =>
  fc.integer({ min: minLength, max: maxLength }).chain((length) => fc.tuple(...Array.from({ length }, (_, index) => make(index))));

/** Up to 24 pods. */
export const anyProblem = problemWith(listOf(pod, 1, 24));

/** Pods with nothing but requests, node selectors and tolerations; pools without limits and minValues. */
export const plainProblem: fc.Arbitrary<Problem> = anyProblem.map((problem) => ({
  ...problem,
  daemonSets: [],
  pods: problem.pods.map(({ shape: { affinity: _, ...shape }, ...one }) => ({ ...one, shape })),
  pools: problem.pools.map(({ nodePool, instanceTypes }) => {
    const { limits: _, ...spec } = nodePool.spec;
    const { requirements } = spec.template.spec;
    const kept = requirements.filter(({ minValues }) => minValues === undefined);
    const template = { ...spec.template, spec: { ...spec.template.spec, requirements: kept } };
    return { nodePool: { ...nodePool, spec: { ...spec, template } }, instanceTypes };
  }),
}));

/** The same pods with constraints between them, among pods that run already. */
export const sociableProblem: fc.Arbitrary<Problem> = anyProblem.chain((problem) =>
  fc
    .record({
      claims: fc.tuple(
        ...["default", "other"].flatMap((space) =>
          ["c1", "c2", "c3", "c4"].map((name) => fc.tuple(fc.constant(`${space}/${name}`), volumeClaim)),
        ),
      ),
      typeLimits: fc.array(maybe(fc.record({ d1: fc.constantFrom(1, 2), d2: fc.constantFrom(1, 5) })), { minLength: 8, maxLength: 8 }),
      nodeLimits: fc.array(maybe(fc.constantFrom<Record<string, number>>({ d1: 1 }, { d1: Number.POSITIVE_INFINITY, d2: 0 })), {
        minLength: 4,
        maxLength: 4,
      }),
      companies: fc.tuple(...problem.pods.map(() => company)),
      bound: fc.array(
        fc.record({ company, site: fc.nat({ max: problem.nodes.length + 1 }), count: fc.nat({ max: 2 }), endingCount: fc.nat({ max: 1 }) }),
        { maxLength: 5 },
      ),
      preferencePolicy: fc.constantFrom("Respect" as const, "Respect" as const, "Ignore" as const),
      minValuesPolicy: fc.constantFrom("Strict" as const, "BestEffort" as const),
      reservedCapacity: fc.constantFrom("strict" as const, "strict" as const, "fallback" as const),
      reservations: fc.array(
        maybe(fc.record({ id: fc.constantFrom("r1", "r2"), slots: fc.nat({ max: 2 }), zone: fc.constantFrom("z1", "z2") })),
        {
          minLength: 8,
          maxLength: 8,
        },
      ),
    })
    .map(
      ({
        reservedCapacity,
        reservations,
        claims,
        typeLimits,
        nodeLimits,
        companies,
        bound,
        preferencePolicy,
        minValuesPolicy,
      }): Problem => {
        const leaving = { name: "leaving", labels: { [ZONE]: "z1", "kubernetes.io/hostname": "leaving" }, taints: [] };
        return {
          ...problem,
          pools: problem.pools.map(({ nodePool, instanceTypes }) => ({
            nodePool,
            instanceTypes: instanceTypes.map((one, index) => {
              const reservation = reservations[index];
              const reserved = reservation === undefined ? one : withReservation(one, reservation);
              return { ...reserved, ...present({ volumeLimits: typeLimits[index] }) };
            }),
          })),
          nodes: problem.nodes.map((one, index) => ({
            ...one,
            labels: { ...one.labels, "node.kubernetes.io/instance-type": `type-${index}` },
            ...present({ volumeLimits: nodeLimits[index] }),
          })),
          claims: new Map(claims),
          pods: problem.pods.map((one, index) => withCompany(one, companies[index]!)),
          boundPods: bound.map(({ company: wish, site, count, endingCount }, index) => ({
            shape: withCompany(aPod({ name: `bound-${index}` }), wish).shape,
            site: problem.nodes[site] ?? leaving,
            count,
            endingCount: count === 0 ? 1 : endingCount,
          })),
          namespaces: new Map([
            ["default", { kind: "a" }],
            ["other", { kind: "b" }],
          ]),
          options: { ...problem.options, preferencePolicy, minValuesPolicy, reservedCapacity },
        };
      },
    ),
);

/** The same beside a pool that takes nearly everything, so that most pods get a place. */
export const roomyProblem: fc.Arbitrary<Problem> = sociableProblem.map((problem) => {
  const large = ["amd64", "arm64"].map((arch) =>
    aType({ name: `large-${arch}`, cpu: 16, memory: "64Gi", pods: 10, arch, resources: { "vendor-a": 4 } }),
  );
  const requirements = [{ key: "team", operator: "In" as const, values: ["a", "b"] }];
  const open = {
    nodePool: aPool({ name: "open", labels: { color: "blue" }, requirements }),
    instanceTypes: [...problem.pools[0]!.instanceTypes, ...large],
  };
  return { ...problem, pools: [...problem.pools, open] };
});

/** Enough pods, many of them alike, that claims fill more than one word of a set. */
export const largeProblem = problemWith(
  listOf(pod, 4, 12).map((kinds) =>
    Array.from({ length: 240 }, (_, index) => ({ ...kinds[index % kinds.length]!, key: `default/p-${index}`, uid: `p-${index}` })),
  ),
);

function problemWith(somePods: fc.Arbitrary<PodToPlace[]>): fc.Arbitrary<Problem> {
  return fc
    .record({
      pods: somePods,
      pools: listOf(pool, 1, 3),
      types: listOf(type, 1, 8),
      nodes: listOf(node, 0, 4),
      daemonSets: listOf(daemonSet, 0, 2),
    })
    .map(({ pods, pools, types, nodes, daemonSets }) => ({
      pods,
      nodes,
      pools: pools.map((nodePool) => ({ nodePool, instanceTypes: types })),
      daemonSets,
      options: { preferencePolicy: "Ignore", minValuesPolicy: "Strict", wellKnownLabels: FIXTURE_LABELS },
    }));
}
