/**
 * EC2 in memory, for tests and for the sandbox: the whole port, with the delays, the scarcity and the faults of the real one. All of it
 * follows from the clock and the chance that it is given, so that a run repeats exactly.
 */
import {
  AwsError,
  type Ec2Calls,
  type Ec2Catalogue,
  type Ec2Instance,
  type Ec2Port,
  ec2PortOf,
  type Filter,
  type Image,
  type SecurityGroup,
  type Subnet,
  type Tag,
} from "@joinery/aws";
import type { Clock, Random } from "@joinery/kube";
import { CapacityPools, type PoolSelector } from "./capacity-pools.ts";
import { CALM_WEATHER, Faults, type ScriptedFault, type Weather } from "./faults.ts";
import { applyFilters, pageOf } from "./filters.ts";
import { createFleet, type FleetRooms } from "./fleet.ts";
import { Images } from "./images.ts";
import { InstanceProfiles } from "./instance-profiles.ts";
import { INSTANCE_TIMING, type InstanceListeners, Instances, type InstanceTiming } from "./instances.ts";
import { LaunchTemplates } from "./launch-templates.ts";
import { Network } from "./network.ts";
import { Prices } from "./prices.ts";
import { Tokens } from "./tokens.ts";

export interface SimulatedEc2Options {
  readonly clock: Clock;
  readonly random: Random;
  readonly catalogue: Ec2Catalogue;
  readonly clusterName: string;
  /** Of the account's subnets and security group, beside those of the cluster. */
  readonly networkTags?: readonly Tag[];
  /** `major.minor`; `1.37` when absent. */
  readonly kubernetesVersion?: string;
  /** Of the API server, as DescribeCluster tells it. */
  readonly clusterEndpoint?: string;
  /** Names of the zones that have a subnet; the first three of the region when absent. */
  readonly zones?: readonly string[];
  readonly timing?: Partial<InstanceTiming>;
  readonly weather?: Partial<Weather>;
}

/** What only the world behind EC2 can do and know. */
export interface Ec2Control extends InstanceListeners {
  setWeather(weather: Partial<Weather>): void;
  script(call: keyof Ec2Calls, fault: ScriptedFault): void;
  callsOf(call: keyof Ec2Calls): number;
  /** Bounds the selected pools; 0 means insufficient capacity. For `forMs`, or for good. */
  limitCapacity(selector: PoolSelector, size: number, forMs?: number): void;
  setSpotPrice(instanceType: string, zone: string, priceUsdPerHour: number): void;
  /** Notice now, end after two minutes. */
  interruptSpot(instanceId: string): void;
  /** All instances as they are, whatever descriptions show yet. */
  instances(): ReturnType<Instances["actual"]>;
  readonly network: Network;
  readonly images: Images;
  readonly profiles: InstanceProfiles;
  readonly prices: Prices;
}

export interface SimulatedEc2 extends Ec2Port {
  readonly control: Ec2Control;
}

const ACTIVE_ZONES = 3;

