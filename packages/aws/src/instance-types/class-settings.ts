/** What of a node class bears on its instance types: capacity, overhead, and which of them it can use. Rules I-401…I-413, I-601…I-608, I-803. */
import { type Ec2NodeClassSpec, effectiveAmiFamily } from "@joinery/api";
import type { MachineSettings } from "./capacity.ts";
import type { CompatibilitySettings } from "./compatibility.ts";
import { familyNamed } from "./family.ts";
import type { KubeletSettings } from "./kubelet-settings.ts";

export type ClassSettings = Omit<MachineSettings, "vmMemoryOverheadPercent" | "reservedEnis"> & CompatibilitySettings;

/** @param kubelet what has been read of the class's `spec.kubelet` */
export function classSettings(spec: Ec2NodeClassSpec | undefined, kubelet: KubeletSettings): ClassSettings {
  return {
    kubelet,
    family: familyNamed(spec === undefined ? "Custom" : effectiveAmiFamily(spec)),
    instanceStorePolicy: spec?.instanceStorePolicy,
    blockDeviceMappings: spec?.blockDeviceMappings,
    networkInterfaces: spec?.networkInterfaces,
    cpuOptions: spec?.cpuOptions,
    connectionTracking: spec?.connectionTracking,
    enclaveOptions: spec?.enclaveOptions,
  };
}
