/** The Node object that stands for a machine that is not there. Section 8 of the API chapter. */
import {
  apiVersionOf,
  formatResources,
  HOSTNAME_LABEL,
  type Node,
  type NodeClaim,
  Nodes,
  type Taint,
  UNREGISTERED_TAINT,
} from "@joinery/api";
import { allocatableOf, decidedLabels } from "@joinery/scheduling";
import type { Choice } from "./claim-fit.ts";
import { CLAIM_UID_ANNOTATION, FAKE_NODE_LABEL, INSTANCE_PRICE_LABEL, PARTITION_LABEL, PROVIDER_ID_PREFIX } from "./labels.ts";

export interface NodeFacts {
  readonly claim: NodeClaim;
  readonly choice: Choice;
  /** RFC 3339. */
  readonly now: string;
  readonly bootId: string;
}

export function providerIdOf(claim: NodeClaim): string {
  return `${PROVIDER_ID_PREFIX}${claim.metadata?.name ?? ""}`;
}

/** Labels that the choice decides: what the type and the offering are single-valued in. */
function labelsOf({ type, offering }: Choice): Readonly<Record<string, string>> {
  return { ...decidedLabels(type.requirements), ...decidedLabels(offering.requirements) };
}

/** A Node that is Ready at once and carries the taint that only registration removes. */
export function nodeOf({ claim, choice, now, bootId }: NodeFacts): Node {
  const name = claim.metadata?.name ?? "";
  const labels = labelsOf(choice);
  return {
    apiVersion: apiVersionOf(Nodes),
    kind: Nodes.kind,
    metadata: {
      name,
      labels: {
        ...labels,
        ...claim.metadata?.labels,
        [HOSTNAME_LABEL]: name,
        [FAKE_NODE_LABEL]: "fake",
        [PARTITION_LABEL]: "a",
        [INSTANCE_PRICE_LABEL]: String(choice.offering.priceUsdPerHour),
      },
      annotations: { ...claim.metadata?.annotations, [FAKE_NODE_LABEL]: "fake", [CLAIM_UID_ANNOTATION]: claim.metadata?.uid ?? "" },
    },
    spec: { providerID: providerIdOf(claim), taints: taintsOf(claim) },
    status: {
      capacity: formatResources(choice.type.capacity),
      allocatable: formatResources(allocatableOf(choice.type)),
      phase: "Running",
      addresses: [{ type: "Hostname", address: name }],
      conditions: [
        {
          type: "Ready",
          status: "True",
          reason: "KubeletReady",
          message: "the machine is simulated",
          lastHeartbeatTime: now,
          lastTransitionTime: now,
        },
      ],
      nodeInfo: {
        architecture: labels["kubernetes.io/arch"] ?? "",
        operatingSystem: labels["kubernetes.io/os"] ?? "linux",
        bootID: bootId,
        machineID: "",
        systemUUID: "",
        kernelVersion: "",
        osImage: "",
        containerRuntimeVersion: "",
        kubeletVersion: "fake",
        kubeProxyVersion: "fake",
      },
    },
  };
}

function taintsOf({ spec }: NodeClaim): readonly Taint[] {
  const own = [...(spec.taints ?? []), ...(spec.startupTaints ?? [])].filter(({ key }) => key !== UNREGISTERED_TAINT.key);
  return [...own, UNREGISTERED_TAINT];
}
