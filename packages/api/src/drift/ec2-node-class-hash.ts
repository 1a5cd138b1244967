/** The hash of what makes an EC2NodeClass's nodes drift. Rules …. */
import { AMI_FAMILIES, type AmiFamily } from "../owned/choices.ts";
import type { Ec2NodeClassSpec } from "../owned/ec2-node-class.ts";
import { canonicalQuantity } from "../quantity.ts";
import { withSortedKeys } from "../schema/json.ts";
import { type Hash, hashFlag, hashInt32, hashInt64, hashList, hashMap, hashStructure, hashText, present } from "./structure-hash.ts";

/** */
export const EC2_NODE_CLASS_HASH_VERSION = "v6";

/** Unsigned 64-bit decimal text. The node class must carry its defaults; `caBundle` is the cluster's, base64, or "". */
export function ec2NodeClassHash(spec: Ec2NodeClassSpec, caBundle = ""): string {
  return String(specHash(spec) ^ hashText(effectiveAmiFamily(spec)) ^ hashText(caBundle) ^ hashText(kubeletText(spec.kubelet)));
}

/** the family that is set, else the alias's, else Custom. */
export function effectiveAmiFamily({ amiFamily, amiSelectorTerms }: Pick<Ec2NodeClassSpec, "amiFamily" | "amiSelectorTerms">): AmiFamily {
  if (amiFamily !== undefined) return amiFamily;
  const alias = amiSelectorTerms.find((term) => term.alias !== undefined)?.alias?.split("@")[0];
  return AMI_FAMILIES.find((family) => family.toLowerCase() === alias && family !== "Custom") ?? "Custom";
}

/** `null` when empty, else compact JSON with sorted keys, escaped as Go does. */
function kubeletText(kubelet: Ec2NodeClassSpec["kubelet"]): string {
  if (kubelet === undefined || Object.keys(kubelet).length === 0) return "null";
  return JSON.stringify(withSortedKeys(kubelet)).replaceAll(
    /[<>&\u2028\u2029]/g,
    (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

function specHash(spec: Ec2NodeClassSpec): Hash {
  return hashStructure("EC2NodeClassSpec", [
    ["PlacementGroupSelector", present(spec.placementGroupSelector, placementGroup)],
    ["AssociatePublicIPAddress", present(spec.associatePublicIPAddress, hashFlag)],
    ["UserData", present(spec.userData, hashText)],
    ["Role", spec.role === "" ? undefined : present(spec.role, hashText)],
    ["InstanceProfile", present(spec.instanceProfile, hashText)],
    ["Tags", present(spec.tags, hashMap)],
    ["BlockDeviceMappings", present(spec.blockDeviceMappings, (list) => hashList(list.map(blockDeviceMapping)))],
    ["InstanceStorePolicy", present(spec.instanceStorePolicy, hashText)],
    ["NetworkInterfaces", present(spec.networkInterfaces, (list) => hashList(list.map(networkInterface)))],
    ["DetailedMonitoring", present(spec.detailedMonitoring, hashFlag)],
    ["MetadataOptions", present(spec.metadataOptions, metadataOptions)],
    [
      "EnclaveOptions",
      present(spec.enclaveOptions, ({ enabled }) => hashStructure("EnclaveOptions", [["Enabled", enabled ? hashFlag(true) : undefined]])),
    ],
    ["ConnectionTracking", present(spec.connectionTracking, connectionTracking)],
    ["Context", present(spec.context, hashText)],
    [
      "CPUOptions",
      present(spec.cpuOptions, (options) =>
        hashStructure("CPUOptions", [["NestedVirtualization", present(options.nestedVirtualization, hashText)]]),
      ),
    ],
  ]);
}

function placementGroup({ name, id }: NonNullable<Ec2NodeClassSpec["placementGroupSelector"]>): Hash {
  return hashStructure("PlacementGroupSelector", [
    ["Name", present(name, hashText)],
    ["ID", present(id, hashText)],
  ]);
}

type BlockDeviceMapping = NonNullable<Ec2NodeClassSpec["blockDeviceMappings"]>[number];

function blockDeviceMapping({ deviceName, ebs, rootVolume }: BlockDeviceMapping): Hash {
  return hashStructure("BlockDeviceMapping", [
    ["DeviceName", present(deviceName, hashText)],
    ["EBS", present(ebs, blockDevice)],
    ["RootVolume", rootVolume === true ? hashFlag(true) : undefined],
  ]);
}

function blockDevice(ebs: NonNullable<BlockDeviceMapping["ebs"]>): Hash {
  return hashStructure("BlockDevice", [
    ["DeleteOnTermination", present(ebs.deleteOnTermination, hashFlag)],
    ["Encrypted", present(ebs.encrypted, hashFlag)],
    ["IOPS", present(ebs.iops, hashInt64)],
    ["KMSKeyID", present(ebs.kmsKeyID, hashText)],
    ["SnapshotID", present(ebs.snapshotID, hashText)],
    ["Throughput", present(ebs.throughput, hashInt64)],
    ["VolumeInitializationRate", present(ebs.volumeInitializationRate, hashInt32)],
    ["VolumeSize", present(ebs.volumeSize, (size) => hashText(canonicalQuantity(size) ?? size))],
    ["VolumeType", present(ebs.volumeType, hashText)],
  ]);
}

function networkInterface({
  networkCardIndex,
  deviceIndex,
  interfaceType,
}: NonNullable<Ec2NodeClassSpec["networkInterfaces"]>[number]): Hash {
  return hashStructure("NetworkInterface", [
    ["NetworkCardIndex", networkCardIndex === 0 ? undefined : hashInt32(networkCardIndex)],
    ["DeviceIndex", deviceIndex === 0 ? undefined : hashInt32(deviceIndex)],
    ["InterfaceType", hashText(interfaceType)],
  ]);
}

function metadataOptions(options: NonNullable<Ec2NodeClassSpec["metadataOptions"]>): Hash {
  return hashStructure("MetadataOptions", [
    ["HTTPEndpoint", present(options.httpEndpoint, hashText)],
    ["HTTPProtocolIPv6", present(options.httpProtocolIPv6, hashText)],
    ["HTTPPutResponseHopLimit", present(options.httpPutResponseHopLimit, hashInt64)],
    ["HTTPTokens", present(options.httpTokens, hashText)],
  ]);
}

function connectionTracking(tracking: NonNullable<Ec2NodeClassSpec["connectionTracking"]>): Hash {
  return hashStructure("ConnectionTracking", [
    ["TCPEstablishedTimeout", present(tracking.tcpEstablishedTimeout, hashInt32)],
    ["UDPStreamTimeout", present(tracking.udpStreamTimeout, hashInt32)],
    ["UDPTimeout", present(tracking.udpTimeout, hashInt32)],
  ]);
}
