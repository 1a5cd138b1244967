/** The EC2 cloud provider: core's `CloudProvider` over the EC2 port, and the controllers that go with it. */
import { AWS_GROUP, AWS_WELL_KNOWN_LABELS, EC2_NODE_CLASS_LABEL, type Ec2NodeClass, Ec2NodeClasses } from "@joinery/api";
import type { CloudProvider, EventSink, Instance } from "@joinery/core";
import { type Clock, createCache, type KubeClient, type LiveCache, type Random } from "@joinery/kube";
import type { AwsMetrics } from "./aws-metrics.ts";
import { VM_MEMORY_OVERHEAD_DEFAULT } from "./catalogue/built-in.ts";
import { CATALOGUE_REGIONS, type CatalogueRegion, type Ec2Catalogue, loadEc2Catalogue } from "./catalogue/ec2-catalogue.ts";
import { type ClusterFacts, ClusterKnowledge } from "./cluster-facts.ts";
import { type ControllerRooms, createNodeClassController, createRefreshController, type ProviderController } from "./controllers.ts";
import type { Ec2Port } from "./ec2/ec2-port.ts";
import type { Ec2Instance } from "./ec2/launch-shapes.ts";
import { poolWithoutNodeClass } from "./events.ts";
import { TypeProvider } from "./instance-types/type-provider.ts";
import { UnavailableOfferings } from "./instance-types/unavailable-offerings.ts";
import { instanceView, providerIdOf } from "./instances/instance-view.ts";
import { Instances } from "./instances/instances.ts";
import { createTaggingController } from "./instances/tagging.ts";
import { tagValue } from "./launch/launch-tags.ts";
import { LaunchTemplates } from "./launch/launch-templates.ts";
import { Launcher } from "./launch/launcher.ts";
import { SubnetLedger } from "./launch/subnet-ledger.ts";
import { ImageResolver } from "./node-class/images.ts";
import { InstanceProfiles } from "./node-class/instance-profiles.ts";
import { PriceBook } from "./pricing/price-book.ts";

export interface AwsProviderOptions {
  readonly ec2: Ec2Port;
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly random: Random;
  readonly clusterName: string;
  readonly region: string;
  /** What is known of the cluster without asking EKS. */
  readonly cluster?: Partial<ClusterFacts>;
  /** `VM_MEMORY_OVERHEAD_PERCENT`, a fraction. */
  readonly vmMemoryOverheadPercent?: number;
  readonly reservedEnis?: number;
  /** `ISOLATED_VPC`: the price list cannot be reached. */
  readonly isIsolatedVpc?: boolean;
  /** Prices and tables that are built in; loaded when absent. */
  readonly catalogue?: Ec2Catalogue;
  readonly metrics?: AwsMetrics;
  /** Where people are told about NodePools and NodeClaims; node classes through `onWaiting`. */
  readonly events?: EventSink;
}

export interface AwsProvider extends CloudProvider {
  /** To be run while this process leads. */
  controllers(rooms: ControllerRooms): readonly ProviderController[];
}

const REFRESH_MS = 12 * 3_600_000;

