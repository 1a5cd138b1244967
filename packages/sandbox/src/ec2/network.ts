/** The VPC of the cluster: a subnet per zone that counts its addresses, and the nodes' security group. */
import { AwsError, type SecurityGroup, type Subnet, type Tag, type Zone } from "@joinery/aws";

/** A /20 less the five addresses that AWS keeps. */
const ADDRESSES_PER_SUBNET = 4091;
const FIRST_HOST = 4;

interface SubnetState {
  readonly subnet: Subnet;
  /** Third octet of its first address. */
  readonly base: number;
  readonly size: number;
  readonly taken: Set<number>;
  /** Where the next address is looked for. */
  nextHost: number;
}

export class Network {
  readonly #subnets = new Map<string, SubnetState>();
  readonly securityGroups: SecurityGroup[] = [];
  readonly vpcId = "vpc-0a1b2c3d4e5f60718";

  constructor(zones: readonly Zone[], tags: readonly Tag[]) {
    for (const [index, zone] of zones.entries())
      this.addSubnet({ zone, id: `subnet-0${"abcdef"[index] ?? index}00000000000000${index}`, tags });
    this.securityGroups.push({ GroupId: "sg-0a00000000000000", GroupName: "eks-nodes", VpcId: this.vpcId, Tags: tags });
  }

  addSubnet({
    zone,
    id,
    tags,
    size = ADDRESSES_PER_SUBNET,
  }: {
    readonly zone: Zone;
    readonly id: string;
    readonly tags: readonly Tag[];
    readonly size?: number;
  }): void {
    const subnet = {
      SubnetId: id,
      AvailabilityZone: zone.name,
      AvailabilityZoneId: zone.id,
      AvailableIpAddressCount: size,
      VpcId: this.vpcId,
      Tags: tags,
    };
    this.#subnets.set(id, { subnet, base: this.#subnets.size * 16, size, taken: new Set(), nextHost: FIRST_HOST });
  }

  subnets(): readonly Subnet[] {
    return [...this.#subnets.values()].map(({ subnet, size, taken }) => ({ ...subnet, AvailableIpAddressCount: size - taken.size }));
  }

  free(subnetId: string): number {
    const { size, taken } = this.#get(subnetId);
    return size - taken.size;
  }

  zoneOf(subnetId: string): string {
    return this.#get(subnetId).subnet.AvailabilityZone;
  }

  /**
   * A private address. The caller has checked that one is free. One that was given back waits until all others have had their turn: a machine
   * that took it at once would call itself by the name of a Node that is not gone yet.
   */
  takeAddress(subnetId: string): string {
    const state = this.#get(subnetId);
    const { base, size, taken } = state;
    const after = (host: number) => (host === FIRST_HOST + size - 1 ? FIRST_HOST : host + 1);
    let host = state.nextHost;
    while (taken.has(host)) host = after(host);
    taken.add(host);
    state.nextHost = after(host);
    return `10.0.${base + Math.floor(host / 256)}.${host % 256}`;
  }

  giveBack(subnetId: string, address: string): void {
    const { base, taken } = this.#get(subnetId);
    const [, , third = 0, fourth = 0] = address.split(".").map(Number);
    taken.delete((third - base) * 256 + fourth);
  }

  #get(subnetId: string): SubnetState {
    const state = this.#subnets.get(subnetId);
    if (state === undefined) throw new AwsError("InvalidSubnetID.NotFound", `The subnet ID '${subnetId}' does not exist`);
    return state;
  }
}
