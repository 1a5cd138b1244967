/** What nodes must be told of their cluster, asked of EKS once. Sections 0 and 10 of the instance type chapter, W-230. */
import type { Ec2Port } from "./ec2/ec2-port.ts";

export interface ClusterFacts {
  readonly name: string;
  readonly endpoint: string;
  /** Base64. */
  readonly caBundle?: string;
  /** Nodes of the family AL2023 need it. */
  readonly serviceCidr?: string;
  /** `major.minor`. */
  readonly kubernetesVersion: string;
}

export interface ClusterFactsOptions {
  readonly ec2: Ec2Port;
  readonly clusterName: string;
  /** What is known beforehand wins over EKS. */
  readonly known?: Partial<ClusterFacts>;
}

export class ClusterKnowledge {
  readonly #options: ClusterFactsOptions;
  #facts: Promise<ClusterFacts> | undefined;

  constructor(options: ClusterFactsOptions) {
    this.#options = options;
  }

  /** A failure is not kept: the next caller asks again. */
  get(signal?: AbortSignal): Promise<ClusterFacts> {
    this.#facts ??= this.#ask(signal).catch((error: unknown) => {
      this.#facts = undefined;
      throw error;
    });
    return this.#facts;
  }

  async #ask(signal: AbortSignal | undefined): Promise<ClusterFacts> {
    const { ec2, clusterName, known = {} } = this.#options;
    const { cluster } = await ec2.describeCluster({ name: clusterName }, signal);
    const caBundle = known.caBundle ?? cluster.certificateAuthority;
    const serviceCidr = known.serviceCidr ?? cluster.serviceIpv4Cidr;
    return {
      name: clusterName,
      endpoint: known.endpoint ?? cluster.endpoint,
      kubernetesVersion: known.kubernetesVersion ?? cluster.version,
      ...(caBundle === undefined ? {} : { caBundle }),
      ...(serviceCidr === undefined ? {} : { serviceCidr }),
    };
  }
}
