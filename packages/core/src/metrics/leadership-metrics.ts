/** Who leads, and how easily. Rule O-239. */
import { Counter, Gauge, type Registry } from "./prometheus.ts";

export function createLeadershipMetrics(registry: Registry) {
  const registers = [registry];
  const labelNames = ["name"] as const;
  return {
    master: new Gauge<"name">({
      name: "leader_election_master_status",
      help: "Whether this replica leads.",
      labelNames: [...labelNames],
      registers,
    }),
    slowPath: new Counter<"name">({
      name: "leader_election_slowpath_total",
      help: "How often the Lease had to be read before it could be written.",
      labelNames: [...labelNames],
      registers,
    }),
  };
}
