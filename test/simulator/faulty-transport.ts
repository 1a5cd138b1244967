/** One replica's way to the API server, in the weather of the hour. Every fault is one that a network or a busy API server has. */
import { type ApiRequest, type ApiResponse, type ApiStream, type Clock, type Random, type Transport, TransportError } from "@joinery/kube";
import { type FaultKind, happens, type Weather } from "./weather.ts";

export interface FaultyTransportOptions {
  readonly transport: Transport;
  readonly clock: Clock;
  readonly random: Random;
  readonly weather: () => Weather;
  readonly onFault: (kind: FaultKind, detail: string) => void;
  /** The process is gone: what it had not sent is never sent. */
  readonly death: AbortSignal;
  /** No packet of this replica arrives. */
  readonly isCutOff: () => boolean;
}

/** How long a request waits for its answer before the client gives it up. */
const REQUEST_TIMEOUT_MS = 30_000;

const REFUSALS: readonly { readonly kind: FaultKind; readonly status: number; readonly reason: string }[] = [
  { kind: "api-conflict", status: 409, reason: "Conflict" },
  { kind: "api-too-many-requests", status: 429, reason: "TooManyRequests" },
  { kind: "api-server-error", status: 500, reason: "InternalError" },
];

export function createFaultyTransport(options: FaultyTransportOptions): Transport {
  const { transport, clock, random, weather, onFault, death, isCutOff } = options;

  function befalls(kind: FaultKind, { method, path }: ApiRequest): boolean {
    const isSo = happens(kind, weather(), random);
    if (isSo) onFault(kind, `${method} ${path}`);
    return isSo;
  }

  async function late(ms: number, signal: AbortSignal | undefined): Promise<void> {
    await clock.sleep(ms, signal === undefined ? death : AbortSignal.any([death, signal]));
  }

  async function send(request: ApiRequest, signal?: AbortSignal): Promise<ApiResponse> {
    if (weather().isCalm) return transport.send(request, signal);
    if (isCutOff()) throw new TransportError("unreachable", "connect ETIMEDOUT");
    const isLease = request.path.includes("/leases/");
    const isList = request.method === "GET" && request.query?.limit !== undefined;
    if (befalls(isList ? "list-slow" : "api-slow", request)) await late(random.fraction() * weather().slowMs * (isList ? 5 : 1), signal);
    if (befalls("api-unreachable", request)) throw new TransportError("unreachable", "connect ECONNREFUSED");
    for (const { kind, status, reason } of REFUSALS) {
      // Optimistic locking is for writes of what exists; a Lease that is refused too often is lost, which other faults see to.
      if (kind === "api-conflict" && (isLease || request.method === "GET" || request.method === "POST")) continue;
      if (befalls(kind, request)) return refusal(status, reason, random);
    }
    const isSilent = befalls("api-timeout", request);
    // Lost on the way there, or on the way back.
    if (isSilent && random.below(2) === 0) return silence(signal);
    const response = await transport.send(request, signal);
    if (isSilent) return silence(signal);
    if (request.method === "GET") return response;
    if (befalls("api-lost-reply", request)) throw new TransportError("broken", "socket hang up");
    if (befalls("api-error-after-effect", request)) return refusal(504, "Timeout", random);
    return response;
  }

  async function silence(signal: AbortSignal | undefined): Promise<never> {
    await late(REQUEST_TIMEOUT_MS, signal);
    throw new TransportError("timeout", `there was no answer within ${REQUEST_TIMEOUT_MS / 1000} s`);
  }

  async function stream(request: ApiRequest, signal: AbortSignal): Promise<ApiStream> {
    if (isCutOff() || befalls("watch-refused", request)) throw new TransportError("unreachable", "connect ECONNREFUSED");
    if (befalls("watch-expired", request)) return { status: 200, values: expired() };
    const isHung = befalls("watch-hung", request);
    const isStale = !isHung && befalls("watch-stale", request);
    const cut = new AbortController();
    const inner = await transport.stream(request, AbortSignal.any([signal, cut.signal, death]));
    if (isHung) return { ...inner, values: hung(inner.values, signal) };
    return { ...inner, values: flowing(request, inner.values, isStale, cut, signal) };
  }

  async function* flowing(
    request: ApiRequest,
    values: AsyncIterable<unknown>,
    isStale: boolean,
    cut: AbortController,
    signal: AbortSignal,
  ): AsyncIterable<unknown> {
    let lastAtMs = 0;
    for await (const value of values) {
      if (isStale && !weather().isCalm) {
        // A backlog arrives together: what waits behind a late value is not late once more.
        const dueMs = Math.max(lastAtMs, clock.monotonicMs() + random.fraction() * weather().staleMs);
        lastAtMs = dueMs;
        if (dueMs > clock.monotonicMs()) await late(dueMs - clock.monotonicMs(), signal).catch(() => {});
        if (signal.aborted) return;
      }
      if (isCutOff() || befalls("watch-dropped", request)) {
        cut.abort();
        throw new TransportError("broken", "the watch broke");
      }
      yield value;
    }
  }

  return { send, stream, close: async () => {} };
}

/** The connection is dead, and nobody says so: values come in, and none comes out. */
async function* hung(values: AsyncIterable<unknown>, signal: AbortSignal): AsyncIterable<unknown> {
  for await (const _ of values) if (signal.aborted) return;
  await new Promise<void>((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener("abort", () => resolve(), { once: true });
  });
}

async function* expired(): AsyncIterable<unknown> {
  yield { type: "ERROR", object: { kind: "Status", code: 410, reason: "Expired", message: "too old resource version" } };
}

function refusal(code: number, reason: string, random: Random): ApiResponse {
  const details = code === 429 ? { retryAfterSeconds: 1 + random.below(3) } : undefined;
  const message = `the server answered ${code}: injected`;
  return { status: code, body: { kind: "Status", status: "Failure", code, reason, message, ...(details && { details }) } };
}