/** Loads the catalogue of the region; asks AWS for nothing yet. */
export async function createAwsProvider(options: AwsProviderOptions): Promise<AwsProvider> {
  const { ec2, client, clock, random, clusterName, region, metrics, events } = options;
  const catalogue = options.catalogue ?? (await loadEc2Catalogue(catalogueRegion(region)));
  const cluster = new ClusterKnowledge({ ec2, clusterName, known: options.cluster });
  // Of the catalogue only prices and tables are kept: the types themselves come from EC2.
  const { onDemandPrice, tables } = catalogue;
  const prices = new PriceBook({ ec2, clock, region, initial: { onDemandPrice }, isIsolatedVpc: options.isIsolatedVpc ?? false });
  const unavailable = new UnavailableOfferings(clock);
  const subnets = new SubnetLedger();
  const templates = new LaunchTemplates({ ec2, clock, clusterName, metrics });
  const types = new TypeProvider({
    ec2,
    clock,
    region,
    tables,
    prices,
    unavailable,
    vmMemoryOverheadPercent: options.vmMemoryOverheadPercent ?? VM_MEMORY_OVERHEAD_DEFAULT,
    reservedEnis: options.reservedEnis ?? 0,
  });
  const instances = new Instances({ ec2, clock, clusterName, view, metrics });
  const launcher = new Launcher({
    ec2,
    clock,
    region,
    clusterName,
    cluster,
    types,
    unavailable,
    subnets,
    templates,
    instances,
    metrics,
    events,
  });
  /** Of the term of leadership that runs; before and without one, node classes are asked for one by one. */
  let nodeClasses: LiveCache<Ec2NodeClass> | undefined;
  const images = new ImageResolver({ ec2, clock });
  const profiles = new InstanceProfiles({ ec2, clock, random, clusterName, region });

  async function findNodeClass(name: string, signal?: AbortSignal): Promise<Ec2NodeClass | undefined> {
    return nodeClasses?.hasSynced ? nodeClasses.find(name) : client.find(Ec2NodeClasses, { name }, signal);
  }

  /** W-700: what cannot be known of an instance is left out. */
  async function view(instance: Ec2Instance, signal?: AbortSignal): Promise<Instance> {
    const nodeClass = await findNodeClass(tagValue(instance.Tags, EC2_NODE_CLASS_LABEL) ?? "", signal);
    const isUsable = nodeClass !== undefined && (nodeClass.status?.subnets ?? []).length > 0;
    const type = isUsable ? await types.find(nodeClass, instance.InstanceType, signal) : undefined;
    return instanceView({ instance, nodeClass, type });
  }

  return {
    name: "aws",
    nodeClassKinds: [Ec2NodeClasses],
    wellKnownLabels: AWS_WELL_KNOWN_LABELS,
    restrictedLabelDomains: [AWS_GROUP],

    /** I-207: none, without error but told, where the node class is missing or going; one without subnets is an error (I-201). */
    async instanceTypes(nodePool, signal) {
      const nodeClass = await findNodeClass(nodePool.spec.template.spec.nodeClassRef.name, signal);
      if (nodeClass === undefined || nodeClass.metadata?.deletionTimestamp !== undefined) {
        events?.publish(poolWithoutNodeClass(nodePool));
        return [];
      }
      return types.list(nodeClass, signal);
    },

    async launch(claim, signal) {
      return launcher.launch(claim, await findNodeClass(claim.spec.nodeClassRef.name, signal), signal);
    },

    async terminate(claim, signal) {
      const { metadata, status } = claim;
      if (status?.providerID !== undefined) return instances.terminate(status.providerID, signal);
      // The launch was never written down: whether there was one, the tags tell.
      const instance = await instances.findByClaim(metadata?.uid ?? "", signal);
      return instance === undefined ? "gone" : instances.terminate(providerIdOf(instance), signal);
    },

    find: (providerId, signal) => instances.find(providerId, signal),
    list: (signal) => instances.list(signal),

    controllers(rooms) {
      const { onError } = rooms;
      const cache = createCache(client, Ec2NodeClasses, { clock, random, onError: (error) => onError?.("nodeclass", "", error) });
      nodeClasses = cache;
      return [
        createNodeClassController({ client, nodeClasses: cache, ec2, clock, cluster, images, profiles, subnets, templates }, rooms),
        createTaggingController({ client, clock, ec2, instances, clusterName }, rooms),
        createRefreshController({
          name: "providers.instancetype",
          clock,
          everyMs: REFRESH_MS,
          refresh: (signal) => types.refresh(signal),
          onError,
        }),
        createRefreshController({
          name: "providers.pricing",
          clock,
          everyMs: REFRESH_MS,
          refresh: (signal) => prices.refresh(signal),
          onError,
        }),
        createOnceController("providers.launchtemplate", (signal) => templates.adopt(signal), onError),
      ];
    },
  };
}

/** I-901: the region's own tables, or those of us-east-1. */
function catalogueRegion(region: string): CatalogueRegion {
  return CATALOGUE_REGIONS.find((known) => known === region) ?? "us-east-1";
}

/** Once at the start; a failure is only told (W-521). */
function createOnceController(
  name: string,
  act: (signal: AbortSignal) => Promise<void>,
  onError: ControllerRooms["onError"],
): ProviderController {
  return {
    name,
    async run(signal) {
      try {
        await act(signal);
      } catch (error) {
        if (!signal.aborted) onError?.(name, "", error);
      }
    },
  };
}
