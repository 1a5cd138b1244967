/** Section "Test scenarios" as far as admission decides. A real API server with these CRDs gives the same verdicts. */
import { describe, expect, test } from "vitest";
import { formatIssue } from "../schema/issue.ts";
import { aCapacityBuffer, aNodeClaim, aNodeClass, aNodeOverlay, aNodePool, aPoolOf } from "./examples.ts";
import { NodePools } from "./kinds.ts";
import type { NodePool } from "./node-pool.ts";
import { admitted, validateManifest } from "./validate-manifest.ts";

const verdict = (object: object, old?: object) => validateManifest(object, { old }).map(formatIssue);
const accepts = (object: object, old?: object) => expect(verdict(object, old)).toEqual([]);
const refuses = (object: object, message: RegExp, old?: object) => expect(verdict(object, old).join("\n")).toMatch(message);

const requirement = (key: string, operator: string, values?: readonly unknown[], minValues?: number) => ({
  key,
  operator,
  ...(values && { values }),
  ...(minValues !== undefined && { minValues }),
});
const everyKind = (...requirements: object[]) =>
  [
    ["NodePool", aPoolOf({ requirements })],
    ["NodeClaim", aNodeClaim({ requirements })],
    ["NodeOverlay", aNodeOverlay({ requirements })],
  ] as const;
const budget = (...budgets: object[]) => aNodePool({ disruption: { budgets } });
const labelled = (labels: object) => aPoolOf({}, { labels });
const ZONE = "topology.kubernetes.io/zone";

test("scenario 1, A-8, XT-36: defaults", () => {
  const minimal = aPoolOf({ requirements: [requirement(ZONE, "Exists")] }) as NodePool;
  const { spec } = admitted(NodePools, minimal);
  expect(spec.template.spec.expireAfter).toBe("720h");
  expect(spec.disruption).toEqual({ consolidateAfter: "0s", consolidationPolicy: "WhenEmptyOrUnderutilized", budgets: [{ nodes: "10%" }] });
  const partly = admitted(NodePools, aNodePool({ disruption: { consolidationPolicy: "WhenEmpty", budgets: [{}] } }) as NodePool);
  expect(partly.spec.disruption).toEqual({ consolidateAfter: "0s", consolidationPolicy: "WhenEmpty", budgets: [{ nodes: "10%" }] });
  expect(admitted(NodePools, aNodePool({ disruption: { budgets: [] } }) as NodePool).spec.disruption?.budgets).toEqual([]);
  expect(minimal.spec.disruption).toBeUndefined();
});

describe("scenario 2, A-3, A-4: durations", () => {
  test.each(["30s", "1h30m5s", "Never", "5m5m", "0s"])("%s", (expireAfter) => {
    accepts(aPoolOf({ expireAfter }));
    accepts(aNodeClaim({ expireAfter }));
  });
  test.each(["-1s", "1hr", "FooNever", "1.5h", "100ms", "10", "", "never"])("not %j", (expireAfter) => {
    refuses(aPoolOf({ expireAfter }), /expireAfter: Invalid value/);
    refuses(aNodeClaim({ expireAfter }), /expireAfter: Invalid value/);
  });
  test("no Never for terminationGracePeriod", () => {
    refuses(aPoolOf({ terminationGracePeriod: "Never" }), /terminationGracePeriod/);
    refuses(aNodeClaim({ terminationGracePeriod: "Never" }), /terminationGracePeriod/);
    accepts(aPoolOf({ terminationGracePeriod: "48h" }));
  });
  test("scenario 3, A-5: the text stays", () => {
    const pool = admitted(NodePools, aNodePool({ disruption: { consolidateAfter: "60m" } }) as NodePool);
    expect(pool.spec.disruption?.consolidateAfter).toBe("60m");
  });
});

test.each(["balanced", "whenempty", "WhenUnderutilized", "", "1"])("scenario 4, A-9: policy %j", (consolidationPolicy) => {
  refuses(aNodePool({ disruption: { consolidationPolicy } }), /consolidationPolicy: Unsupported value/);
  accepts(aNodePool({ disruption: { consolidationPolicy: "Balanced", consolidateAfter: "Never" } }));
});

