/**
 * From a NodeClaim to one EC2 instance, never two. Every launch carries a client token made of the NodeClaim's UID, so a request whose
 * answer was lost is sent again as it was, and one that a restarted process would send differently is refused by EC2, whereupon the
 * instance is looked up by its tag. Rules W-600…W-644.
 */
import {
  EC2_NODE_CLASS_HASHES,
  type Ec2NodeClass,
  ec2NodeClassHash,
  effectiveAmiFamily,
  hashAnnotations,
  INSTANCE_PROFILE_ANNOTATION,
  type NodeClaim,
} from "@joinery/api";
import type { EventSink, Instance, LaunchOutcome } from "@joinery/core";
import type { Clock } from "@joinery/kube";
import type { InstanceType } from "@joinery/scheduling";
import type { AwsMetrics } from "../aws-metrics.ts";
import type { ClusterKnowledge } from "../cluster-facts.ts";
import { AwsError, hasAwsCode } from "../ec2/aws-error.ts";
import type { Ec2Port } from "../ec2/ec2-port.ts";
import type { CreateFleetResult, Ec2Instance, FleetError } from "../ec2/launch-shapes.ts";
import { claimWithoutNodeClass, spotRoleMissing } from "../events.ts";
import { familyNamed } from "../instance-types/family.ts";
import { NoInstanceTypesError, type TypeProvider } from "../instance-types/type-provider.ts";
import type { UnavailableOfferings } from "../instance-types/unavailable-offerings.ts";
import { instanceView } from "../instances/instance-view.ts";
import type { Instances } from "../instances/instances.ts";
import { selectCandidates } from "./candidates.ts";
import { failureOf, isCapacityCode, NO_SPOT_ROLE_CODE } from "./failure-reasons.ts";
import { fewestPods, findType, fleetRequest, type LaunchWish, prepareTemplates, tenancyOf, wantsEfa } from "./fleet-request.ts";
import { LaunchMemories, type PendingLaunch } from "./launch-memory.ts";
import { findReservedTag, instanceTags, launchTags } from "./launch-tags.ts";
import type { LaunchTemplates } from "./launch-templates.ts";
import type { SubnetLedger } from "./subnet-ledger.ts";

export interface LauncherOptions {
  readonly ec2: Ec2Port;
  readonly clock: Clock;
  readonly region: string;
  readonly clusterName: string;
  readonly cluster: ClusterKnowledge;
  readonly types: TypeProvider;
  readonly unavailable: UnavailableOfferings;
  readonly subnets: SubnetLedger;
  readonly templates: LaunchTemplates;
  readonly instances: Instances;
  readonly metrics?: Pick<AwsMetrics, "launchFailed">;
  readonly events?: EventSink;
}

const NO_NODE_CLASS: LaunchOutcome = { kind: "insufficient-capacity", message: "Failed resolving NodeClass" };
const NO_OFFERINGS = "no capacity offerings are currently available given the constraints";
/** After this an instance of an earlier request would be described, and there is none. */
const MISMATCH_SETTLED_MS = 60_000;

export class Launcher {
  readonly #options: LauncherOptions;
  readonly #memories = new LaunchMemories();

  constructor(options: LauncherOptions) {
    this.#options = options;
  }

  async launch(claim: NodeClaim, nodeClass: Ec2NodeClass | undefined, signal?: AbortSignal): Promise<LaunchOutcome> {
    const uid = claim.metadata?.uid ?? "";
    const pending = this.#memories.pendingOf(uid);
    if (pending !== undefined) return this.#send(claim, pending, signal);
    if (nodeClass === undefined || nodeClass.metadata?.deletionTimestamp !== undefined) {
      this.#options.events?.publish(claimWithoutNodeClass(claim));
      return NO_NODE_CLASS;
    }
    const refusal = readinessRefusal(nodeClass) ?? tagRefusal(nodeClass);
    if (refusal !== undefined) return refusal;
    const types = await this.#typesOf(nodeClass, signal);
    if ("kind" in types) return types;
    return this.#launchOneOf(types, claim, nodeClass, signal);
  }

