/** Instances that exist: found, listed and terminated, although EC2 shows them late. Rules W-7, W-710…W-712. */
import { EC2_NODE_CLASS_LABEL, EKS_CLUSTER_NAME_TAG, NODE_CLAIM_UID_TAG, NODE_POOL_LABEL, ZONE_ID_LABEL, ZONE_LABEL } from "@joinery/api";
import type { Instance } from "@joinery/core";
import type { Clock } from "@joinery/kube";
import type { AwsMetrics } from "../aws-metrics.ts";
import { AwsError, isAwsNotFound } from "../ec2/aws-error.ts";
import type { Ec2Port, Filter } from "../ec2/ec2-port.ts";
import type { Ec2Instance } from "../ec2/launch-shapes.ts";
import { allPages } from "../ec2/pages.ts";
import { instanceIdOf } from "./instance-view.ts";

const ALIVE: Filter = { Name: "instance-state-name", Values: ["pending", "running", "stopping", "stopped", "shutting-down"] };
const PAGE = 1000;
/** How long EC2 may not know what it has just launched. */
const INVISIBLE_MS = 120_000;

export interface InstancesOptions {
  readonly ec2: Ec2Port;
  readonly clock: Clock;
  readonly clusterName: string;
  /** An instance as core sees it. */
  readonly view: (instance: Ec2Instance, signal?: AbortSignal) => Promise<Instance>;
  readonly metrics?: Pick<AwsMetrics, "terminationFailed">;
}

interface Recent {
  readonly view: Instance;
  readonly endMs: number;
}

export class Instances {
  readonly #options: InstancesOptions;
  /** Launched by this process a moment ago, and not described by EC2 yet. */
  readonly #recent = new Map<string, Recent>();

  constructor(options: InstancesOptions) {
    this.#options = options;
  }

  noteLaunched({ InstanceId }: Ec2Instance, view: Instance): void {
    this.#recent.set(InstanceId, { view, endMs: this.#options.clock.monotonicMs() + INVISIBLE_MS });
  }

  /** W-710. */
  async find(providerId: string, signal?: AbortSignal): Promise<Instance | undefined> {
    const id = instanceIdOf(providerId);
    if (id === undefined) return undefined;
    const instance = await this.describe(id, signal);
    return instance === undefined ? this.#recentOf(id)?.view : this.#options.view(instance, signal);
  }

  /** W-711, with what EC2 does not show yet. */
  async list(signal?: AbortSignal): Promise<readonly Instance[]> {
    const { clusterName, view } = this.#options;
    const described = await this.#query(
      [
        { Name: "tag-key", Values: [NODE_POOL_LABEL] },
        { Name: "tag-key", Values: [EC2_NODE_CLASS_LABEL] },
        { Name: `tag:${EKS_CLUSTER_NAME_TAG}`, Values: [clusterName] },
      ],
      signal,
    );
    const instances = await Promise.all(described.map((instance) => view(instance, signal)));
    const seen = new Set(described.map(({ InstanceId }) => InstanceId));
    const unseen = [...this.#recent.keys()].flatMap((id) => (seen.has(id) ? [] : (this.#recentOf(id)?.view ?? [])));
    return [...instances, ...unseen];
  }

  /** The instance that was launched for a NodeClaim, of whatever process. */
  async findByClaim(uid: string, signal?: AbortSignal): Promise<Ec2Instance | undefined> {
    const { clusterName } = this.#options;
    const found = await this.#query(
      [
        { Name: `tag:${NODE_CLAIM_UID_TAG}`, Values: [uid] },
        { Name: `tag:${EKS_CLUSTER_NAME_TAG}`, Values: [clusterName] },
      ],
      signal,
    );
    return found[0];
  }

  /** W-712. An instance that EC2 does not show yet is terminated all the same. */
  async terminate(providerId: string, signal?: AbortSignal): Promise<"accepted" | "gone"> {
    const id = instanceIdOf(providerId);
    if (id === undefined) return "gone";
    const instance = await this.describe(id, signal);
    if (instance === undefined && this.#recentOf(id) === undefined) return "gone";
    if (instance?.State.Name === "shutting-down") return "accepted";
    try {
      await this.#options.ec2.terminateInstances({ InstanceIds: [id] }, signal);
      this.#noteTerminating(id);
      return "accepted";
    } catch (error) {
      if (!isAwsNotFound(error)) {
        signal?.throwIfAborted();
        // The refusal is what matters; where the machine stands is found out as far as it can be.
        const shown = instance === undefined ? this.#recentOf(id)?.view : await this.#options.view(instance).catch(() => undefined);
        this.#options.metrics?.terminationFailed(placeOf(shown, instance));
        throw error;
      }
      if (this.#recentOf(id) === undefined) return "gone";
      throw new AwsError("InvalidInstanceID.NotFound", `${id} was launched a moment ago and is not known yet`, "server");
    }
  }

  #noteTerminating(id: string): void {
    const recent = this.#recent.get(id);
    if (recent !== undefined) this.#recent.set(id, { ...recent, view: { ...recent.view, isTerminating: true } });
  }

  /** As EC2 shows it now; undefined where it does not, or where the instance has ended. */
  async describe(id: string, signal?: AbortSignal): Promise<Ec2Instance | undefined> {
    try {
      const { Instances } = await this.#options.ec2.describeInstances({ InstanceIds: [id], Filters: [ALIVE] }, signal);
      // Known, but in none of the states asked for: it has ended.
      if (Instances.length === 0) this.#recent.delete(id);
      return Instances[0];
    } catch (error) {
      if (isAwsNotFound(error)) return undefined;
      throw error;
    }
  }

  #query(filters: readonly Filter[], signal: AbortSignal | undefined): Promise<Ec2Instance[]> {
    return allPages(
      (token) => this.#options.ec2.describeInstances({ Filters: [...filters, ALIVE], MaxResults: PAGE, ...token }, signal),
      ({ Instances }) => Instances,
    );
  }

  #recentOf(id: string): Recent | undefined {
    const recent = this.#recent.get(id);
    if (recent !== undefined && recent.endMs <= this.#options.clock.monotonicMs()) this.#recent.delete(id);
    return this.#recent.get(id);
  }
}

function placeOf(shown: Instance | undefined, instance: Ec2Instance | undefined): { readonly zone: string; readonly zoneId: string } {
  const zone = instance?.Placement.AvailabilityZone ?? shown?.labels[ZONE_LABEL] ?? "";
  return { zone, zoneId: shown?.labels[ZONE_ID_LABEL] ?? "" };
}
