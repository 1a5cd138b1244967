/** The same for EC2NodeClasses. */
import { type AdmissionCase, collectCases } from "./admission-desk.test-support.ts";
import { aNodeClass } from "./examples.ts";

export const NODE_CLASS_CASES: readonly AdmissionCase[] = collectCases(({ about, each, accepts, refuses }) => {
  about("EC2NodeClass: A-63…A-72, X-30", () => {
    const card = (networkCardIndex: number, deviceIndex: number, interfaceType: string) => ({
      networkCardIndex,
      deviceIndex,
      interfaceType,
    });
    const ami = (...amiSelectorTerms: object[]) => ({ amiSelectorTerms });
    each(
      [
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
      ],
      "%s",
      (_, spec) => {
        accepts(aNodeClass(spec));
      },
    );

    each(
      [
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
        [
          "one of two terms mixes id",
          { ...ami({ id: "ami-1", name: "x" }, { id: "ami-2" }), amiFamily: "AL2" },
          /'id' is mutually exclusive/,
        ],
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
          (volumeSize) =>
            [`A-70: ${volumeSize}`, { blockDeviceMappings: [{ ebs: { volumeSize } }] }, /volumeSize/] as [string, object, RegExp],
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
      ],
      "not %s",
      (_, spec, message) => {
        refuses(aNodeClass(spec), message);
      },
    );

    about("no spec at all", () => {
      const { spec: _, ...bare } = aNodeClass();
      accepts(bare);
    });
  });
});