  async #typesOf(nodeClass: Ec2NodeClass, signal: AbortSignal | undefined): Promise<readonly InstanceType[] | LaunchOutcome> {
    try {
      return await this.#options.types.list(nodeClass, signal);
    } catch (error) {
      if (error instanceof NoInstanceTypesError) return { kind: "failed", reason: "InstanceTypeResolutionFailed", message: error.message };
      throw error;
    }
  }

  async #launchOneOf(
    types: readonly InstanceType[],
    claim: NodeClaim,
    nodeClass: Ec2NodeClass,
    signal: AbortSignal | undefined,
  ): Promise<LaunchOutcome> {
    const { cluster, clusterName, region, subnets } = this.#options;
    const selection = selectCandidates(claim, types);
    if (selection.kind === "none") return this.#end(claim, { kind: "insufficient-capacity", message: selection.message });
    const chosen = subnets.choose(nodeClass.status?.subnets ?? []);
    if (chosen.size === 0) return { kind: "failed", reason: "SubnetResolutionFailed", message: "no subnets matched the node class" };
    const wish: LaunchWish = {
      ...selection,
      nodeClass,
      claim,
      cluster: await cluster.get(signal),
      family: familyNamed(nodeClass.spec === undefined ? "Custom" : effectiveAmiFamily(nodeClass.spec)),
      region,
      subnets: chosen,
      tags: launchTags(nodeClass, claim, clusterName),
    };
    return this.#prepareAndSend(wish, true, signal);
  }

  async #prepareAndSend(wish: LaunchWish, mayRetry: boolean, signal: AbortSignal | undefined): Promise<LaunchOutcome> {
    const { templates } = this.#options;
    const uid = wish.claim.metadata?.uid ?? "";
    const prepared = prepareTemplates(wish);
    const request = fleetRequest(wish, prepared, this.#memories.tokenOf(uid));
    if (request === undefined) return { kind: "failed", reason: "LaunchFailed", message: NO_OFFERINGS };
    const used = new Set(
      request.LaunchTemplateConfigs.map(({ LaunchTemplateSpecification }) => LaunchTemplateSpecification.LaunchTemplateName),
    );
    try {
      const needed = prepared.filter(({ name }) => used.has(name));
      await Promise.all(needed.map(({ name, data }) => templates.ensure(name, data, wish.tags, signal)));
    } catch (error) {
      return failedCall(error, "Error ensuring launch templates: ");
    }
    this.#deduct(wish);
    try {
      return await this.#send(wish.claim, { request, wish }, signal);
    } catch (error) {
      // W-640: someone has deleted a template; once more with a new one.
      if (!mayRetry || !hasAwsCode(error, "InvalidLaunchTemplateName.NotFoundException")) throw error;
      templates.invalidate([...used]);
      return this.#prepareAndSend(wish, false, signal);
    }
  }

  /** Sends the request, the same one as long as nobody knows whether it took effect. */
  async #send(claim: NodeClaim, pending: PendingLaunch, signal: AbortSignal | undefined): Promise<LaunchOutcome> {
    const uid = claim.metadata?.uid ?? "";
    this.#memories.keepPending(uid, pending);
    try {
      return this.#outcomeOf(claim, pending, await this.#options.ec2.createFleet(pending.request, signal));
    } catch (error) {
      if (!(error instanceof AwsError)) throw error;
      if (error.fault === "network") throw error;
      const isUndecided = error.fault === "server" || error.code === "RequestLimitExceeded";
      if (!isUndecided) this.#memories.dropPending(uid);
      if (error.code === "InvalidLaunchTemplateName.NotFoundException") {
        this.#giveBack(pending.wish, new Set());
        throw error;
      }
      if (error.code === "IdempotentParameterMismatch") return this.#recover(claim, pending.wish, signal);
      if (!isUndecided) this.#giveBack(pending.wish, new Set());
      return failedCall(error, "Error creating fleet request: ");
    }
  }

  #outcomeOf(claim: NodeClaim, { wish }: PendingLaunch, result: CreateFleetResult): LaunchOutcome {
    const errors = result.Errors ?? [];
    for (const error of errors) this.#learn(error, wish);
    const launched = result.Instances?.find(({ InstanceIds }) => InstanceIds.length > 0);
    const InstanceId = launched?.InstanceIds[0];
    if (launched === undefined || InstanceId === undefined) {
      this.#giveBack(wish, new Set());
      return this.#nothingLaunched(claim, errors);
    }
    const override = launched.LaunchTemplateAndOverrides?.Overrides ?? {};
    this.#giveBack(wish, new Set([override.SubnetId ?? ""]));
    const instance: Ec2Instance = {
      InstanceId,
      InstanceType: launched.InstanceType,
      ImageId: override.ImageId ?? "",
      State: { Name: "pending" },
      Placement: { AvailabilityZone: override.AvailabilityZone ?? "", Tenancy: tenancyOf(claim) },
      SubnetId: override.SubnetId,
      ...(launched.Lifecycle === "spot" ? { SpotInstanceRequestId: "" } : {}),
      LaunchTime: new Date(this.#options.clock.wallMs()).toISOString(),
      Tags: instanceTags(wish.tags, claim),
    };
    return this.#end(claim, { kind: "launched", instance: this.#remember(instance, wish) });
  }

  /** W-643. */
  #nothingLaunched(claim: NodeClaim, errors: readonly FleetError[]): LaunchOutcome {
    const message = [...new Set(errors.map(({ ErrorCode, ErrorMessage }) => `${ErrorCode}: ${ErrorMessage}`))].join("; ");
    if (errors.every(({ ErrorCode }) => isCapacityCode(ErrorCode) || ErrorCode === NO_SPOT_ROLE_CODE)) {
      return this.#end(claim, { kind: "insufficient-capacity", message: message || "the fleet has no instance" });
    }
    this.#memories.nextAttempt(claim.metadata?.uid ?? "");
    const decisive = errors
      .filter(({ ErrorCode }) => !isCapacityCode(ErrorCode))
      .map(({ ErrorCode, ErrorMessage }) => `${ErrorCode}: ${ErrorMessage}`);
    return { kind: "failed", reason: failureOf(decisive.join("; ")).reason, message };
  }

  /** W-642. */
  #learn({ ErrorCode, ErrorMessage, LaunchTemplateAndOverrides }: FleetError, { capacityType, claim, subnets: chosen }: LaunchWish): void {
    const { unavailable, subnets, metrics, events } = this.#options;
    const { InstanceType, AvailabilityZone, SubnetId } = LaunchTemplateAndOverrides?.Overrides ?? {};
    const place = { zone: AvailabilityZone ?? "", zoneId: chosen.get(AvailabilityZone ?? "")?.zoneId ?? "" };
    metrics?.launchFailed(place, capacityType, failureOf(`${ErrorCode}: ${ErrorMessage}`).reason);
    if (ErrorCode === "InsufficientFreeAddressesInSubnet" && SubnetId !== undefined) {
      subnets.markFull(SubnetId);
      unavailable.markSubnet(SubnetId);
    }
    if (ErrorCode === NO_SPOT_ROLE_CODE) {
      unavailable.markCapacityType("spot");
      events?.publish(spotRoleMissing(claim, ErrorCode));
    }
    if (isCapacityCode(ErrorCode) && InstanceType !== undefined && AvailabilityZone !== undefined) {
      unavailable.mark(capacityType, InstanceType, AvailabilityZone);
    }
  }

  /** The token was used with another request, by a process that is gone: its instance carries the NodeClaim's UID. */
  async #recover(claim: NodeClaim, wish: LaunchWish, signal: AbortSignal | undefined): Promise<LaunchOutcome> {
    const { clock, instances } = this.#options;
    const uid = claim.metadata?.uid ?? "";
    const instance = await instances.findByClaim(uid, signal);
    this.#giveBack(wish, new Set(instance?.SubnetId === undefined ? [] : [instance.SubnetId]));
    if (instance !== undefined) return this.#end(claim, { kind: "launched", instance: this.#remember(instance, wish) });
    if (clock.monotonicMs() - this.#memories.mismatchSince(uid, clock.monotonicMs()) >= MISMATCH_SETTLED_MS)
      this.#memories.nextAttempt(uid);
    return { kind: "failed", reason: "LaunchFailed", message: "an earlier launch of this NodeClaim is not visible yet" };
  }

  #remember(instance: Ec2Instance, { nodeClass, claim, candidates, cluster }: LaunchWish): Instance {
    const hasEfa = wantsEfa(claim) || (nodeClass.spec?.networkInterfaces ?? []).length > 0;
    const { status, spec } = nodeClass;
    const annotations = {
      ...(spec === undefined ? {} : hashAnnotations(EC2_NODE_CLASS_HASHES, ec2NodeClassHash(spec, cluster.caBundle))),
      ...(status?.instanceProfile === undefined ? {} : { [INSTANCE_PROFILE_ANNOTATION]: status.instanceProfile }),
    };
    const view = instanceView({ instance, type: findType(candidates, instance.InstanceType), nodeClass, hasEfa, annotations });
    this.#options.instances.noteLaunched(instance, view);
    return view;
  }

  #end(claim: NodeClaim, outcome: LaunchOutcome): LaunchOutcome {
    this.#memories.forget(claim.metadata?.uid ?? "");
    return outcome;
  }

  #deduct({ subnets, candidates, capacityType }: LaunchWish): void {
    for (const subnet of subnets.values()) this.#options.subnets.deduct(subnet, fewestPods(candidates, capacityType, subnet.zone));
  }

  /** W-343. */
  #giveBack({ subnets, candidates, capacityType }: LaunchWish, used: ReadonlySet<string>): void {
    for (const subnet of subnets.values()) {
      if (!used.has(subnet.id)) this.#options.subnets.giveBack(subnet, fewestPods(candidates, capacityType, subnet.zone));
    }
  }
}

