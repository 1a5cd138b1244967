/** What launches and ends of instances come to. Names and labels are those of dashboards that exist. Rules O-198, O-227, O-228, W-970, W-971, W-977. */
import { Counter, Gauge, type Registry } from "@joinery/core";

interface Place {
  readonly zone: string;
  /** "" where it is not known. */
  readonly zoneId: string;
}

export interface AwsMetrics {
  /** W-642.1: one error of a fleet. */
  launchFailed(place: Place, capacityType: string, reason: string): void;
  terminationFailed(place: Place): void;
  /** W-514: of a launch template that is about to be made. */
  userData(nodeClass: string, bytes: number): void;
  /** I-1604: the node class and its launch templates are gone. */
  forgetUserData(nodeClass: string): void;
}

/** Registers the series; once per registry, also where the terms of a leader change. */
export function createAwsMetrics(registry: Registry): AwsMetrics {
  const registers = [registry];
  const launchFailures = new Counter<"zone" | "zone_id" | "capacity_type" | "reason">({
    name: "karpenter_cloudprovider_instance_launch_failures_total",
    help: "Errors of launches, by what they mean.",
    labelNames: ["zone", "zone_id", "capacity_type", "reason"],
    registers,
  });
  const terminationFailures = new Counter<"zone" | "zone_id">({
    name: "karpenter_cloudprovider_instance_termination_failures_total",
    help: "Instances that EC2 did not end when it was asked to.",
    labelNames: ["zone", "zone_id"],
    registers,
  });
  const userDataBytes = new Gauge<"nodeclass">({
    name: "karpenter_ec2nodeclasses_userdata_bytes",
    help: "Size of the user data that was made last; EC2 takes 16384 bytes.",
    labelNames: ["nodeclass"],
    registers,
  });
  return {
    launchFailed: ({ zone, zoneId }, capacity_type, reason) => launchFailures.inc({ zone, zone_id: zoneId, capacity_type, reason }),
    terminationFailed: ({ zone, zoneId }) => terminationFailures.inc({ zone, zone_id: zoneId }),
    userData: (nodeclass, bytes) => userDataBytes.set({ nodeclass }, bytes),
    forgetUserData: (nodeclass) => userDataBytes.remove({ nodeclass }),
  };
}
