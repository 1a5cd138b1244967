/** The nodes of the sandbox with what they are and what they cost. */
import { CAPACITY_TYPE_LABEL, EKS_COMPUTE_TYPE_LABEL, INSTANCE_TYPE_LABEL, type Node, type Pod, ZONE_LABEL } from "@joinery/api";
import { renderTable } from "../terminal/table.ts";

export interface Prices {
  /** USD per hour; undefined where unknown. */
  priceOf(instanceType: string, zone: string, capacityType: string): number | undefined;
  /** Capacity types whose prices a model estimates. */
  readonly estimatedCapacityTypes: ReadonlySet<string>;
}

/** us-east-1, Linux on x86, per vCPU and per GB (rule F-69). */
const FARGATE_VCPU_USD = 0.04048;
const FARGATE_GB_USD = 0.004445;

export function nodeTable(nodes: readonly Node[], pods: readonly Pod[], prices: Prices): string {
  const podsOf = Map.groupBy(pods, ({ spec }) => spec.nodeName ?? "");
  const rows = nodes.map((node) => {
    const labels = node.metadata?.labels ?? {};
    const name = node.metadata?.name ?? "";
    const bound = podsOf.get(name) ?? [];
    const place = labels[EKS_COMPUTE_TYPE_LABEL] === "fargate" ? fargatePlace(bound) : ec2Place(labels, prices);
    return {
      price: place.usdPerHour,
      cells: [name, place.type, labels[ZONE_LABEL] ?? "", place.capacity, place.priceText, String(bound.length)],
    };
  });
  const typeAndName = ({ cells }: (typeof rows)[number]) => `${cells[1]} ${cells[0]}`;
  rows.sort((a, b) => (typeAndName(a) < typeAndName(b) ? -1 : 1));
  const total = rows.reduce((sum, { price }) => sum + (price ?? 0), 0);
  const isEstimated = rows.some(({ cells }) => cells[4]!.startsWith("~"));
  const table = renderTable(
    ["NODE", "TYPE", "ZONE", "CAPACITY TYPE", "$/HOUR", "PODS"],
    rows.map(({ cells }) => cells),
  );
  const note = isEstimated ? " (~ spot prices are estimates of a model)" : "";
  return `${table.join("\n")}\nTogether ${isEstimated ? "~" : ""}${total.toFixed(4)} $ per hour${note}\n`;
}

interface Place {
  readonly type: string;
  readonly capacity: string;
  readonly priceText: string;
  readonly usdPerHour: number | undefined;
}

function ec2Place(labels: Readonly<Record<string, string>>, { priceOf, estimatedCapacityTypes }: Prices): Place {
  const type = labels[INSTANCE_TYPE_LABEL] ?? "";
  const capacity = labels[CAPACITY_TYPE_LABEL] ?? "";
  const usdPerHour = priceOf(type, labels[ZONE_LABEL] ?? "", capacity);
  const mark = estimatedCapacityTypes.has(capacity) ? "~" : "";
  return { type, capacity, usdPerHour, priceText: usdPerHour === undefined ? "?" : `${mark}${usdPerHour.toFixed(4)}` };
}

/** F-56, F-69: what was provisioned is billed. */
function fargatePlace(bound: readonly Pod[]): Place {
  const size = bound[0]?.metadata?.annotations?.CapacityProvisioned ?? "";
  const [, vcpu, memory] = /^([\d.]+)vCPU ([\d.]+)GB$/.exec(size) ?? [];
  const usdPerHour = vcpu === undefined ? undefined : Number(vcpu) * FARGATE_VCPU_USD + Number(memory) * FARGATE_GB_USD;
  return { type: `fargate ${size}`.trim(), capacity: "fargate", usdPerHour, priceText: usdPerHour?.toFixed(4) ?? "?" };
}
