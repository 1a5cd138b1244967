/** Credentials from a token file that is rewritten from time to time, as the kubelet does with service account tokens. */
import type { Clock } from "../clock/clock.ts";
import type { CredentialSource, Credentials } from "./http-transport.ts";

/** A minute, as client-go: the kubelet renews a token when a fifth of its life is left, so a minute late is early enough. */
const TOKEN_CACHE_MS = 60_000;

export function createTokenFileCredentials(readToken: () => Promise<string>, clock: Clock): CredentialSource {
  let held: Credentials | undefined;
  let readAtMs = 0;
  return async (isRefused) => {
    const nowMs = clock.monotonicMs();
    if (held === undefined || isRefused || nowMs - readAtMs >= TOKEN_CACHE_MS) {
      held = { headers: { authorization: `Bearer ${(await readToken()).trim()}` } };
      readAtMs = nowMs;
    }
    return held;
  };
}