describe("budgets: A-17, A-146, A-148, A-149, A-151, V-1", () => {
  test.each<[string, object]>([
    ["scenario 5: with duration", { nodes: "10", schedule: "* * * * *", duration: "20m" }],
    ["scenario 6: reasons", { reasons: ["Drifted", "Empty", "Unhealthy"] }],
    ...["20m", "2h", "2h20m", "2h20m0s", "20m0s", "90m", "0m"].map(
      (duration) => [duration, { schedule: "@daily", duration }] as [string, object],
    ),
    ...["0", "10", "0%", "05%", "100%", "99999999999"].map((nodes) => [nodes, { nodes }] as [string, object]),
    ...["@annuallyfoo", "@daily x", "foo bar baz qux quux", "0 0 * * * *", "TZ=Europe/Berlin 0 9 * * *"].map(
      (schedule) => [schedule, { schedule, duration: "1h" }] as [string, object],
    ),
    ["no reasons at all", { reasons: [] }],
  ])("%s", (_, one) => {
    accepts(budget(one));
  });
  test.each<[string, object, RegExp]>([
    ["schedule alone", { schedule: "* * * * *" }, /budgets\[0\]: Invalid value: 'schedule' must be set with 'duration'/],
    ["duration alone", { duration: "1h" }, /must be set with/],
    ...["30s", "20m2h", "1.5h", "-20m", ""].map(
      (duration) => [`duration ${duration}`, { schedule: "@daily", duration }, /budgets\[0\]\.duration/] as [string, object, RegExp],
    ),
    ...["101%", "1000%", "-10", "-10%", "5.5%", ""].map(
      (nodes) => [`nodes ${nodes}`, { nodes }, /budgets\[0\]\.nodes/] as [string, object, RegExp],
    ),
    ...["*", "* * * *", "* * * * ", "@wrongly", "@every 1h"].map(
      (schedule) => [`schedule ${schedule}`, { schedule, duration: "1h" }, /budgets\[0\]\.schedule/] as [string, object, RegExp],
    ),
    ...["Expired", "expired", "", "invalid", "unhealthy"].map(
      (reason) => [`reason ${reason}`, { reasons: [reason] }, /Unsupported value/] as [string, object, RegExp],
    ),
    ["a reason twice", { reasons: ["Empty", "Empty"] }, /reasons\[1\]: Duplicate value/],
  ])("not %s", (_, one, message) => {
    refuses(budget(one), message);
  });
  test("one of three, and 51", () => {
    refuses(budget({ nodes: "1" }, { duration: "1h" }, { nodes: "2" }), /budgets\[1\]: Invalid value/);
    refuses(budget(...Array.from({ length: 51 }, () => ({ nodes: "1" }))), /Too many: 51/);
  });
});

describe("static pools: A-16, A-18, A-19, A-21", () => {
  const fixed = (spec = {}) => aNodePool({ replicas: 3, ...spec });
  test("scenario 8: the number may change, its presence may not", () => {
    accepts(fixed({ replicas: 5 }), fixed());
    refuses(aNodePool(), /cannot change between static/, fixed());
    refuses(fixed(), /cannot change between static/, aNodePool());
  });
  test("scenario 9: limits and weight", () => {
    refuses(fixed({ limits: { cpu: 1000 } }), /limits: Invalid value: only 'limits.nodes'/);
    refuses(fixed({ limits: { nodes: 1, cpu: 1 } }), /limits/);
    accepts(fixed({ limits: { nodes: 100 } }));
    accepts(fixed({ limits: {} }));
    refuses(fixed({ weight: 25 }), /weight: Invalid value: 'weight' is not supported/);
    refuses(fixed({ replicas: -1 }), /replicas/);
    accepts(fixed({ disruption: { budgets: [{ nodes: "1" }], consolidationPolicy: "WhenEmpty" } }));
  });
});

describe("nodeClassRef: A-14, A-15, A-37, scenario 10", () => {
  const ref = (change: object) =>
    aPoolOf({ nodeClassRef: { group: "karpenter.k8s.aws", kind: "EC2NodeClass", name: "default", ...change } });
  test.each([
    [{ group: "" }, /group/],
    [{ group: "karpenter.test.sh/v1" }, /group in body should match/],
    [{ kind: "" }, /kind/],
    [{ name: "" }, /name/],
    [{ name: undefined }, /name: Required value/],
  ])("%o", (change, message) => {
    refuses(ref(change), message);
  });
  test("group and kind stay, the name may change", () => {
    refuses(ref({ group: "other" }), /nodeClassRef.group is immutable/, ref({}));
    refuses(ref({ kind: "Other" }), /nodeClassRef.kind is immutable/, ref({}));
    accepts(ref({ name: "other" }), ref({}));
  });
});

