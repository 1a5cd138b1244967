/** What EC2 could not give a moment ago, and so is not asked for again for a while. Rules I-810…I-813, W-660…W-662, X-12. */
import type { Clock } from "@joinery/kube";

const LIFETIME_MS = 180_000;

/** Versions tell caches what has changed since they looked. */
export class UnavailableOfferings {
  readonly #clock: Clock;
  /** Type → `capacityType/zone` → end, on the monotonic clock. */
  readonly #offerings = new Map<string, Map<string, number>>();
  readonly #capacityTypes = new Map<string, number>();
  readonly #subnets = new Map<string, number>();
  readonly #typeVersions = new Map<string, number>();
  #commonVersion = 0;
  #version = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  mark(capacityType: string, instanceType: string, zone: string): void {
    const marks = this.#offerings.get(instanceType) ?? new Map<string, number>();
    this.#offerings.set(instanceType, marks.set(`${capacityType}/${zone}`, this.#end()));
    this.#changeType(instanceType);
  }

  markCapacityType(capacityType: string): void {
    this.#capacityTypes.set(capacityType, this.#end());
    this.#changeAll();
  }

  markSubnet(subnetId: string): void {
    this.#subnets.set(subnetId, this.#end());
    this.#changeAll();
  }

  /** I-811; an empty list of subnets makes nothing unavailable. */
  has(capacityType: string, instanceType: string, zone: string, subnetIds: readonly string[]): boolean {
    this.sweep();
    if (this.#capacityTypes.has(capacityType) || this.#offerings.get(instanceType)?.has(`${capacityType}/${zone}`)) return true;
    return subnetIds.length > 0 && subnetIds.every((id) => this.#subnets.has(id));
  }

  /** Changes whenever any answer may have changed. */
  get version(): number {
    this.sweep();
    return this.#version;
  }

  /** The same for one type (I-813). */
  versionOf(instanceType: string): number {
    return (this.#typeVersions.get(instanceType) ?? 0) + this.#commonVersion;
  }

  /** Forgets what has ended. Called on every question, so no timer is needed. */
  sweep(): void {
    const now = this.#clock.monotonicMs();
    for (const [instanceType, marks] of this.#offerings) {
      for (const [name, end] of marks) {
        if (end > now) continue;
        marks.delete(name);
        this.#changeType(instanceType);
      }
      if (marks.size === 0) this.#offerings.delete(instanceType);
    }
    for (const table of [this.#capacityTypes, this.#subnets]) {
      for (const [name, end] of table) {
        if (end > now) continue;
        table.delete(name);
        this.#changeAll();
      }
    }
  }

  #end(): number {
    return this.#clock.monotonicMs() + LIFETIME_MS;
  }

  #changeType(instanceType: string): void {
    this.#typeVersions.set(instanceType, (this.#typeVersions.get(instanceType) ?? 0) + 1);
    this.#version++;
  }

  #changeAll(): void {
    this.#commonVersion++;
    this.#version++;
  }
}
