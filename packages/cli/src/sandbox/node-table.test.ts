import type { Node, Pod } from "@joinery/api";
import { expect, test } from "vitest";
import { nodeTable } from "./node-table.ts";

const node = (name: string, labels: Record<string, string>): Node => ({ metadata: { name, labels } });
const pod = (nodeName: string, annotations: Record<string, string> = {}): Pod => ({
  metadata: { name: "p", annotations },
  spec: { nodeName, containers: [] },
});

test("type, zone, capacity type and price of every node; F-69: Fargate is billed by what was provisioned", () => {
  const nodes = [
    node("ip-1", {
      "node.kubernetes.io/instance-type": "m7i.large",
      "topology.kubernetes.io/zone": "us-east-1a",
      "karpenter.sh/capacity-type": "spot",
    }),
    node("fargate-ip-2", { "eks.amazonaws.com/compute-type": "fargate", "topology.kubernetes.io/zone": "us-east-1b" }),
    node("stranger", {}),
  ];
  const pods = [pod("ip-1"), pod("ip-1"), pod("fargate-ip-2", { CapacityProvisioned: "0.25vCPU 0.5GB" })];
  const priceOf = (type: string) => (type === "m7i.large" ? 0.03 : undefined);
  expect(
    nodeTable(nodes, pods, { priceOf, estimatedCapacityTypes: new Set(["spot"]) })
      .replace(/ {2,}/g, "  ")
      .split("\n"),
  ).toEqual([
    "NODE  TYPE  ZONE  CAPACITY TYPE  $/HOUR  PODS",
    "stranger  ?  0",
    "fargate-ip-2  fargate 0.25vCPU 0.5GB  us-east-1b  fargate  0.0123  1",
    "ip-1  m7i.large  us-east-1a  spot  ~0.0300  2",
    "Together ~0.0423 $ per hour (~ spot prices are estimates of a model)",
    "",
  ]);
});
