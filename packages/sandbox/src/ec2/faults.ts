/** What goes wrong on the way to EC2: delay, throttling, errors, and answers that are lost after the call took effect. */
import { AwsError, type AwsFault, type Ec2CallName } from "@joinery/aws";
import type { Clock, Random } from "@joinery/kube";

/** Chances from 0 to 1, drawn per call. */
export interface Weather {
  readonly throttleChance: number;
  readonly errorChance: number;
  readonly lostReplyChance: number;
  /** From asking to answering. */
  readonly delayMs: readonly [number, number];
}

export const CALM_WEATHER: Weather = { throttleChance: 0, errorChance: 0, lostReplyChance: 0, delayMs: [20, 120] };

export interface ScriptedFault {
  readonly code: string;
  readonly message?: string;
  readonly fault?: AwsFault;
  /** How many calls it hits; 1 when absent. */
  readonly times?: number;
  /** The call takes effect and only its answer is lost. */
  readonly afterEffect?: boolean;
}

export class Faults {
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #scripted = new Map<Ec2CallName, ScriptedFault[]>();
  readonly #counts = new Map<Ec2CallName, number>();
  #weather: Weather;

  constructor(clock: Clock, random: Random, weather: Weather) {
    this.#clock = clock;
    this.#random = random;
    this.#weather = weather;
  }

  setWeather(weather: Partial<Weather>): void {
    this.#weather = { ...this.#weather, ...weather };
  }

  /** Faults of one call are used up in the order in which they were given. */
  script(call: Ec2CallName, fault: ScriptedFault): void {
    const queue = this.#scripted.get(call) ?? [];
    for (let time = 0; time < (fault.times ?? 1); time++) queue.push(fault);
    this.#scripted.set(call, queue);
  }

  /** How often a call reached EC2, throttled ones included. */
  countOf(call: Ec2CallName): number {
    return this.#counts.get(call) ?? 0;
  }

  /** Lets a call through the weather. `effect` runs at most once, in one go. */
  async carry<T>(call: Ec2CallName, effect: () => T, signal?: AbortSignal): Promise<T> {
    const [least, most] = this.#weather.delayMs;
    const outwardMs = (least + (most - least) * this.#random.fraction()) / 2;
    if (outwardMs > 0) await this.#clock.sleep(outwardMs, signal);
    signal?.throwIfAborted();
    this.#counts.set(call, this.countOf(call) + 1);
    const scripted = this.#scripted.get(call)?.shift();
    if (scripted !== undefined && scripted.afterEffect !== true) throw errorOf(scripted);
    if (this.#happens(this.#weather.throttleChance)) throw new AwsError("RequestLimitExceeded", "Request limit exceeded.", "client");
    if (this.#happens(this.#weather.errorChance)) throw new AwsError("InternalError", "An internal error has occurred", "server");
    const result = effect();
    const isLost = this.#happens(this.#weather.lostReplyChance);
    if (outwardMs > 0) await this.#clock.sleep(outwardMs, signal);
    if (scripted !== undefined) throw errorOf(scripted);
    if (isLost) throw new AwsError("NetworkingError", "socket hang up", "network");
    return result;
  }

  #happens(chance: number): boolean {
    return chance > 0 && this.#random.fraction() < chance;
  }
}

function errorOf({ code, message = "injected", fault = "client" }: ScriptedFault): AwsError {
  return new AwsError(code, message, fault);
}
