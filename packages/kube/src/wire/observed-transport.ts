/** A transport that tells what became of each request: for metrics, and for who must know whether the server is there. */
import type { Clock } from "../clock/clock.ts";
import type { ApiRequest, Transport } from "./transport.ts";

export interface RequestOutcome {
  readonly request: ApiRequest;
  /** Until the answer; of a watch, until it began. */
  readonly durationMs: number;
  /** Absent when no answer came. */
  readonly status?: number;
  /** Why no answer came. */
  readonly error?: unknown;
}

/** Requests that their caller broke off are not told: nothing became of them. */
export function createObservedTransport(transport: Transport, clock: Clock, observe: (outcome: RequestOutcome) => void): Transport {
  /** The answer is handed on as it is: who asked gets it no later for being watched. */
  function told<T extends { readonly status: number }>(
    request: ApiRequest,
    signal: AbortSignal | undefined,
    answer: Promise<T>,
  ): Promise<T> {
    const sentAtMs = clock.monotonicMs();
    const tookMs = () => clock.monotonicMs() - sentAtMs;
    answer.then(
      ({ status }) => observe({ request, durationMs: tookMs(), status }),
      (error) => {
        if (!signal?.aborted) observe({ request, durationMs: tookMs(), error });
      },
    );
    return answer;
  }
  return {
    send: (request, signal) => told(request, signal, transport.send(request, signal)),
    stream: (request, signal) => told(request, signal, transport.stream(request, signal)),
    close: () => transport.close(),
  };
}
