/** How many addresses each subnet has left, with launches counted that EC2 does not show yet. Rules W-340…W-345. */
import type { Ec2NodeClassStatus } from "@joinery/api";
import type { Subnet } from "../ec2/ec2-port.ts";

export interface ChosenSubnet {
  readonly id: string;
  readonly zone: string;
  readonly zoneId: string;
  /** Addresses at the time of choosing. */
  readonly count: number;
}

export class SubnetLedger {
  /** As EC2 said it last. */
  readonly #listed = new Map<string, number>();
  /** What launches since then have left of it; may go below zero. */
  readonly #inFlight = new Map<string, number>();

  /** W-340. */
  note(subnets: readonly Subnet[]): void {
    for (const { SubnetId, AvailableIpAddressCount } of subnets) {
      this.#listed.set(SubnetId, AvailableIpAddressCount);
      this.#inFlight.delete(SubnetId);
    }
  }

  /** W-341: the roomiest subnet of each zone; of equals the first in the order of the status. */
  choose(subnets: NonNullable<Ec2NodeClassStatus["subnets"]>): ReadonlyMap<string, ChosenSubnet> {
    const chosen = new Map<string, ChosenSubnet>();
    for (const { id, zone, zoneID = "" } of subnets) {
      const count = this.#inFlight.get(id) ?? this.#listed.get(id) ?? 0;
      const held = chosen.get(zone);
      if (held === undefined || count > held.count) chosen.set(zone, { id, zone, zoneId: zoneID, count });
    }
    return chosen;
  }

  /** W-342. From what is left now: other launches may have chosen the same subnet in the meantime. */
  deduct({ id, count }: ChosenSubnet, addresses: number): void {
    this.#inFlight.set(id, (this.#inFlight.get(id) ?? this.#listed.get(id) ?? count) - addresses);
  }

  /** W-343: nothing was launched there after all, and nobody has listed the subnet since. */
  giveBack({ id, count }: ChosenSubnet, addresses: number): void {
    const held = this.#inFlight.get(id);
    if (held !== undefined && this.#listed.get(id) === count) this.#inFlight.set(id, held + addresses);
  }

  /** W-344. */
  markFull(id: string): void {
    this.#listed.set(id, 0);
    this.#inFlight.delete(id);
  }
}
