import { expect, test } from "vitest";
import type { InstanceTypeInfo } from "../ec2/instance-type-info.ts";
import { type CompatibilitySettings, isUsable } from "./compatibility.ts";
import { familyNamed } from "./family.ts";

const anInfo = (changes: Partial<InstanceTypeInfo> = {}): InstanceTypeInfo => ({
  InstanceType: "m5.large",
  Hypervisor: "nitro",
  NetworkInfo: {
    EnaSupport: "required",
    NetworkCards: [{ NetworkCardIndex: 0, MaximumNetworkInterfaces: 4 }],
    EfaInfo: { MaximumEfaInterfaces: 1 },
  },
  ...changes,
});
const nic = (networkCardIndex: number, deviceIndex: number, interfaceType: "interface" | "efa-only" = "interface") => ({
  networkCardIndex,
  deviceIndex,
  interfaceType,
});

/** Scenarios 32 to 34, XT-17, XT-21. */
test.each<{ rule: string; info?: Partial<InstanceTypeInfo>; settings: Partial<CompatibilitySettings>; usable: boolean }>([
  { rule: "nothing asked", settings: {}, usable: true },
  { rule: "a1 on AL2023", info: { InstanceType: "a1.medium" }, settings: {}, usable: false },
  { rule: "a1 on Bottlerocket", info: { InstanceType: "a1.medium" }, settings: { family: familyNamed("Bottlerocket") }, usable: true },
  { rule: "one EFA of one", settings: { networkInterfaces: [nic(0, 0), nic(0, 1, "efa-only")] }, usable: true },
  { rule: "two EFAs of one", settings: { networkInterfaces: [nic(0, 0), nic(0, 1, "efa-only"), nic(0, 2, "efa-only")] }, usable: false },
  {
    rule: "no EFA at all",
    info: { NetworkInfo: { NetworkCards: [{ NetworkCardIndex: 0, MaximumNetworkInterfaces: 4 }] } },
    settings: { networkInterfaces: [nic(0, 0), nic(0, 1, "efa-only")] },
    usable: false,
  },
  { rule: "card 1 of one", settings: { networkInterfaces: [nic(0, 0), nic(1, 0)] }, usable: false },
  { rule: "device 5 of four", settings: { networkInterfaces: [nic(0, 0), nic(0, 5)] }, usable: false },
  {
    rule: "no ENA",
    info: { NetworkInfo: { EnaSupport: "unsupported", NetworkCards: [{ NetworkCardIndex: 0, MaximumNetworkInterfaces: 4 }] } },
    settings: { networkInterfaces: [nic(0, 0)] },
    usable: false,
  },
  { rule: "nested virtualisation", settings: { cpuOptions: { nestedVirtualization: "enabled" } }, usable: false },
  {
    rule: "nested virtualisation supported",
    info: { ProcessorInfo: { SupportedFeatures: ["nested-virtualization"] } },
    settings: { cpuOptions: { nestedVirtualization: "enabled" } },
    usable: true,
  },
  { rule: "nested virtualisation off", settings: { cpuOptions: { nestedVirtualization: "disabled" } }, usable: true },
  { rule: "tracking on xen", info: { Hypervisor: "xen" }, settings: { connectionTracking: { udpTimeout: 30 } }, usable: false },
  { rule: "tracking on nitro", settings: { connectionTracking: { udpTimeout: 30 } }, usable: true },
  { rule: "enclaves, not told", settings: { enclaveOptions: { enabled: true } }, usable: false },
  { rule: "enclaves", info: { NitroEnclavesSupport: "supported" }, settings: { enclaveOptions: { enabled: true } }, usable: true },
  { rule: "no enclaves wanted", settings: { enclaveOptions: { enabled: false } }, usable: true },
])("I-803: $rule → $usable", ({ info, settings, usable }) => {
  expect(isUsable(anInfo(info), { family: familyNamed("AL2023"), ...settings })).toBe(usable);
});
