/** Nodes, their volume attachment limits, and leases. */
import type { Condition, KubeObject, ResourceTexts } from "./meta.ts";
import type { Taint } from "./pod.ts";

export interface NodeCondition extends Condition {
  readonly lastHeartbeatTime?: string;
}

export interface Node extends KubeObject {
  readonly spec?: {
    readonly providerID?: string;
    readonly taints?: readonly Taint[];
    readonly unschedulable?: boolean;
    readonly podCIDR?: string;
  };
  readonly status?: {
    readonly capacity?: ResourceTexts;
    readonly allocatable?: ResourceTexts;
    readonly conditions?: readonly NodeCondition[];
    readonly addresses?: readonly { readonly type: string; readonly address: string }[];
    readonly nodeInfo?: Readonly<Record<string, unknown>>;
    readonly phase?: string;
  };
}

export interface CsiNode extends KubeObject {
  readonly spec: {
    readonly drivers?: readonly { readonly name: string; readonly nodeID?: string; readonly allocatable?: { readonly count?: number } }[];
  };
}

export interface Lease extends KubeObject {
  readonly spec?: {
    readonly holderIdentity?: string;
    readonly leaseDurationSeconds?: number;
    readonly acquireTime?: string;
    readonly renewTime?: string;
    readonly leaseTransitions?: number;
  };
}

export interface KubeEvent extends KubeObject {
  readonly involvedObject: {
    readonly apiVersion?: string;
    readonly kind?: string;
    readonly name?: string;
    readonly namespace?: string;
    readonly uid?: string;
  };
  readonly reason?: string;
  readonly message?: string;
  readonly type?: "Normal" | "Warning";
  readonly count?: number;
  readonly firstTimestamp?: string;
  readonly lastTimestamp?: string;
  readonly source?: { readonly component?: string; readonly host?: string };
  readonly reportingComponent?: string;
}
