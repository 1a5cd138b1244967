/** The NodeClaim object of a planned node, and that of a static pool. Rules S-177…S-180, S-71, L-196. */
import {
  formatResources,
  INITIALIZED_LABEL,
  INSTANCE_TYPE_LABEL,
  type NodeClaim,
  type NodePool,
  REGISTERED_LABEL,
  type Resources,
  sumResources,
} from "@joinery/api";
import type { RequirementItem } from "../instance-type.ts";
import type { PlannedNode } from "../plan.ts";
import { claimAnnotations, claimLabels } from "../solve/planned-node.ts";
import { templateRequirements } from "../solve/template.ts";
import { compareTexts } from "./names.ts";

/** What a provider sets where a NodePool says nothing (S-179). */
export interface ClaimDefaults {
  /** As a duration. */
  readonly terminationGracePeriod?: string;
}

/** Ready to be created; the API server makes its name. Requirements are sorted by key, type names by name (S-180). */
export function toNodeClaim(planned: PlannedNode, defaults: ClaimDefaults = {}): NodeClaim {
  const { nodePool, labels, annotations } = planned;
  const requirements = [...planned.requirements, instanceTypeItem(planned)];
  const requests = sumResources(planned.requests, planned.daemonSetRequests);
  return claimOf(nodePool, { labels, annotations, requirements, requests }, defaults);
}

/**
 * A NodeClaim of a static pool (L-196): like any other of the template, but for no pods, so it asks for no amounts and leaves the
 * choice of the type to the provider.
 * @param wellKnown labels whose values the launch decides
 */
export function toStaticNodeClaim(nodePool: NodePool, wellKnown: ReadonlySet<string>, defaults: ClaimDefaults = {}): NodeClaim {
  const requirements = templateRequirements(nodePool).without(REGISTERED_LABEL, INITIALIZED_LABEL);
  const labels = claimLabels(nodePool, requirements, wellKnown);
  return claimOf(nodePool, { labels, annotations: claimAnnotations(nodePool), requirements: requirements.toItems() }, defaults);
}

interface ClaimParts {
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  readonly requirements: readonly RequirementItem[];
  readonly requests?: Resources;
}

function claimOf(nodePool: NodePool, { labels, annotations, requirements, requests }: ClaimParts, defaults: ClaimDefaults): NodeClaim {
  const { nodeClassRef, taints = [], startupTaints = [], expireAfter } = nodePool.spec.template.spec;
  const { terminationGracePeriod = defaults.terminationGracePeriod } = nodePool.spec.template.spec;
  const poolName = nodePool.metadata?.name ?? "";
  return {
    apiVersion: "karpenter.sh/v1",
    kind: "NodeClaim",
    metadata: {
      generateName: `${poolName}-`,
      labels,
      annotations,
      ownerReferences: [
        { apiVersion: "karpenter.sh/v1", kind: "NodePool", name: poolName, uid: nodePool.metadata?.uid ?? "", blockOwnerDeletion: true },
      ],
    },
    spec: {
      nodeClassRef,
      requirements: requirements.toSorted((a, b) => compareTexts(a.key, b.key)).map(complete),
      ...(requests && { resources: { requests: formatResources(requests) } }),
      ...(taints.length > 0 && { taints: [...taints] }),
      ...(startupTaints.length > 0 && { startupTaints: [...startupTaints] }),
      ...(expireAfter !== undefined && { expireAfter }),
      ...(terminationGracePeriod !== undefined && { terminationGracePeriod }),
    },
  };
}

function instanceTypeItem({ instanceTypes, instanceTypeMinValues }: PlannedNode): RequirementItem {
  const values = instanceTypes.map(({ name }) => name).sort();
  return {
    key: INSTANCE_TYPE_LABEL,
    operator: "In",
    values,
    ...(instanceTypeMinValues !== undefined && { minValues: instanceTypeMinValues }),
  };
}

function complete({ values, ...item }: RequirementItem): NodeClaim["spec"]["requirements"][number] {
  return { ...item, ...(values !== undefined && { values: [...values] }) };
}
