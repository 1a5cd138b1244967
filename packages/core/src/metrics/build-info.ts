/** What runs here, for dashboards. Rule O-230. */
import { Gauge, type Registry } from "./prometheus.ts";

export interface BuildInfo {
  readonly version: string;
  /** Of what runs the program, in the place where Karpenter shows Go's. */
  readonly runtimeVersion: string;
  readonly architecture: string;
  /** "" when it is not known. */
  readonly commit: string;
}

/** Also on a standby (O-77). */
export function registerBuildInfo(registry: Registry, { version, runtimeVersion, architecture, commit }: BuildInfo): void {
  new Gauge<"version" | "goversion" | "goarch" | "commit">({
    name: "karpenter_build_info",
    help: "What runs here.",
    labelNames: ["version", "goversion", "goarch", "commit"],
    registers: [registry],
  }).set({ version, goversion: runtimeVersion, goarch: architecture, commit }, 1);
}
