/** A plan as `joinery plan -o json` prints it: the contract that other tools read. Equal plans give equal bytes. */
import { formatResources } from "@joinery/api";
import type { RequirementItem } from "../instance-type.ts";
import type { CheapestOffering, Plan, PlannedNode } from "../plan.ts";
import type { Reason } from "../reason.ts";
import { sentence } from "../sentence.ts";
import { instancesUsdPerHour, roundedPrice } from "./plan-price.ts";

export interface PlanStats {
  readonly pods: number;
  readonly instanceTypes: number;
  /** The solve alone. */
  readonly solveMilliseconds: number;
}

export interface PlanDocumentOptions {
  readonly stats: PlanStats;
  /** Of the nodes whose type and offering the catalogue knows. */
  readonly existingUsdPerHour: number;
  readonly flexibilityUsdPerHour?: number | undefined;
}

export interface PlanDocument {
  readonly apiVersion: "joinery.dev/v1";
  readonly kind: "Plan";
  readonly newNodes: readonly NewNodeDocument[];
  readonly existingNodes: Plan["existingNodes"];
  readonly unschedulable: readonly { readonly pod: string; readonly reasons: readonly ReasonDocument[] }[];
  readonly cost: {
    readonly currency: "USD";
    readonly newPerHour: number;
    readonly existingPerHour: number;
    /** What the greedy plan would cost; where a cheaper one was looked for. */
    readonly greedyPerHour?: number;
    /** What it costs that spot nodes keep enough types to choose from. */
    readonly flexibilityPerHour?: number;
  };
  readonly stats: PlanStats;
}

export interface NewNodeDocument {
  readonly name: string;
  readonly nodePool: string;
  readonly requirements: readonly RequirementItem[];
  readonly labels: Readonly<Record<string, string>>;
  readonly taints: PlannedNode["taints"];
  readonly startupTaints: PlannedNode["startupTaints"];
  readonly instanceTypes: readonly string[];
  readonly cheapest: { readonly instanceType: string; readonly zone: string; readonly capacityType: string; readonly pricePerHour: number };
  readonly requests: Readonly<Record<string, string>>;
  readonly daemonSetRequests: Readonly<Record<string, string>>;
  readonly pods: readonly string[];
}

export interface ReasonDocument {
  readonly code: Reason["kind"];
  readonly nodePool?: string;
  readonly message: string;
  readonly detail: Readonly<Record<string, unknown>>;
}

/** The plan as people and programs get it: amounts as quantities, prices in US dollars per hour. */
export function toPlanDocument(plan: Plan, { stats, existingUsdPerHour, flexibilityUsdPerHour }: PlanDocumentOptions): PlanDocument {
  return {
    apiVersion: "joinery.dev/v1",
    kind: "Plan",
    newNodes: plan.newNodes.map(newNodeDocument),
    existingNodes: plan.existingNodes.map(({ name, pods }) => ({ name, pods })),
    unschedulable: plan.unschedulable.map(({ pod, reasons }) => ({ pod, reasons: reasons.map(toReasonDocument) })),
    cost: {
      currency: "USD",
      newPerHour: roundedPrice(instancesUsdPerHour(plan)),
      existingPerHour: roundedPrice(existingUsdPerHour),
      ...(plan.improvement !== undefined && { greedyPerHour: roundedPrice(plan.improvement.greedyUsdPerHour) }),
      ...(flexibilityUsdPerHour !== undefined && { flexibilityPerHour: roundedPrice(flexibilityUsdPerHour) }),
    },
    stats,
  };
}

/** A reason with its code, sentence and facts; amounts as canonical quantities. */
export function toReasonDocument(reason: Reason): ReasonDocument {
  const { kind, ...facts } = reason;
  const nodePool = "nodePool" in reason ? reason.nodePool : undefined;
  const detail: Record<string, unknown> = { ...facts };
  delete detail.nodePool;
  delete detail.message;
  if ("requests" in reason) detail.requests = formatResources(reason.requests);
  if (reason.kind === "over-limit") Object.assign(detail, formattedLimit(reason));
  if ("filter" in reason && reason.filter !== undefined) {
    const { category, requirements, least, most } = reason.filter;
    detail.filter = { category, requirements, least: formatResources(least), ...(most && { most: formatResources(most) }) };
  }
  return { code: kind, ...(nodePool !== undefined && { nodePool }), message: sentence(reason), detail };
}

function newNodeDocument(node: PlannedNode): NewNodeDocument {
  return {
    name: node.name,
    nodePool: node.nodePool.metadata?.name ?? "",
    requirements: node.requirements,
    labels: sorted(node.labels),
    taints: node.taints,
    startupTaints: node.startupTaints,
    instanceTypes: node.instanceTypes.map(({ name }) => name),
    cheapest: cheapestDocument(node.cheapest),
    requests: formatResources(node.requests),
    daemonSetRequests: formatResources(node.daemonSetRequests),
    pods: node.pods,
  };
}

function cheapestDocument({ instanceType, zone, capacityType, priceUsdPerHour }: CheapestOffering): NewNodeDocument["cheapest"] {
  return { instanceType, zone, capacityType, pricePerHour: roundedPrice(priceUsdPerHour) };
}

function formattedLimit({ resource, used, limit }: Extract<Reason, { kind: "over-limit" }>): Record<string, string> {
  return { used: formatResources({ [resource]: used })[resource]!, limit: formatResources({ [resource]: limit })[resource]! };
}

function sorted(labels: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(labels).sort(([a], [b]) => (a < b ? -1 : 1)));
}
