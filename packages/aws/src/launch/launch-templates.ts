/** Launch templates in EC2: made when needed, found again by name, deleted when nobody has used them for a while. Rules W-502, W-510…W-522, I-1604. */
import { EC2_NODE_CLASS_LABEL, EKS_CLUSTER_NAME_TAG } from "@joinery/api";
import type { Clock } from "@joinery/kube";
import type { AwsMetrics } from "../aws-metrics.ts";
import { hasAwsCode, isAwsNotFound } from "../ec2/aws-error.ts";
import type { Ec2Port } from "../ec2/ec2-port.ts";
import type { LaunchTemplate, LaunchTemplateData, Tag } from "../ec2/launch-shapes.ts";
import { allPages } from "../ec2/pages.ts";
import { tagValue } from "./launch-tags.ts";

const UNUSED_MS = 60_000;
const PAGE = 200;

export interface LaunchTemplatesOptions {
  readonly ec2: Ec2Port;
  readonly clock: Clock;
  readonly clusterName: string;
  readonly metrics?: Pick<AwsMetrics, "userData" | "forgetUserData">;
}

interface Entry {
  readonly id: string;
  cancel: () => void;
}

export class LaunchTemplates {
  readonly #options: LaunchTemplatesOptions;
  readonly #entries = new Map<string, Entry>();
  readonly #making = new Map<string, Promise<void>>();

  constructor(options: LaunchTemplatesOptions) {
    this.#options = options;
  }

  /** After this the template exists, unless someone else deletes it. Callers of one name share one question. */
  async ensure(name: string, data: LaunchTemplateData, tags: readonly Tag[], signal?: AbortSignal): Promise<void> {
    const entry = this.#entries.get(name);
    if (entry !== undefined) return this.#keep(name, entry.id);
    const making = this.#making.get(name) ?? this.#make(name, data, tags, signal).finally(() => this.#making.delete(name));
    this.#making.set(name, making);
    await making;
  }

  /** W-522: EC2 says that it does not exist. */
  invalidate(names: readonly string[]): void {
    for (const name of names) {
      this.#entries.get(name)?.cancel();
      this.#entries.delete(name);
    }
  }

  /** W-521: takes over what an earlier process has left, so that it is deleted in its time. */
  async adopt(signal?: AbortSignal): Promise<void> {
    const { clusterName } = this.#options;
    for (const { LaunchTemplateName, LaunchTemplateId } of await this.#list(
      [{ Name: `tag:${EKS_CLUSTER_NAME_TAG}`, Values: [clusterName] }],
      signal,
    )) {
      if (!this.#entries.has(LaunchTemplateName)) this.#keep(LaunchTemplateName, LaunchTemplateId);
    }
  }

  /** W-320.3: all of a node class; each is tried, the first failure is thrown. */
  async removeAll(nodeClassName: string, signal?: AbortSignal): Promise<void> {
    const { ec2, clusterName } = this.#options;
    const filters = [
      { Name: `tag:${EKS_CLUSTER_NAME_TAG}`, Values: [clusterName] },
      { Name: `tag:${EC2_NODE_CLASS_LABEL}`, Values: [nodeClassName] },
    ];
    const templates = await this.#list(filters, signal);
    const results = await Promise.allSettled(
      templates.map(async ({ LaunchTemplateName }) => {
        await ec2.deleteLaunchTemplate({ LaunchTemplateName }, signal);
        this.invalidate([LaunchTemplateName]);
      }),
    );
    const failure = results.find((result) => result.status === "rejected");
    if (failure !== undefined) throw failure.reason;
    this.#options.metrics?.forgetUserData(nodeClassName);
  }

  async #make(name: string, data: LaunchTemplateData, tags: readonly Tag[], signal: AbortSignal | undefined): Promise<void> {
    const found = await this.#find(name, signal);
    if (found !== undefined) return this.#keep(name, found.LaunchTemplateId);
    const TagSpecifications = [{ ResourceType: "launch-template" as const, Tags: tags }];
    this.#options.metrics?.userData(tagValue(tags, EC2_NODE_CLASS_LABEL) ?? "", Buffer.byteLength(data.UserData, "base64"));
    try {
      const { LaunchTemplate } = await this.#options.ec2.createLaunchTemplate(
        { LaunchTemplateName: name, LaunchTemplateData: data, TagSpecifications },
        signal,
      );
      this.#keep(name, LaunchTemplate.LaunchTemplateId);
    } catch (error) {
      // An answer that was lost, or another process: the name follows from the content, so what exists is what was meant.
      const existing = hasAwsCode(error, "InvalidLaunchTemplateName.AlreadyExistsException") ? await this.#find(name, signal) : undefined;
      if (existing === undefined) throw error;
      this.#keep(name, existing.LaunchTemplateId);
    }
  }

  async #find(name: string, signal: AbortSignal | undefined): Promise<LaunchTemplate | undefined> {
    try {
      const { LaunchTemplates } = await this.#options.ec2.describeLaunchTemplates({ LaunchTemplateNames: [name] }, signal);
      return LaunchTemplates[0];
    } catch (error) {
      if (isAwsNotFound(error)) return undefined;
      throw error;
    }
  }

  #list(
    Filters: readonly { readonly Name: string; readonly Values: readonly string[] }[],
    signal: AbortSignal | undefined,
  ): Promise<LaunchTemplate[]> {
    return allPages(
      (token) => this.#options.ec2.describeLaunchTemplates({ Filters, MaxResults: PAGE, ...token }, signal),
      ({ LaunchTemplates }) => LaunchTemplates,
    );
  }

  #keep(name: string, id: string): void {
    this.#entries.get(name)?.cancel();
    const cancel = this.#options.clock.after(UNUSED_MS, () => void this.#expire(name, id));
    this.#entries.set(name, { id, cancel });
  }

  /** W-520. What could not be deleted is found again by `adopt`. */
  async #expire(name: string, LaunchTemplateId: string): Promise<void> {
    this.#entries.delete(name);
    await this.#options.ec2.deleteLaunchTemplate({ LaunchTemplateId }).catch(() => undefined);
  }
}