describe("template labels: A-10…A-13", () => {
  test.each([
    "karpenter.sh/nodepool",
    "karpenter.sh/unknown",
    "foo.karpenter.sh/x",
    "mykarpenter.sh/x",
    "karpenter.sh",
    "kubernetes.io/hostname",
    "karpenter.k8s.aws/foo",
    "karpenter.k8s.aws/nitro-sandbox",
    "x.karpenter.k8s.aws/instance-cpu",
  ])("scenarios 11, 12: not %s", (key) => {
    refuses(labelled({ [key]: "x" }), /labels: Invalid value: label .* is restricted/);
  });
  test.each([
    "karpenter.sh/capacity-type",
    "karpenter.sh.example.com/x",
    "spaces are not allowed",
    "kops.k8s.io/gpu",
    "kubernetes.io/key",
    "subdomain.k8s.io",
    "/karpenter.sh",
    "a/karpenter.sh/b",
    "karpenter.k8s.aws/instance-cpu",
    "karpenter.k8s.aws/ec2nodeclass",
    "karpenter.kwok.sh/anything",
    `${"a".repeat(250)}/x`,
  ])("scenarios 13, 14: %s", (key) => {
    accepts(labelled({ [key]: "x" }));
  });
  test("values and sizes", () => {
    refuses(labelled({ a: "/ is not allowed" }), /labels.a: Invalid value/);
    refuses(labelled({ a: "x".repeat(64) }), /Too long/);
    refuses(labelled(Object.fromEntries(Array.from({ length: 101 }, (_, at) => [`k${at}`, "v"]))), /Too many: 101/);
    accepts(labelled({ a: "" }));
  });
});

describe("taints: A-33", () => {
  const tainted = (key: string, more = {}) => aPoolOf({ taints: [{ key, effect: "NoSchedule", ...more }] });
  test.each(["a", "Test", "test.com/Test", "test.com.com/test", "key-only", `${"a".repeat(250)}/x`])("%s", (key) => accepts(tainted(key)));
  test.each(["", "test.com.com}", "Test.com/test", "test/test/test", "test/", "/test", "???"])("not %j", (key) =>
    refuses(tainted(key), /taints\[0\]\.key/),
  );
  test("values, effects, pairs", () => {
    refuses(tainted("a", { value: "" }), /taints\[0\]\.value/);
    refuses(tainted("a", { effect: "Never" }), /Unsupported value/);
    accepts(
      aPoolOf({
        taints: [
          { key: "a", effect: "NoSchedule" },
          { key: "a", effect: "NoExecute" },
        ],
        startupTaints: [{ key: "a", effect: "NoSchedule" }],
      }),
    );
  });
});

