/** The funnel of a pool as lines. */
import type { FunnelStage, PoolFunnel } from "@joinery/scheduling";

const STAGE_TEXTS: Readonly<Record<string, string>> = {
  "node-pool": "the pool's own requirements",
  taints: "taints",
  fit: "room",
  "daemon-sets": "room beside the DaemonSets",
  offering: "an available offering",
  limits: "the pool's limits",
  "host-port": "host ports",
  "volume-limit": "volumes that can be attached",
  "volume-topology": "where the volumes are",
  "topology-spread": "topology spread",
  "pod-affinity": "pod affinity",
  "pod-anti-affinity": "pod anti-affinity",
  "min-values": "minValues of the pool",
  "reserved-capacity": "capacity reservations",
  "next-solve": "left to the next solve",
};

const DOMAINS_SHOWN_MAX = 8;

export function funnelLines({ nodePool, stages }: PoolFunnel): string[] {
  const [first] = stages;
  // Such a pool was not asked.
  if (first?.in === 0) return [`NodePool ${nodePool}: ${first.reason ?? "it has no instance types"}`];
  const lines = [`NodePool ${nodePool}: ${first?.in ?? 0} instance types`];
  for (const stage of stages) {
    lines.push(`  ${String(stage.out).padStart(4)}  ${stageText(stage)}${stage.reason ? `: ${stage.reason.replaceAll("\n", " ")}` : ""}`);
    for (const { domain, pods, who } of (stage.domains ?? []).slice(0, DOMAINS_SHOWN_MAX)) {
      lines.push(
        `          ${domain}  ${pods} ${pods === 1 ? "pod" : "pods"}${who.length > 0 ? `: ${who.join(", ")}${pods > who.length && who.length === 3 ? " …" : ""}` : ""}`,
      );
    }
  }
  return lines;
}

export function stageText({ stage, key }: Pick<FunnelStage, "stage" | "key">): string {
  if (stage === "requirement" || stage === "pool-label") return `${key}`;
  const text = STAGE_TEXTS[stage] ?? stage;
  return key === undefined || stage === "next-solve" ? text : `${text} over ${key}`;
}
