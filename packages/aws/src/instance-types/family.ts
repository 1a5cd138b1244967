/** What depends on the family of the image: devices, overhead, density. Rules I-1101…I-1105, table of section 6, X-65. */
import type { AmiFamily } from "@joinery/api";
import type { BlockDeviceMapping } from "../ec2/launch-shapes.ts";

export interface Family {
  readonly name: AmiFamily;
  /** Used where the node class has no block devices of its own. */
  readonly defaultDevices: readonly BlockDeviceMapping[];
  /** Holds what pods write. */
  readonly ephemeralDevice?: string;
  readonly isMemoryOverheadEniLimited: boolean;
  readonly isPodDensityEniLimited: boolean;
  readonly windowsBuild?: string;
}

const GIB_DISK = (DeviceName: string, VolumeSize: number): BlockDeviceMapping => ({
  DeviceName,
  Ebs: { Encrypted: true, VolumeSize, VolumeType: "gp3" },
});
const AMAZON_LINUX = {
  defaultDevices: [GIB_DISK("/dev/xvda", 20)],
  ephemeralDevice: "/dev/xvda",
  isMemoryOverheadEniLimited: true,
  isPodDensityEniLimited: true,
};
const WINDOWS = {
  defaultDevices: [GIB_DISK("/dev/sda1", 50)],
  ephemeralDevice: "/dev/sda1",
  isMemoryOverheadEniLimited: false,
  isPodDensityEniLimited: false,
};

const FAMILIES: Readonly<Record<AmiFamily, Family>> = {
  AL2: { name: "AL2", ...AMAZON_LINUX },
  AL2023: { name: "AL2023", ...AMAZON_LINUX },
  Bottlerocket: {
    name: "Bottlerocket",
    defaultDevices: [GIB_DISK("/dev/xvda", 6), GIB_DISK("/dev/xvdb", 20)],
    ephemeralDevice: "/dev/xvdb",
    isMemoryOverheadEniLimited: false,
    isPodDensityEniLimited: true,
  },
  Custom: { name: "Custom", defaultDevices: [], isMemoryOverheadEniLimited: true, isPodDensityEniLimited: true },
  Windows2019: { name: "Windows2019", ...WINDOWS, windowsBuild: "10.0.17763" },
  Windows2022: { name: "Windows2022", ...WINDOWS, windowsBuild: "10.0.20348" },
  Windows2025: { name: "Windows2025", ...WINDOWS, windowsBuild: "10.0.26100" },
};

/** Every family that the schema admits has one. */
export function familyNamed(name: AmiFamily): Family {
  return FAMILIES[name];
}
