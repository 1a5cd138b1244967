/** Client tokens: the same token with the same parameters is the same call, with other parameters it is a mistake. */
import { AwsError } from "@joinery/aws";
import type { Clock } from "@joinery/kube";

/** EC2 promises to know a token for so long at least (its guide on idempotency). */
const KEEP_MS = 48 * 3_600_000;

export class Tokens<T> {
  readonly #clock: Clock;
  /** Oldest first. */
  readonly #done = new Map<string, { readonly parameters: string; readonly result: T; readonly atMs: number }>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Runs `effect` once per token; without a token always. What throws leaves nothing behind. */
  once(token: string | undefined, parameters: unknown, effect: () => T): T {
    if (token === undefined) return effect();
    this.#forgetOld();
    const text = JSON.stringify(parameters);
    const earlier = this.#done.get(token);
    if (earlier === undefined) {
      const result = effect();
      this.#done.set(token, { parameters: text, result, atMs: this.#clock.monotonicMs() });
      return result;
    }
    if (earlier.parameters !== text) {
      throw new AwsError("IdempotentParameterMismatch", "The client token was used before with different parameters");
    }
    return earlier.result;
  }

  #forgetOld(): void {
    for (const [token, { atMs }] of this.#done) {
      if (this.#clock.monotonicMs() - atMs < KEEP_MS) return;
      this.#done.delete(token);
    }
  }
}