describe("requirements: A-22…A-31", () => {
  test.each([
    ["In without values", requirement(ZONE, "In", [])],
    ["In, values absent", requirement(ZONE, "In")],
    ["Gt with two", requirement(ZONE, "Gt", ["1", "2"])],
    ["Gt with none", requirement(ZONE, "Gt", [])],
    ["Lte negative", requirement(ZONE, "Lte", ["-1"])],
    ["Gte text", requirement(ZONE, "Gte", ["a"])],
    ["Lt fraction", requirement(ZONE, "Lt", ["1.5"])],
    ["Gt empty", requirement(ZONE, "Gt", [""])],
    ["Gt beyond 64 bits", requirement(ZONE, "Gt", ["9223372036854775808"])],
    ["unknown operator", requirement(ZONE, "Near", ["a"])],
    ["hostname", requirement("kubernetes.io/hostname", "Exists")],
    ["a restricted domain", requirement("foo.karpenter.sh/x", "Exists")],
    ["scenario 26: an unknown AWS label", requirement("karpenter.k8s.aws/foo", "Exists")],
    ["XT-19: nitro-sandbox", requirement("karpenter.k8s.aws/nitro-sandbox", "In", ["true"])],
    ["a bad key", requirement("a b", "Exists")],
    ["a key beyond 316", requirement(`${"a".repeat(313)}/abc`, "Exists")],
  ])("scenario 17: %s", (_, one) => {
    for (const [, object] of everyKind(one)) refuses(object, /requirements\[0\]/);
  });

  test.each([
    ["zero", requirement(ZONE, "Gte", ["0"])],
    ["the greatest integer", requirement(ZONE, "Gt", ["9223372036854775807"])],
    ["a sign", requirement(ZONE, "Gt", ["+5"])],
    ["Exists with values", requirement(ZONE, "Exists", ["x"])],
    ["A-28: odd values", requirement(ZONE, "In", ["a b", "x".repeat(100)])],
    ["an AWS label", requirement("karpenter.k8s.aws/instance-cpu", "Gt", ["4"])],
    ["scenario 26: the node class", requirement("karpenter.k8s.aws/ec2nodeclass", "Exists")],
    [
      "scenario 20: 90 values",
      requirement(
        ZONE,
        "In",
        Array.from({ length: 90 }, (_, at) => `z${at}`),
      ),
    ],
  ])("%s", (_, one) => {
    for (const [, object] of everyKind(one)) accepts(object);
  });

  test("scenario 18, A-29, A-46: NotIn without values", () => {
    const [[, pool], [, claim], [, overlay]] = everyKind(requirement(ZONE, "NotIn"));
    accepts(pool);
    accepts(claim);
    refuses(overlay, /operator 'NotIn' must have a value/);
  });

  test.each([
    [["t1"], 2],
    [["t1"], 0],
    [["t1"], -1],
    [["t1"], 51],
  ])("scenario 19, A-27: In %o with minValues %i", (values, minValues) => {
    refuses(aPoolOf({ requirements: [requirement(ZONE, "In", values, minValues)] }), /requirements\[0\]/);
    refuses(aNodeClaim({ requirements: [requirement(ZONE, "In", values, minValues)] }), /requirements\[0\]/);
  });

  test("minValues beside", () => {
    refuses(aPoolOf({ requirements: [requirement(ZONE, "Exists", undefined, 51)] }), /less than or equal to 50/);
    accepts(aPoolOf({ requirements: [requirement(ZONE, "Exists", undefined, 50), requirement(ZONE, "In", ["a", "a"], 2)] }));
    refuses(aNodeOverlay({ requirements: [requirement(ZONE, "In", ["a"], 1)] }), /unknown field "spec.requirements\[0\].minValues"/);
  });

  test("scenario 21: 101 requirements", () => {
    const many = Array.from({ length: 101 }, (_, at) => requirement(`k${at}`, "Exists"));
    for (const [, object] of everyKind(...many)) refuses(object, /Too many: 101/);
  });

  test("scenario 22: karpenter.sh/nodepool", () => {
    const [[, pool], [, claim], [, overlay]] = everyKind(requirement("karpenter.sh/nodepool", "In", ["x"]));
    refuses(pool, /label "karpenter.sh\/nodepool" is restricted/);
    accepts(claim);
    accepts(overlay);
  });

  test("A-24, A-49: what belongs to a provider", () => {
    const [[, pool], [, claim], [, overlay]] = everyKind(requirement("karpenter.kwok.sh/foo", "Exists"));
    refuses(pool, /label domain "karpenter.kwok.sh" is restricted/);
    refuses(claim, /label domain "karpenter.kwok.sh" is restricted/);
    accepts(overlay);
    const tenancy = everyKind(requirement("karpenter.k8s.aws/instance-tenancy", "Exists"));
    accepts(tenancy[0][1]);
    refuses(tenancy[2][1], /label domain "karpenter.k8s.aws" is restricted/);
  });
});

describe("NodeClaim: A-36, scenario 23", () => {
  test("spec is immutable, metadata is not", () => {
    refuses(aNodeClaim({ expireAfter: "1h" }), /spec: Invalid value: spec is immutable/, aNodeClaim({ expireAfter: "2h" }));
    accepts({ ...aNodeClaim(), metadata: { name: "example", labels: { a: "b" } } }, aNodeClaim());
  });
});