/** W-601. */
function readinessRefusal({ metadata, status }: Ec2NodeClass): LaunchOutcome | undefined {
  const ready = status?.conditions?.find(({ type }) => type === "Ready");
  if (ready === undefined || ready.status === "Unknown") {
    return { kind: "failed", reason: "NodeClassReadinessUnknown", message: "NodeClass is in Ready=Unknown" };
  }
  if (ready.status === "False") return { kind: "node-class-not-ready", message: ready.message ?? "NodeClass is not ready" };
  const isStale = ready.observedGeneration !== undefined && ready.observedGeneration !== metadata?.generation;
  return isStale ? { kind: "node-class-not-ready", message: "NodeClass has changed since it was found ready" } : undefined;
}

/** W-602. */
function tagRefusal({ spec }: Ec2NodeClass): LaunchOutcome | undefined {
  const reserved = findReservedTag(spec?.tags);
  return reserved === undefined ? undefined : { kind: "node-class-not-ready", message: `tag "${reserved}" is not the user's to set` };
}

/** W-641; silence is left to the caller. */
function failedCall(error: unknown, prefix: string): LaunchOutcome {
  if (!(error instanceof AwsError) || error.fault === "network") throw error;
  const { reason, detail } = failureOf(error.message);
  return { kind: "failed", reason, message: `${prefix}${error.message}${detail === undefined ? "" : ` (${detail})`}` };
}
