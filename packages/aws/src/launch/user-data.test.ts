import type { Ec2NodeClass, NodeClaim } from "@joinery/api";
import { describe, expect, test } from "vitest";
import { familyNamed } from "../instance-types/family.ts";
import { kubeletLabels, taintsOf, type UserDataFacts, userData } from "./user-data.ts";

const aClaim = (changes: Partial<NodeClaim["spec"]> = {}, labels: Record<string, string> = {}): NodeClaim => ({
  metadata: { name: "a", labels: { "karpenter.sh/nodepool": "default", ...labels } },
  spec: { nodeClassRef: { group: "karpenter.k8s.aws", kind: "EC2NodeClass", name: "default" }, requirements: [], ...changes },
});
const aClass = (changes: Partial<NonNullable<Ec2NodeClass["spec"]>> = {}): Ec2NodeClass => ({
  metadata: { name: "default" },
  spec: { amiSelectorTerms: [{ alias: "al2023@latest" }], subnetSelectorTerms: [], securityGroupSelectorTerms: [], ...changes },
});
const facts = (changes: Partial<UserDataFacts> = {}): UserDataFacts => ({
  nodeClass: aClass(),
  claim: aClaim(),
  cluster: { name: "demo", endpoint: "https://api", caBundle: "Y2E=", serviceCidr: "10.100.0.0/16", kubernetesVersion: "1.37" },
  family: familyNamed("AL2023"),
  capacityType: "spot",
  podsMax: 29,
  ...changes,
});
const text = (changes: Partial<UserDataFacts> = {}) => Buffer.from(userData(facts(changes)), "base64").toString("utf8");
const partsOf = (document: string) => document.split("--//\n").slice(1);
const configOf = (document: string) => {
  const last = partsOf(document).at(-1) ?? "";
  return JSON.parse(last.slice(last.indexOf("{"), last.lastIndexOf("}") + 1)) as {
    readonly spec: { readonly instance: unknown; readonly kubelet: { readonly config: unknown } };
  };
};

describe("AL2023", () => {
  test("I-1408: cluster, pods, taints and labels", () => {
    const document = text({ claim: aClaim({ taints: [{ key: "team", value: "a", effect: "NoSchedule" }] }) });
    expect(document).toContain('Content-Type: multipart/mixed; boundary="//"');
    expect(document).toContain("Content-Type: application/node.eks.aws\n\n# Karpenter Generated NodeConfig\n");
    expect(document.trimEnd().endsWith("--//--")).toBe(true);
    expect(configOf(document)).toEqual({
      apiVersion: "node.eks.aws/v1alpha1",
      kind: "NodeConfig",
      metadata: {},
      spec: {
        cluster: { apiServerEndpoint: "https://api", certificateAuthority: "Y2E=", cidr: "10.100.0.0/16", name: "demo" },
        containerd: {},
        instance: { localStorage: {} },
        kubelet: {
          config: {
            maxPods: 29,
            registerWithTaints: [
              { key: "team", value: "a", effect: "NoSchedule" },
              { key: "karpenter.sh/unregistered", effect: "NoExecute" },
            ],
          },
          flags: ["--node-labels=karpenter.sh/capacity-type=spot,karpenter.sh/do-not-sync-taints=true,karpenter.sh/nodepool=default"],
        },
      },
    });
  });

  test("RAID0 and kubelet settings are passed on", () => {
    const { spec } = configOf(text({ nodeClass: aClass({ instanceStorePolicy: "RAID0", kubelet: { serializeImagePulls: false } }) }));
    expect(spec.instance).toEqual({ localStorage: { strategy: "RAID0" } });
    expect(spec.kubelet.config).toMatchObject({ serializeImagePulls: false, maxPods: 29 });
  });

  test.each([
    { what: "nothing", own: "", types: [] },
    { what: "a script", own: "#!/bin/bash\necho hi", types: ["text/x-shellscript"] },
    { what: "a NodeConfig", own: "apiVersion: node.eks.aws/v1alpha1\nkind: NodeConfig", types: ["application/node.eks.aws"] },
    {
      what: "MIME",
      own: 'MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary="B"\n\n--B\nContent-Type: text/x-shellscript; charset="us-ascii"\n\n#!/bin/sh\n--B\nContent-Type: application/node.eks.aws\n\n{}\n--B--\n',
      types: ["text/x-shellscript", "application/node.eks.aws"],
    },
  ])("I-1407, scenario 50: $what of the user comes first", ({ own, types }) => {
    const parts = partsOf(text({ nodeClass: aClass({ userData: own }) }));
    expect(parts.map((part) => /Content-Type: ([^;\n]+)/.exec(part)?.[1])).toEqual([...types, "application/node.eks.aws"]);
  });
});

test("I-1401: Custom user data is copied untouched", () => {
  expect(text({ family: familyNamed("Custom"), nodeClass: aClass({ userData: "as it is" }) })).toBe("as it is");
});

test("I-1307, scenario 56: labels of Kubernetes' own domains are not the kubelet's to set", () => {
  const claim = aClaim(
    {},
    {
      "kubernetes.io/arch": "amd64",
      "foo.k8s.io/bar": "1",
      "node-restriction.kubernetes.io/x": "1",
      "topology.k8s.aws/zone-id": "use1-az1",
      plain: "yes",
    },
  );
  expect(Object.keys(kubeletLabels(facts({ claim })))).toEqual([
    "karpenter.sh/capacity-type",
    "karpenter.sh/do-not-sync-taints",
    "karpenter.sh/nodepool",
    "plain",
    "topology.k8s.aws/zone-id",
  ]);
  expect(kubeletLabels(facts({ family: familyNamed("Custom") }))).not.toHaveProperty("karpenter.sh/do-not-sync-taints");
});

test("I-1306: taints, startup taints, and the unregistered taint once", () => {
  const unregistered = { key: "karpenter.sh/unregistered", effect: "NoExecute" } as const;
  const claim = aClaim({ taints: [unregistered], startupTaints: [{ key: "agent", effect: "NoExecute" }] });
  expect(taintsOf(claim)).toEqual([unregistered, { key: "agent", effect: "NoExecute" }]);
});