describe("NodeOverlay: A-45…A-51", () => {
  test.each(["43", "34.43", "0"])("price %s", (price) => accepts(aNodeOverlay({ price })));
  test.each(["+42", "-1", ".5", "42.", "42%", "3,14", "1e10", "0x42", "42a", " 42", "42 ", "42.0.0"])("not price %j", (price) =>
    refuses(aNodeOverlay({ price }), /price: Invalid value/),
  );
  test.each(["+43", "-43", "+34.43", "-34.43", "+.5", "+1%", "+298%", "+100.102%", "-1%", "-99.9%", "-100%"])(
    "priceAdjustment %s",
    (priceAdjustment) => accepts(aNodeOverlay({ priceAdjustment })),
  );
  test.each(["1", "1.3", "1%", "+5.", "-.5%", "-100.0%", "-101%"])("not priceAdjustment %s", (priceAdjustment) =>
    refuses(aNodeOverlay({ priceAdjustment }), /priceAdjustment: Invalid value/),
  );
  test("scenario 30, 32: both prices, capacity, weight", () => {
    refuses(aNodeOverlay({ price: "0.432", priceAdjustment: "+10%" }), /cannot set both/);
    refuses(aNodeOverlay({ capacity: { memory: "34Gi" } }), /capacity: Invalid value/);
    accepts(aNodeOverlay({ capacity: { "smarter-devices/fuse": 1 } }));
    refuses(aNodeOverlay({ weight: 0 }), /weight/);
    refuses(aNodeOverlay({ weight: 10001 }), /weight/);
    accepts(aNodeOverlay({ weight: 10000 }));
  });
});

describe("CapacityBuffer: A-58…A-60, scenario 34", () => {
  const podTemplateRef = { name: "template" };
  const scalableRef = { kind: "Deployment", name: "web" };
  test.each([
    [{ podTemplateRef, replicas: 0 }],
    [{ podTemplateRef, limits: {} }],
    [{ scalableRef }],
    [{ scalableRef: { apiGroup: "", ...scalableRef }, percentage: 0 }],
    [{}],
  ])("%o", (spec) => accepts(aCapacityBuffer(spec)));
  test.each([
    [{ podTemplateRef }, /'replicas' or 'limits' must be set/],
    [{ podTemplateRef, scalableRef, replicas: 1 }, /cannot set both/],
    [{ percentage: -1 }, /percentage/],
    [{ replicas: -1 }, /replicas/],
    [{ podTemplateRef: { name: "" }, replicas: 1 }, /podTemplateRef.name/],
    [{ scalableRef: { kind: "", name: "x" } }, /scalableRef.kind/],
  ])("not %o", (spec, message) => refuses(aCapacityBuffer(spec), message));
});