export function createSimulatedEc2(options: SimulatedEc2Options): SimulatedEc2 {
  const { clock, random, catalogue, clusterName, kubernetesVersion = "1.37" } = options;
  const zones = catalogue.zones.filter(({ name }, index) => options.zones?.includes(name) ?? index < ACTIVE_ZONES);
  const tags: readonly Tag[] = [
    { Key: "karpenter.sh/discovery", Value: clusterName },
    { Key: `kubernetes.io/cluster/${clusterName}`, Value: "owned" },
    ...(options.networkTags ?? []),
  ];
  const faults = new Faults(clock, random, { ...CALM_WEATHER, ...options.weather });
  const pools = new CapacityPools();
  const network = new Network(zones, tags);
  const images = new Images(kubernetesVersion, new Date(clock.wallMs() - 86_400_000).toISOString());
  const profiles = new InstanceProfiles();
  const prices = new Prices(catalogue, random.below(2 ** 31));
  const templates = new LaunchTemplates();
  const instances = new Instances(clock, random, { ...INSTANCE_TIMING, ...options.timing }, ({ instance, pool }) => {
    pools.giveBack(pool);
    network.giveBack(instance.SubnetId ?? "", instance.PrivateIpAddress ?? "");
  });
  const infos = new Map(catalogue.types.map((info) => [info.InstanceType, info]));
  const rooms: FleetRooms = { clock, random, catalogue, infos, pools, network, images, templates, profiles, prices, instances };
  const fleetTokens = new Tokens<Ec2Calls["createFleet"]["result"]>(clock);
  const templateTokens = new Tokens<Ec2Calls["createLaunchTemplate"]["result"]>(clock);

  const effects: { readonly [Name in keyof Ec2Calls]: (request: Ec2Calls[Name]["request"]) => Ec2Calls[Name]["result"] } = {
    describeInstanceTypes(request) {
      const found = applyFilters(catalogue.types as readonly WithTags<(typeof catalogue.types)[number]>[], request.Filters, typeFields);
      const { items, ...rest } = pageOf(found, request);
      return { InstanceTypes: items, ...rest };
    },
    describeInstanceTypeOfferings(request) {
      const all = catalogue.types.flatMap(({ InstanceType }) =>
        (catalogue.zonesByType.get(InstanceType) ?? []).map((Location) => ({ InstanceType, Location })),
      );
      const { items, ...rest } = pageOf(all, request);
      return { InstanceTypeOfferings: items, ...rest };
    },
    describeAvailabilityZones: () => ({
      AvailabilityZones: catalogue.zones.map(({ name, id }) => ({ ZoneName: name, ZoneId: id, State: "available" })),
    }),
    describeSpotPriceHistory(request) {
      const { items, ...rest } = pageOf(prices.history(clock.wallMs()), request);
      return { SpotPriceHistory: items, ...rest };
    },
    getOnDemandPrices: () => ({
      prices: catalogue.types.flatMap(({ InstanceType }) => {
        const pricePerHour = catalogue.onDemandPrice(InstanceType);
        return pricePerHour === undefined ? [] : [{ instanceType: InstanceType, pricePerHour }];
      }),
    }),
    describeSubnets(request) {
      const { items, ...rest } = pageOf(applyFilters(network.subnets(), request.Filters, subnetFields), request);
      return { Subnets: items, ...rest };
    },
    describeSecurityGroups(request) {
      const { items, ...rest } = pageOf(applyFilters(network.securityGroups, request.Filters, groupFields), request);
      return { SecurityGroups: items, ...rest };
    },
    describeImages(request) {
      const { items, ...rest } = pageOf(applyFilters(images.images.values(), request.Filters, imageFields), request);
      return { Images: items, ...rest };
    },
    getParameter: ({ Name }) => ({ Parameter: images.getParameter(Name) }),
    createLaunchTemplate: ({ ClientToken, ...request }) =>
      templateTokens.once(ClientToken, request, () => {
        const { data: _, ...LaunchTemplate } = templates.create(
          request.LaunchTemplateName,
          request.LaunchTemplateData,
          request.TagSpecifications?.flatMap(({ Tags }) => Tags) ?? [],
        );
        return { LaunchTemplate };
      }),
    describeLaunchTemplates(request) {
      const named = request.LaunchTemplateNames?.map((name) => templates.get(name)) ?? templates.all();
      const found = applyFilters(named, request.Filters, () => undefined).map(({ data: _, ...template }) => template);
      const { items, ...rest } = pageOf(found, request);
      return { LaunchTemplates: items, ...rest };
    },
    deleteLaunchTemplate(request) {
      templates.delete(request);
      return {};
    },
    createFleet: ({ ClientToken, ...request }) => fleetTokens.once(ClientToken, request, () => createFleet(request, rooms)),
    describeInstances(request) {
      const seen = instances.seen();
      const unknown = request.InstanceIds?.find((id) => !seen.some(({ InstanceId }) => InstanceId === id));
      if (unknown !== undefined) throw new AwsError("InvalidInstanceID.NotFound", `The instance ID '${unknown}' does not exist`);
      const wanted = request.InstanceIds === undefined ? seen : seen.filter(({ InstanceId }) => request.InstanceIds?.includes(InstanceId));
      const { items, ...rest } = pageOf(applyFilters(wanted, request.Filters, instanceFields), request);
      return { Instances: items, ...rest };
    },
    terminateInstances: ({ InstanceIds }) => ({ TerminatingInstances: instances.terminate(InstanceIds) }),
    createTags({ Resources, Tags }) {
      instances.addTags(Resources, Tags);
      return {};
    },
    getInstanceProfile: ({ InstanceProfileName }) => ({ InstanceProfile: profiles.get(InstanceProfileName) }),
    listInstanceProfiles: ({ PathPrefix }) => ({ InstanceProfiles: profiles.list(PathPrefix) }),
    createInstanceProfile: ({ InstanceProfileName, Path, Tags }) => ({ InstanceProfile: profiles.create(InstanceProfileName, Path, Tags) }),
    addRoleToInstanceProfile({ InstanceProfileName, RoleName }) {
      profiles.addRole(InstanceProfileName, RoleName);
      return {};
    },
    removeRoleFromInstanceProfile({ InstanceProfileName }) {
      profiles.dropRole(InstanceProfileName);
      return {};
    },
    deleteInstanceProfile({ InstanceProfileName }) {
      profiles.delete(InstanceProfileName);
      return {};
    },
    describeCluster({ name }) {
      if (name !== clusterName) throw new AwsError("ResourceNotFoundException", `No cluster found for name: ${name}.`);
      const endpoint = options.clusterEndpoint ?? "https://kubernetes.invalid";
      return { cluster: { name, endpoint, version: kubernetesVersion, serviceIpv4Cidr: "172.20.0.0/16" } };
    },
  };
  const port = ec2PortOf((name, request, signal) =>
    faults.carry(name, () => (effects[name] as (request: unknown) => unknown)(request), signal),
  );

  const control: Ec2Control = {
    setWeather: (weather) => faults.setWeather(weather),
    script: (call, fault) => faults.script(call, fault),
    callsOf: (call) => faults.countOf(call),
    limitCapacity: (selector, size, forMs) => pools.limit(selector, size, forMs === undefined ? undefined : clock.wallMs() + forMs),
    setSpotPrice: (instanceType, zone, price) => prices.setSpot(instanceType, zone, price),
    interruptSpot: (id) => instances.interrupt(id),
    instances: () => instances.actual(),
    onInstanceRunning: (listener) => instances.onInstanceRunning(listener),
    onInstanceStopping: (listener) => instances.onInstanceStopping(listener),
    onInstanceTerminated: (listener) => instances.onInstanceTerminated(listener),
    onSpotNotice: (listener) => instances.onSpotNotice(listener),
    network,
    images,
    profiles,
    prices,
  };
  return { ...port, control };
}

