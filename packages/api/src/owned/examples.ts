/** The least valid object of each kind, with changes: for tests here and in other rooms. */

type Changes = object;

const REF = { group: "karpenter.k8s.aws", kind: "EC2NodeClass", name: "default" };
const metadata = { name: "example" };

/** A NodePool whose spec is changed as said. */
export function aNodePool(spec: Changes = {}) {
  return {
    apiVersion: "karpenter.sh/v1",
    kind: "NodePool",
    metadata,
    spec: { template: { spec: { nodeClassRef: REF, requirements: [] } }, ...spec },
  };
}

/** A NodePool whose template is changed as said. */
export function aPoolOf(templateSpec: Changes = {}, templateMetadata?: Changes) {
  const spec = { nodeClassRef: REF, requirements: [], ...templateSpec };
  return aNodePool({ template: { ...(templateMetadata && { metadata: templateMetadata }), spec } });
}

export function aNodeClaim(spec: Changes = {}) {
  return { apiVersion: "karpenter.sh/v1", kind: "NodeClaim", metadata, spec: { nodeClassRef: REF, requirements: [], ...spec } };
}

export function aNodeOverlay(spec: Changes = {}) {
  return { apiVersion: "karpenter.sh/v1alpha1", kind: "NodeOverlay", metadata, spec: { requirements: [], ...spec } };
}

export function aCapacityBuffer(spec: Changes = {}) {
  return { apiVersion: "autoscaling.x-k8s.io/v1beta1", kind: "CapacityBuffer", metadata: { ...metadata, namespace: "default" }, spec };
}

export function aNodeClass(spec: Changes = {}) {
  return {
    apiVersion: "karpenter.k8s.aws/v1",
    kind: "EC2NodeClass",
    metadata,
    spec: {
      role: "KarpenterNodeRole-demo",
      subnetSelectorTerms: [{ id: "subnet-1" }],
      securityGroupSelectorTerms: [{ id: "sg-1" }],
      amiSelectorTerms: [{ alias: "al2023@latest" }],
      ...spec,
    },
  };
}