describe("EC2NodeClass: A-63…A-72, X-30", () => {
  const card = (networkCardIndex: number, deviceIndex: number, interfaceType: string) => ({ networkCardIndex, deviceIndex, interfaceType });
  const ami = (...amiSelectorTerms: object[]) => ({ amiSelectorTerms });
  test.each<[string, object]>([
    ["switching to an instance profile", { role: undefined, instanceProfile: "p" }],
    ["scenario 36: alias with Custom", { amiFamily: "Custom" }],
    ["alias with its own family", { amiFamily: "AL2023" }],
    [
      "several image terms",
      { ...ami({ id: "ami-1" }, { tags: { a: "b" } }, { name: "n", owner: "o" }, { ssmParameter: "/x" }), amiFamily: "AL2" },
    ],
    ["ssmParameter beside an id", { ...ami({ id: "ami-1", ssmParameter: "/x" }), amiFamily: "AL2" }],
    ["a Windows alias", ami({ alias: "windows2022@latest" })],
    ["a second @", ami({ alias: "al2023@v1@2" })],
    ["A-71: not every term mixes", { subnetSelectorTerms: [{ id: "subnet-1", tags: { a: "b" } }, { id: "subnet-2" }] }],
    ["A-72: empty tags", { subnetSelectorTerms: [{ tags: {} }] }],
    ["an unanchored id", { securityGroupSelectorTerms: [{ id: "my sg-1!" }] }],
    ["scenario 39: owner with tags", { capacityReservationSelectorTerms: [{ ownerID: "123456789012", tags: { a: "b" } }] }],
    ["tags of others", { tags: { "karpenter.sh/custom-key": "", "kubernetes.io/role/key": "x" } }],
    ["no interfaces", { networkInterfaces: [] }],
    ["two cards", { networkInterfaces: [card(0, 0, "interface"), card(1, 0, "efa-only")] }],
    ["connection tracking", { connectionTracking: { tcpEstablishedTimeout: 432000 } }],
    ["enclaves off", { enclaveOptions: { enabled: false } }],
    ["no CPU options", { cpuOptions: {} }],
    ["any kubelet", { kubelet: { maxPods: "vcpus * 10", foo: { bar: [1, 2.5] } } }],
    ...["1Gi", "59000Gi", "64000G", "64T", "17Ti", "20Ti", "58Ti", "Ti", "T"].map(
      (volumeSize) => [volumeSize, { blockDeviceMappings: [{ ebs: { volumeSize } }] }] as [string, object],
    ),
  ])("%s", (_, spec) => {
    accepts(aNodeClass(spec));
  });

  test.each<[string, object, RegExp]>([
    ["scenario 35: both", { instanceProfile: "p" }, /exactly one of \['role', 'instanceProfile'\]/],
    ["scenario 35: neither", { role: undefined }, /exactly one of/],
    ["an empty role", { role: "" }, /role/],
    ["scenario 36: another family", { amiFamily: "Bottlerocket" }, /amiFamily: Invalid value/],
    ["Ubuntu", { amiFamily: "Ubuntu" }, /amiFamily: Unsupported value/],
    ["scenario 37: no family", ami({ id: "ami-1" }), /must specify amiFamily/],
    ...["al2023", "al2023@", "@latest", "ubuntu@latest", "AL2023@latest", "windows2022@v1.0.0", `al2023@${"v".repeat(30)}`].map(
      (alias) => [`scenario 38: ${alias}`, ami({ alias }), /amiSelectorTerms\[0\]\.alias/] as [string, object, RegExp],
    ),
    ["scenario 38: alias and another term", ami({ alias: "al2023@latest" }, { id: "ami-1" }), /other amiSelectorTerms/],
    ["one term mixes alias", ami({ alias: "al2023@latest", tags: { a: "b" } }), /'alias' is mutually exclusive/],
    ["one of two terms mixes id", { ...ami({ id: "ami-1", name: "x" }, { id: "ami-2" }), amiFamily: "AL2" }, /'id' is mutually exclusive/],
    ["owner alone", { ...ami({ owner: "o" }), amiFamily: "AL2" }, /expected at least one/],
    ["no image terms", ami(), /amiSelectorTerms/],
    ["no subnets", { subnetSelectorTerms: [] }, /subnetSelectorTerms cannot be empty/],
    ["no groups", { securityGroupSelectorTerms: [] }, /securityGroupSelectorTerms cannot be empty/],
    ["an empty subnet term", { subnetSelectorTerms: [{}] }, /expected at least one/],
    ["A-71: every term mixes", { subnetSelectorTerms: [{ id: "subnet-1", tags: { a: "b" } }] }, /'id' is mutually exclusive/],
    ["group by name and id", { securityGroupSelectorTerms: [{ id: "sg-1", name: "x" }] }, /mutually exclusive/],
    ["empty tag value", { subnetSelectorTerms: [{ tags: { a: "" } }] }, /empty tag keys or values/],
    ["scenario 39: owner alone", { capacityReservationSelectorTerms: [{ ownerID: "123456789012" }] }, /expected at least one/],
    ["scenario 39: a bad id", { capacityReservationSelectorTerms: [{ id: "r-1" }] }, /should match/],
    ["A-71: no reservation terms", { capacityReservationSelectorTerms: [] }, /mutually exclusive/],
    [
      "scenario 40: two root volumes",
      { blockDeviceMappings: [{ rootVolume: true }, { rootVolume: true }] },
      /only one blockDeviceMappings with rootVolume/,
    ],
    ["A-68: neither snapshot nor size", { blockDeviceMappings: [{ ebs: {} }] }, /snapshotID or volumeSize/],
    [
      "scenario 40: rate without snapshot",
      { blockDeviceMappings: [{ ebs: { volumeSize: "1Gi", volumeInitializationRate: 100 } }] },
      /snapshotID must be set/,
    ],
    [
      "scenario 40: rate 99",
      { blockDeviceMappings: [{ ebs: { snapshotID: "s", volumeInitializationRate: 99 } }] },
      /greater than or equal to 100/,
    ],
    [
      "scenario 40: rate 888",
      { blockDeviceMappings: [{ ebs: { snapshotID: "s", volumeInitializationRate: 888 } }] },
      /less than or equal to 300/,
    ],
    ...["18Ti", "19Ti", "28Ti", "1m", "100T", "0", "0Gi", "64001G"].map(
      (volumeSize) => [`A-70: ${volumeSize}`, { blockDeviceMappings: [{ ebs: { volumeSize } }] }, /volumeSize/] as [string, object, RegExp],
    ),
    ["scenario 41: no primary", { networkInterfaces: [card(0, 1, "interface")] }, /must include an interface/],
    ["scenario 41: a pair twice", { networkInterfaces: [card(0, 0, "interface"), card(0, 0, "efa-only")] }, /must be unique/],
    [
      "scenario 41: two efa-only",
      { networkInterfaces: [card(0, 0, "interface"), card(1, 0, "efa-only"), card(1, 1, "efa-only")] },
      /only one efa-only/,
    ],
    ["scenario 41: no timeouts", { connectionTracking: {} }, /connectionTracking: Invalid value: at least one/],
    ["scenario 41: tcp 59", { connectionTracking: { tcpEstablishedTimeout: 59 } }, /tcpEstablishedTimeout/],
    ...[
      "",
      "eks:eks-cluster-name",
      "karpenter.sh/nodepool",
      "karpenter.sh/nodeclaim",
      "karpenter.k8s.aws/ec2nodeclass",
      "kubernetes.io/cluster/test",
      "kubernetes.io/clusterfoo",
    ].map((key) => [`scenario 42, A-67: tag ${key}`, { tags: { [key]: "x" } }, /tags: Invalid value/] as [string, object, RegExp]),
    ["hop limit", { metadataOptions: { httpPutResponseHopLimit: 65 } }, /httpPutResponseHopLimit/],
    ["XT-18: enclaves without the flag", { enclaveOptions: {} }, /enclaveOptions.enabled: Required value/],
    ["a placement group by neither", { placementGroupSelector: {} }, /exactly one of/],
    ["a placement group by both", { placementGroupSelector: { id: "pg-1", name: "x" } }, /exactly one of/],
    ["nested virtualization", { cpuOptions: { nestedVirtualization: "yes" } }, /Unsupported value/],
    ["a negative prefix count", { ipPrefixCount: -1 }, /ipPrefixCount/],
    ["a list for kubelet", { kubelet: [] }, /kubelet/],
  ])("not %s", (_, spec, message) => {
    refuses(aNodeClass(spec), message);
  });

  test("no spec at all", () => {
    const { spec: _, ...bare } = aNodeClass();
    accepts(bare);
  });
});