type WithTags<T> = T & { readonly Tags?: readonly Tag[] };

function typeFields(type: Ec2Catalogue["types"][number], name: Filter["Name"]): readonly string[] | undefined {
  if (name === "supported-virtualization-type") return type.SupportedVirtualizationTypes ?? [];
  if (name === "processor-info.supported-architecture") return type.ProcessorInfo?.SupportedArchitectures ?? [];
  return name === "instance-type" ? [type.InstanceType] : undefined;
}

function subnetFields(subnet: Subnet, name: Filter["Name"]): readonly string[] | undefined {
  if (name === "subnet-id") return [subnet.SubnetId];
  return name === "availability-zone" ? [subnet.AvailabilityZone] : undefined;
}

function groupFields(group: SecurityGroup, name: Filter["Name"]): readonly string[] | undefined {
  if (name === "group-id") return [group.GroupId];
  return name === "group-name" ? [group.GroupName] : undefined;
}

function imageFields(image: Image, name: Filter["Name"]): readonly string[] | undefined {
  if (name === "image-id") return [image.ImageId];
  if (name === "name") return [image.Name];
  return name === "state" ? [image.State ?? "available"] : undefined;
}

function instanceFields(instance: Ec2Instance, name: Filter["Name"]): readonly string[] | undefined {
  if (name === "instance-state-name") return [instance.State.Name];
  return name === "instance-id" ? [instance.InstanceId] : undefined;
}
