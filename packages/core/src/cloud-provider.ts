/** What core needs of a cloud. `aws` and `kwok` implement it; core never imports them. Rules L-81…L-89, L-120, L-126. */
import type { Kind, KubeObject, NodeClaim, NodePool, Resources } from "@joinery/api";
import type { ClaimDefaults, InstanceType } from "@joinery/scheduling";

/** An instance as the cloud shows it. */
export interface Instance {
  readonly providerId: string;
  readonly imageId?: string;
  readonly capacity: Resources;
  readonly allocatable: Resources;
  /** Instance type, zone, capacity type … (L-83: the NodeClaim's own labels win). */
  readonly labels: Readonly<Record<string, string>>;
  /** Win over the NodeClaim's (L-83). */
  readonly annotations: Readonly<Record<string, string>>;
  readonly createdAtMs?: number;
  /** Name of the NodeClaim it was launched for, from its tags. */
  readonly nodeClaimName?: string;
  readonly nodePoolName?: string;
  readonly isTerminating?: boolean;
}

/** What a look over all instances tells of each. */
export type ListedInstance = Omit<Instance, "capacity" | "allocatable">;

export type LaunchOutcome =
  | { readonly kind: "launched"; readonly instance: Instance }
  /** No capacity: the NodeClaim is deleted (L-84). */
  | { readonly kind: "insufficient-capacity"; readonly message: string }
  /** The NodeClaim is deleted (L-85). */
  | { readonly kind: "node-class-not-ready"; readonly message: string }
  /** Retried with back-off; reason and message go into the Launched condition (L-87). */
  | { readonly kind: "failed"; readonly reason: string; readonly message: string };

/** L-96: a condition of the provider's own for letting a node in. Asked until it is ready; may label the NodeClaim (L-97). */
export interface RegistrationHook {
  readonly name: string;
  ask(claim: NodeClaim, signal?: AbortSignal): Promise<HookAnswer>;
}

export type HookAnswer =
  | { readonly kind: "ready"; readonly labels?: Readonly<Record<string, string>> }
  | { readonly kind: "pending"; readonly afterMs: number };

export interface CloudProvider {
  readonly name: string;
  /** Node classes that this provider understands (A-1, L-1). */
  readonly nodeClassKinds: readonly Kind<KubeObject>[];
  /** Labels beyond the core's that are well-known with this provider. */
  readonly wellKnownLabels: ReadonlySet<string>;
  /** Domains that users may not label. */
  readonly restrictedLabelDomains: readonly string[];
  /** Where a NodePool says nothing (S-179). */
  readonly claimDefaults?: ClaimDefaults;
  /** All types of the pool, available or not. Same array object while nothing changed. */
  instanceTypes(nodePool: NodePool, signal?: AbortSignal): Promise<readonly InstanceType[]>;
  /**
   * Launches one instance, at most one per NodeClaim UID however often it is called (client token). Throws for broken promises
   * of the network: the caller retries.
   */
  launch(claim: NodeClaim, signal?: AbortSignal): Promise<LaunchOutcome>;
  /** "gone" when there is nothing left to delete; "accepted" when the instance is on its way out. */
  terminate(claim: NodeClaim, signal?: AbortSignal): Promise<"accepted" | "gone">;
  /** undefined when the instance does not exist (any more). */
  find(providerId: string, signal?: AbortSignal): Promise<Instance | undefined>;
  /** Every instance that carries this cluster's tags. */
  list(signal?: AbortSignal): Promise<readonly ListedInstance[]>;
  readonly registrationHooks?: readonly RegistrationHook[];
  /** How long a launch may fail before the NodeClaim is given up; five minutes when absent (L-107). */
  readonly launchTimeoutMs?: number;
}
