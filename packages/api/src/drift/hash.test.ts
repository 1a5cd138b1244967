import { describe, expect, test } from "vitest";
import type { Ec2NodeClassSpec } from "../owned/ec2-node-class.ts";
import type { NodePool } from "../owned/node-pool.ts";
import { ec2NodeClassHash, effectiveAmiFamily } from "./ec2-node-class-hash.ts";
import { EC2_NODE_CLASS_HASHES, isStaticallyDrifted, migratedAnnotations, NODE_POOL_HASHES } from "./hash-annotations.ts";
import { nodePoolHash } from "./node-pool-hash.ts";

type Template = NodePool["spec"]["template"];
type Overrides = Partial<Template["spec"]> & { metadata?: Template["metadata"] };

function poolHash({ metadata, ...spec }: Overrides = {}): string {
  const nodeClassRef = { group: "karpenter.k8s.aws", kind: "EC2NodeClass", name: "default" };
  return nodePoolHash({ spec: { template: { metadata, spec: { nodeClassRef, requirements: [], expireAfter: "720h", ...spec } } } });
}

const dedicated = { key: "dedicated", value: "gpu", effect: "NoSchedule" } as const;
const foreign = { key: "example.com/x", effect: "NoExecute" } as const;

test.each<[string, Overrides, string]>([
  ["nothing else", {}, "6821555240594823858"],
  ["expireAfter 43200m", { expireAfter: "43200m" }, "6821555240594823858"],
  ["expireAfter Never", { expireAfter: "Never" }, "17369979337536258260"],
  ["expireAfter 0s", { expireAfter: "0s" }, "15640125381500602090"],
  ["label team=a", { metadata: { labels: { team: "a" } } }, "1617844334411263980"],
  ["labels {}", { metadata: { labels: {} } }, "1287117484082965808"],
  ["taints []", { taints: [] }, "17700736223175069915"],
  ["two taints", { taints: [dedicated, foreign] }, "7527850154135431441"],
  ["two taints, the other way round", { taints: [foreign, dedicated] }, "7527850154135431441"],
  ["a taint twice", { taints: [dedicated, dedicated] }, "17700736223175069915"],
  ["startupTaints", { startupTaints: [dedicated] }, "10086292261070021787"],
  ["terminationGracePeriod 5m", { terminationGracePeriod: "5m" }, "10273107103804485302"],
  ["terminationGracePeriod 0s", { terminationGracePeriod: "0s" }, "10356118934572431967"],
  ["ref name other", { nodeClassRef: { group: "karpenter.k8s.aws", kind: "EC2NodeClass", name: "other" } }, "1124401764309382548"],
  ["ref KWOKNodeClass", { nodeClassRef: { group: "karpenter.kwok.sh", kind: "KWOKNodeClass", name: "default" } }, "12745407319442031341"],
  [
    "all together",
    {
      metadata: { labels: { team: "a" }, annotations: { x: "y" } },
      taints: [
        { key: "a", effect: "NoSchedule" },
        { key: "b", value: "v", effect: "NoExecute" },
      ],
      terminationGracePeriod: "48h",
      expireAfter: "Never",
    },
    "564534687595008731",
  ],
])("A-131 NodePool: %s", (_, overrides, hash) => {
  expect(poolHash(overrides)).toBe(hash);
});

test("A-128: requirements, limits, weight and disruption are not hashed", () => {
  expect(poolHash({ requirements: [{ key: "a", operator: "Exists" }] })).toBe(poolHash());
});

const nodeClass = (overrides: Partial<Ec2NodeClassSpec> = {}): Ec2NodeClassSpec => ({
  role: "KarpenterNodeRole-demo",
  subnetSelectorTerms: [{ id: "subnet-1" }],
  securityGroupSelectorTerms: [{ id: "sg-1" }],
  amiSelectorTerms: [{ alias: "al2023@latest" }],
  metadataOptions: { httpEndpoint: "enabled", httpProtocolIPv6: "disabled", httpPutResponseHopLimit: 1, httpTokens: "required" },
  ...overrides,
});

