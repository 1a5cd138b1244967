/** What the simulated clusters have in common: their name, some instance types, the definitions, a node class, and NodePools of it. */
import { CustomResourceDefinitions, crdOf, Ec2NodeClasses, Namespaces, type NodePool, OWNED_KINDS } from "@joinery/api";
import { type Ec2Catalogue, loadEc2Catalogue } from "@joinery/aws";
import type { KubeClient } from "@joinery/kube";

export const CLUSTER = "demo";
/** Enough to choose from, and quick. */
const FAMILIES = /^(c6a|m6a|r6a|m6g|c7g|c6i)\./;
let whole: Promise<Ec2Catalogue> | undefined;

export async function someTypes(): Promise<Ec2Catalogue> {
  whole ??= loadEc2Catalogue();
  const catalogue = await whole;
  return { ...catalogue, types: catalogue.types.filter(({ InstanceType }) => FAMILIES.test(InstanceType)) };
}

/** All but NodePools. */
export async function installNodeClass(user: KubeClient): Promise<void> {
  for (const kind of OWNED_KINDS) await user.create(CustomResourceDefinitions, crdOf(kind));
  await user.create(Namespaces, { metadata: { name: "karpenter" } });
  const selector = [{ tags: { "karpenter.sh/discovery": CLUSTER } }];
  await user.create(Ec2NodeClasses, {
    metadata: { name: "default" },
    spec: {
      role: "KarpenterNodeRole-demo",
      amiSelectorTerms: [{ alias: "al2023@latest" }],
      subnetSelectorTerms: selector,
      securityGroupSelectorTerms: selector,
    },
  });
}

/** Nodes of at most eight cores. */
export function aSmallPool(name: string, capacityTypes: readonly string[], expireAfter: string): NodePool {
  return {
    metadata: { name },
    spec: {
      template: {
        spec: {
          nodeClassRef: { group: "karpenter.k8s.aws", kind: "EC2NodeClass", name: "default" },
          requirements: [
            { key: "karpenter.sh/capacity-type", operator: "In", values: capacityTypes },
            { key: "karpenter.k8s.aws/instance-cpu", operator: "Lt", values: ["9"] },
          ],
          expireAfter,
        },
      },
    },
  };
}