describe("strangers", () => {
  test.each([
    [{ apiVersion: "karpenter.sh/v1beta1", kind: "NodePool" }, /served as karpenter.sh\/v1 only/],
    [{ apiVersion: "karpenter.k8s.aws/v1beta1", kind: "EC2NodeClass" }, /served as karpenter.k8s.aws\/v1 only/],
    [{ apiVersion: "karpenter.sh/v1alpha5", kind: "Provisioner" }, /replaced by NodePool in karpenter.sh\/v1/],
    [{ apiVersion: "karpenter.k8s.aws/v1alpha1", kind: "AWSNodeTemplate" }, /replaced by EC2NodeClass/],
    [{ apiVersion: "karpenter.sh/v1", kind: "EC2NodeClass" }, /served as karpenter.k8s.aws\/v1 only/],
    [{ apiVersion: "karpenter.sh/v1", kind: "Nodepool" }, /no matches for kind "Nodepool"/],
  ])("%o", (object, message) => {
    refuses(object, message);
  });
  test.each([
    { apiVersion: "v1", kind: "Pod" },
    { apiVersion: "autoscaling.x-k8s.io/v1alpha1", kind: "ProvisioningRequest" },
    { kind: "NodePool" },
    null,
    [],
  ])("not ours: %o", (object) => {
    expect(validateManifest(object)).toEqual([]);
  });
  test("unknown fields, and metadata", () => {
    refuses(aNodePool({ foo: 1 }), /unknown field "spec.foo"/);
    refuses(aPoolOf({}, { name: "x" }), /unknown field "spec.template.metadata.name"/);
    refuses({ ...aNodePool(), metadata: { name: "Bad_Name" } }, /metadata.name: Invalid value/);
    refuses({ ...aNodePool(), metadata: {} }, /metadata.name: Required value/);
    refuses({ ...aNodePool(), metadata: { name: "x", labels: { "a b": "c" } } }, /metadata.labels\[a b\]/);
    accepts({ ...aNodePool(), metadata: { generateName: "x-" }, status: { nodes: "ignored" } });
  });
});
