/** Instances from launch to oblivion: pending, running, shutting down, terminated, forgotten; seen by others with a lag. */
import { AwsError, type Ec2Instance, type InstanceStateName, type Tag } from "@joinery/aws";
import type { Clock, Random } from "@joinery/kube";
import type { PoolKey } from "./capacity-pools.ts";
import type { Machine } from "./machine.ts";

export interface InstanceTiming {
  /** From the launch until the machine runs. */
  readonly startMs: readonly [number, number];
  /** From the wish to terminate until the instance is terminated. */
  readonly shutdownMs: readonly [number, number];
  /** How late descriptions are. */
  readonly lagMs: readonly [number, number];
  /** How long a terminated instance is still described. */
  readonly afterlifeMs: number;
  /** From the notice of a spot interruption until the instance is taken. */
  readonly noticeMs: number;
}

export const INSTANCE_TIMING: InstanceTiming = {
  startMs: [6_000, 14_000],
  shutdownMs: [8_000, 25_000],
  lagMs: [0, 1_500],
  afterlifeMs: 3_600_000,
  noticeMs: 120_000,
};

export interface InstanceState {
  readonly instance: Ec2Instance;
  readonly machine: Machine;
  readonly pool: PoolKey;
  readonly priceUsdPerHour: number;
}

/** As EventBridge brings it, two minutes before the instance is taken. */
export interface SpotNotice {
  readonly source: "aws.ec2";
  readonly "detail-type": "EC2 Spot Instance Interruption Warning";
  readonly time: string;
  readonly detail: { readonly "instance-id": string; readonly "instance-action": "terminate" };
}

export interface InstanceListeners {
  /** The machine has booted. */
  onInstanceRunning(listener: (machine: Machine) => void): void;
  /** The machine stops answering; the instance is still described as shutting down for a while. */
  onInstanceStopping(listener: (machine: Machine) => void): void;
  onInstanceTerminated(listener: (machine: Machine) => void): void;
  onSpotNotice(listener: (notice: SpotNotice) => void): void;
}

interface Entry extends InstanceState {
  /** Truth over time, oldest first. */
  readonly states: { readonly sinceMs: number; readonly name: InstanceStateName }[];
  readonly lagMs: number;
  tags: readonly Tag[];
  cancel: () => void;
}

export class Instances implements InstanceListeners {
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #timing: InstanceTiming;
  readonly #onGone: (state: InstanceState) => void;
  readonly #entries = new Map<string, Entry>();
  readonly #running: ((machine: Machine) => void)[] = [];
  readonly #stopping: ((machine: Machine) => void)[] = [];
  readonly #terminated: ((machine: Machine) => void)[] = [];
  readonly #notices: ((notice: SpotNotice) => void)[] = [];

  /** @param onGone called when the instance gives its place back. */
  constructor(clock: Clock, random: Random, timing: InstanceTiming, onGone: (state: InstanceState) => void) {
    this.#clock = clock;
    this.#random = random;
    this.#timing = timing;
    this.#onGone = onGone;
  }

  onInstanceRunning(listener: (machine: Machine) => void): void {
    this.#running.push(listener);
  }

  onInstanceStopping(listener: (machine: Machine) => void): void {
    this.#stopping.push(listener);
  }

  onInstanceTerminated(listener: (machine: Machine) => void): void {
    this.#terminated.push(listener);
  }

  onSpotNotice(listener: (notice: SpotNotice) => void): void {
    this.#notices.push(listener);
  }

  start(state: InstanceState): void {
    const entry: Entry = {
      ...state,
      states: [{ sinceMs: this.#clock.wallMs(), name: "pending" }],
      lagMs: this.#between(this.#timing.lagMs),
      tags: state.instance.Tags ?? [],
      cancel: () => {},
    };
    this.#entries.set(state.instance.InstanceId, entry);
    entry.cancel = this.#clock.after(this.#between(this.#timing.startMs), () => {
      this.#enter(entry, "running");
      for (const listener of this.#running) listener(entry.machine);
    });
  }

  /** EC2 refuses the whole call when it does not know one of the IDs. Repeating is harmless. */
  terminate(ids: readonly string[]): { readonly InstanceId: string; readonly CurrentState: { readonly Name: InstanceStateName } }[] {
    const entries = ids.map((id) => this.#get(id));
    for (const entry of entries) this.#shutDown(entry);
    return entries.map((entry) => ({ InstanceId: entry.instance.InstanceId, CurrentState: { Name: nameOf(entry) } }));
  }

  /** The notice now, the end after two minutes. */
  interrupt(id: string): void {
    const entry = this.#get(id);
    const time = new Date(this.#clock.wallMs()).toISOString();
    const notice: SpotNotice = {
      source: "aws.ec2",
      "detail-type": "EC2 Spot Instance Interruption Warning",
      time,
      detail: { "instance-id": id, "instance-action": "terminate" },
    };
    for (const listener of this.#notices) listener(notice);
    this.#clock.after(this.#timing.noticeMs, () => this.#shutDown(entry));
  }

  addTags(ids: readonly string[], tags: readonly Tag[]): void {
    const entries = ids.map((id) => this.#get(id));
    const keys = new Set(tags.map(({ Key }) => Key));
    for (const entry of entries) entry.tags = [...entry.tags.filter(({ Key }) => !keys.has(Key)), ...tags];
  }

  /** What a caller sees: some instances not yet, and some states not yet. */
  seen(): Ec2Instance[] {
    const now = this.#clock.wallMs();
    return [...this.#entries.values()].flatMap((entry) => {
      const state = entry.states.findLast(({ sinceMs }) => sinceMs + entry.lagMs <= now);
      return state === undefined ? [] : [describe(entry, state.name)];
    });
  }

  /** What is. */
  actual(): (InstanceState & { readonly state: InstanceStateName })[] {
    return [...this.#entries.values()].map((entry) => ({ ...entry, instance: describe(entry, nameOf(entry)), state: nameOf(entry) }));
  }

  #shutDown(entry: Entry): void {
    if (nameOf(entry) === "shutting-down" || nameOf(entry) === "terminated") return;
    entry.cancel();
    this.#enter(entry, "shutting-down");
    for (const listener of this.#stopping) listener(entry.machine);
    entry.cancel = this.#clock.after(this.#between(this.#timing.shutdownMs), () => {
      this.#enter(entry, "terminated");
      this.#onGone(entry);
      for (const listener of this.#terminated) listener(entry.machine);
      this.#clock.after(this.#timing.afterlifeMs, () => this.#entries.delete(entry.instance.InstanceId));
    });
  }

  #enter(entry: Entry, name: InstanceStateName): void {
    entry.states.push({ sinceMs: this.#clock.wallMs(), name });
  }

  #get(id: string): Entry {
    const entry = this.#entries.get(id);
    if (entry === undefined) throw new AwsError("InvalidInstanceID.NotFound", `The instance ID '${id}' does not exist`);
    return entry;
  }

  #between([least, most]: readonly [number, number]): number {
    return Math.round(least + (most - least) * this.#random.fraction());
  }
}

function nameOf({ states }: Entry): InstanceStateName {
  return states.at(-1)?.name ?? "pending";
}

function describe({ instance, tags }: Entry, Name: InstanceStateName): Ec2Instance {
  return { ...instance, Tags: tags, State: { Name } };
}