test.each<[string, Partial<Ec2NodeClassSpec>, string, string]>([
  ["AL2023 by its alias", {}, "", "477699353285763520"],
  ["AL2023 by its name, too", { amiFamily: "AL2023" }, "", "477699353285763520"],
  ["Custom", { amiFamily: "Custom", amiSelectorTerms: [{ id: "ami-1" }] }, "", "4651159181161227969"],
  ["kubelet maxPods 110", { kubelet: { maxPods: 110 } }, "", "15797341907823663569"],
  ["empty kubelet", { kubelet: {} }, "", "477699353285763520"],
  ["CA bundle", {}, "test-ca-bundle", "12525533492228056022"],
  ["X-34 enclaves on", { enclaveOptions: { enabled: true } }, "", "663988904407290545"],
  ["X-34 enclaves off", { enclaveOptions: { enabled: false } }, "", "317752278574236916"],
])("A-131 EC2NodeClass: %s", (_, overrides, caBundle, hash) => {
  expect(ec2NodeClassHash(nodeClass(overrides), caBundle)).toBe(hash);
});

describe("EC2NodeClass, what counts", () => {
  const base = ec2NodeClassHash(nodeClass());
  test.each<[string, Partial<Ec2NodeClassSpec>]>([
    ["A-128 ipPrefixCount", { ipPrefixCount: 3 }],
    ["A-128 selector terms", { subnetSelectorTerms: [{ id: "subnet-2" }] }],
  ])("%s does not", (_, overrides) => {
    expect(ec2NodeClassHash(nodeClass(overrides))).toBe(base);
  });

  test("X-34 enclaveOptions absent, true and false are three", () => {
    const hashes = [undefined, { enabled: true }, { enabled: false }].map((enclaveOptions) =>
      ec2NodeClassHash(nodeClass({ enclaveOptions })),
    );
    expect(new Set(hashes).size).toBe(3);
  });

  test("A-129 a flag that is set to false is set", () => {
    expect(ec2NodeClassHash(nodeClass({ detailedMonitoring: false }))).not.toBe(base);
  });

  test("A-130 equal volume sizes hash alike", () => {
    const sized = (volumeSize: string) => ec2NodeClassHash(nodeClass({ blockDeviceMappings: [{ ebs: { volumeSize } }] }));
    expect(sized("1024Gi")).toBe(sized("1Ti"));
    expect(sized("1024Gi")).not.toBe(sized("2Ti"));
  });

  test("A-128 order of maps and lists does not", () => {
    const one = { tags: { a: "1", b: "2" }, kubelet: { maxPods: 1, podsPerCore: 2 } };
    const other = { tags: { b: "2", a: "1" }, kubelet: { podsPerCore: 2, maxPods: 1 } };
    expect(ec2NodeClassHash(nodeClass(one))).toBe(ec2NodeClassHash(nodeClass(other)));
  });
});

test.each([
  ["al2@v1", "AL2"],
  ["al2023@latest", "AL2023"],
  ["bottlerocket@1", "Bottlerocket"],
  ["windows2022@latest", "Windows2022"],
  ["custom@latest", "Custom"],
] as const)("A-73: %s is %s", (alias, family) => {
  expect(effectiveAmiFamily({ amiSelectorTerms: [{ alias }] })).toBe(family);
});

describe("A-125, A-126: annotations", () => {
  const { hash, version } = NODE_POOL_HASHES;
  const at = (value: string, of = "v3") => ({ [hash]: value, [version]: of });

  test.each([
    ["equal", at("1"), at("1"), false],
    ["different", at("1"), at("2"), true],
    ["other versions", at("1"), at("2", "v2"), false],
    ["no hash on the claim", at("1"), { [version]: "v3" }, false],
    ["nothing on the pool", undefined, at("2"), false],
  ])("%s", (_, owner, claim, drifted) => {
    expect(isStaticallyDrifted(NODE_POOL_HASHES, owner, claim)).toBe(drifted);
  });

  test("an undrifted claim gets hash and version, a drifted one the version only", () => {
    const stale = at("old", "test");
    expect(migratedAnnotations(NODE_POOL_HASHES, stale, "new", stale)).toEqual(at("new"));
    expect(migratedAnnotations(NODE_POOL_HASHES, stale, "new", stale, [{ type: "Drifted", status: "True" }])).toEqual({ [version]: "v3" });
  });

  test("a claim at the current version, or a pool at it, is left alone", () => {
    expect(migratedAnnotations(NODE_POOL_HASHES, at("old", "test"), "new", at("foreign"))).toBeUndefined();
    expect(migratedAnnotations(NODE_POOL_HASHES, at("old"), "new", at("x", "test"))).toBeUndefined();
    expect(EC2_NODE_CLASS_HASHES.currentVersion).toBe("v6");
  });
});
