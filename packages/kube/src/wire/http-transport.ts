/**
 * Requests over HTTP(S), on undici's pools. Requests share a bounded number of connections; each watch has one of its own, so
 * watches cannot starve requests. undici's timers are off: spans are the `Clock`'s.
 */
import { createSecureContext } from "node:tls";
import { type Dispatcher, Pool, ProxyAgent } from "undici";
import type { Clock } from "../clock/clock.ts";
import { startDeadline } from "../clock/deadline.ts";
import { BodyBuffer, type BorrowedBytes } from "./body-buffer.ts";
import { TransportError } from "./errors.ts";
import { GZIP, inflate } from "./gzip.ts";
import { jsonLines } from "./json-lines.ts";
import { faultOf, isHangUp, messageOf } from "./network-faults.ts";
import { frames } from "./protobuf/frames.ts";
import { PROTOBUF } from "./protobuf/objects.ts";
import type { ApiRequest, ApiResponse, Transport } from "./transport.ts";

export interface TlsOptions {
  /** PEM. */
  readonly ca?: string | Buffer;
  readonly cert?: string | Buffer;
  readonly key?: string | Buffer;
  /** False: any server certificate is taken. */
  readonly rejectUnauthorized?: boolean;
  /** The name that the server's certificate must have, when not the URL's. */
  readonly servername?: string;
}

export interface Credentials {
  /** `authorization` and whatever else says who asks. */
  readonly headers: Readonly<Record<string, string>>;
  /** In place of the transport's own; the same object while nothing changes. */
  readonly tls?: TlsOptions;
}

/** Gives the credentials of the next request. `isRefused`: the server refused the last ones (401), so cached ones are no good. */
export type CredentialSource = (isRefused: boolean) => Promise<Credentials>;

export interface HttpTransportOptions {
  /** `https://host:port`, with the path that stands before `/api` if there is one. */
  readonly server: string;
  readonly clock: Clock;
  readonly tls?: TlsOptions;
  readonly credentials?: CredentialSource;
  /** HTTP proxy that tunnels to the server. */
  readonly proxyUrl?: string;
  /** Until the whole answer is there; for watches until the answer begins. */
  readonly requestTimeoutMs?: number;
  /** Connections that requests share; further requests wait. */
  readonly connectionsMax?: number;
}

const REQUEST_TIMEOUT_MS = 30_000;
/** Each TLS connection costs about 100 KB; 16 carry more than a thousand requests a second at a round trip of 10 ms. */
const CONNECTIONS_MAX = 16;
/** For what must not wait for one of these: a Lease whose renewal stands behind a thousand writes is lost. Opened when used. */
const URGENT_CONNECTIONS_MAX = 2;
/** Well below the idle time-outs of API servers and load balancers (from 60 s), so that they are not the ones to hang up. */
const KEEP_ALIVE_MS = 30_000;
const USER_AGENT = "joinery";

interface Pools {
  readonly tls: TlsOptions | undefined;
  readonly requests: Dispatcher;
  readonly urgent: Dispatcher;
  readonly streams: Dispatcher;
}

export function createHttpTransport(options: HttpTransportOptions): Transport {
  const { clock, credentials, requestTimeoutMs = REQUEST_TIMEOUT_MS } = options;
  const { origin, pathname } = parseServer(options.server);
  const prefix = pathname.replace(/\/+$/, "");
  let pools = openPools(origin, options, options.tls);
  let isClosed = false;
  const bodies = new BodyBuffer();

  async function dispatch(request: ApiRequest, isStream: boolean, signal: AbortSignal): Promise<Dispatcher.ResponseData> {
    const response = await attempt(request, isStream, false, signal);
    if (response.statusCode !== 401 || credentials === undefined) {
      return response;
    }
    await response.body.dump();
    return attempt(request, isStream, true, signal);
  }

  /** A kept connection may turn out to be closed by the server just when it is used; what only reads is then asked once more. */
  async function attempt(
    request: ApiRequest,
    isStream: boolean,
    isRefused: boolean,
    signal: AbortSignal,
  ): Promise<Dispatcher.ResponseData> {
    const own = await readCredentials(isRefused);
    try {
      return await ask(request, own, isStream, signal);
    } catch (error) {
      if (request.method !== "GET" || signal.aborted || !isHangUp(error)) {
        throw error;
      }
      return ask(request, own, isStream, signal);
    }
  }

  function ask(
    request: ApiRequest,
    own: Credentials | undefined,
    isStream: boolean,
    signal: AbortSignal,
  ): Promise<Dispatcher.ResponseData> {
    return poolFor(own?.tls, isStream ? "streams" : request.isUrgent ? "urgent" : "requests").request({
      origin,
      method: request.method,
      path: prefix + request.path + queryText(request.query),
      headers: {
        accept: request.accept ?? "application/json",
        "user-agent": request.userAgent ?? USER_AGENT,
        ...(request.method === "GET" && !isStream ? { "accept-encoding": GZIP } : {}),
        ...(request.body === undefined ? {} : { "content-type": request.contentType ?? "application/json" }),
        ...own?.headers,
      },
      body: request.body === undefined ? null : JSON.stringify(request.body),
      signal,
      headersTimeout: 0,
      bodyTimeout: 0,
    });
  }

  async function inflatedBody(response: Dispatcher.ResponseData, request: ApiRequest): Promise<BorrowedBytes> {
    const { bytes, release } = await bodies.read(response.body);
    try {
      return inflate(bytes, `the answer to ${request.method} ${request.path}`);
    } finally {
      release();
    }
  }

  async function readCredentials(isRefused: boolean): Promise<Credentials | undefined> {
    try {
      return await credentials?.(isRefused);
    } catch (error) {
      throw error instanceof TransportError
        ? error
        : new TransportError("credentials", `Cannot get credentials for ${origin}: ${messageOf(error)}`, error);
    }
  }

  function poolFor(tls: TlsOptions | undefined, kind: "requests" | "urgent" | "streams"): Dispatcher {
    if (isClosed) {
      throw new TransportError("unreachable", `Cannot ask ${origin}: the transport is closed`);
    }
    if (tls !== undefined && tls !== pools.tls) {
      // A new client certificate. What runs on the old connections may end there.
      for (const pool of allOf(pools)) void pool.close();
      pools = openPools(origin, options, tls);
    }
    return pools[kind];
  }

  const overdue = () => new TransportError("timeout", `there was no answer within ${requestTimeoutMs / 1000} s`);

  const transport: Transport = {
    async send(request, signal) {
      const deadline = startDeadline(clock, requestTimeoutMs, signal, overdue);
      try {
        const response = await dispatch(request, false, deadline.signal);
        if (!isProtobuf(response)) return { ...headOf(response), body: await bodyOf(response, request) };
        const { bytes, release } = isInGzip(response) ? await inflatedBody(response, request) : await bodies.read(response.body);
        return { ...headOf(response), body: bytes, release };
      } catch (error) {
        throw deadline.reason() ?? faultOf(error, origin, request);
      } finally {
        deadline.cancel();
      }
    },

    async stream(request, signal) {
      const deadline = startDeadline(clock, requestTimeoutMs, signal, overdue);
      try {
        const response = await dispatch(request, true, deadline.signal);
        if (response.statusCode !== 200) {
          const body = await bodyOf(response, request);
          deadline.cancel();
          return { ...headOf(response), body, values: noValues() };
        }
        // From here on only the caller's signal ends the stream.
        deadline.disarm();
        response.body.on("error", () => {});
        return { status: 200, values: streamValues(response, request, origin, signal, deadline.cancel) };
      } catch (error) {
        deadline.cancel();
        throw deadline.reason() ?? faultOf(error, origin, request);
      }
    },

    async close() {
      isClosed = true;
      await Promise.all(allOf(pools).map((pool) => pool.destroy()));
    },
  };
  return transport;
}

async function* streamValues(
  response: Dispatcher.ResponseData,
  request: ApiRequest,
  origin: string,
  signal: AbortSignal,
  onEnd: () => void,
): AsyncGenerator<unknown> {
  try {
    const subject = `the watch of ${request.path}`;
    yield* isProtobuf(response) ? frames(response.body, subject) : jsonLines(response.body, subject);
  } catch (error) {
    if (!signal.aborted) {
      throw faultOf(error, origin, request);
    }
  } finally {
    onEnd();
    response.body.destroy();
  }
}

async function* noValues(): AsyncGenerator<unknown> {}

function parseServer(server: string): URL {
  const url = URL.parse(server);
  if (url === null || (url.protocol !== "https:" && url.protocol !== "http:")) {
    throw new TypeError(`Cannot connect: the server is ${JSON.stringify(server)}, wanted https://host[:port] or http://host[:port]`);
  }
  return url;
}

function openPools(
  origin: string,
  { proxyUrl, connectionsMax = CONNECTIONS_MAX }: HttpTransportOptions,
  tls: TlsOptions | undefined,
): Pools {
  const secured = origin.startsWith("https:") ? withSharedContext(tls) : tls;
  const open = (connections: number | null): Dispatcher => {
    /*
     * HTTP/1.1, although API servers offer 2 and undici would take it: beside 1,000 nodes its sessions took gigabytes outside the heap within
     * seconds of a leader's first thousand writes (undici 8.13, Node 24, `bench/footprint/real.ts`).
     */
    const common = {
      keepAliveTimeout: KEEP_ALIVE_MS,
      keepAliveMaxTimeout: KEEP_ALIVE_MS,
      headersTimeout: 0,
      bodyTimeout: 0,
      connections,
      allowH2: false,
    };
    return proxyUrl === undefined
      ? new Pool(origin, { ...common, connect: { ...secured, keepAlive: true, keepAliveInitialDelay: KEEP_ALIVE_MS } })
      : new ProxyAgent({ ...common, uri: proxyUrl, requestTls: { ...secured } });
  };
  return { tls, requests: open(connectionsMax), urgent: open(URGENT_CONNECTIONS_MAX), streams: open(null) };
}

/** Certificates are read once and not by each connection, of which a controller opens some thirty as it starts. */
function withSharedContext(tls: TlsOptions | undefined) {
  try {
    return { ...tls, secureContext: createSecureContext(tls) };
  } catch {
    return tls; // so each connection says what is wrong with them
  }
}

function allOf({ requests, urgent, streams }: Pools): readonly Dispatcher[] {
  return [requests, urgent, streams];
}

function queryText(query: ApiRequest["query"]): string {
  const text = query === undefined ? "" : new URLSearchParams(query).toString();
  return text === "" ? "" : `?${text}`;
}

function headOf(response: Dispatcher.ResponseData): Pick<ApiResponse, "status" | "headers"> {
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(response.headers)) {
    if (value !== undefined) {
      headers[name] = Array.isArray(value) ? value.join(", ") : value;
    }
  }
  return { status: response.statusCode, headers };
}

async function bodyOf(response: Dispatcher.ResponseData, request: ApiRequest): Promise<unknown> {
  if (isProtobuf(response)) return new Uint8Array(await response.body.arrayBuffer());
  return parseBody(isInGzip(response) ? await inflatedText(response, request) : await response.body.text(), response, request);
}

async function inflatedText({ body }: Dispatcher.ResponseData, { method, path }: ApiRequest): Promise<string> {
  const { bytes, release } = inflate(new Uint8Array(await body.arrayBuffer()), `the answer to ${method} ${path}`);
  const text = new TextDecoder().decode(bytes);
  release();
  return text;
}

function isInGzip({ headers }: Dispatcher.ResponseData): boolean {
  return headers["content-encoding"] === GZIP;
}

function isProtobuf({ headers }: Dispatcher.ResponseData): boolean {
  return String(headers["content-type"] ?? "").startsWith(PROTOBUF);
}

/** JSON becomes a value; other text stays text (`/readyz`, proxies' errors). */
function parseBody(text: string, response: Dispatcher.ResponseData, request: ApiRequest): unknown {
  if (text === "") {
    return undefined;
  }
  if (!String(response.headers["content-type"] ?? "").includes("json")) {
    return text;
  }
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new TransportError(
      "malformed",
      `Cannot read the answer to ${request.method} ${request.path}: it is no JSON: ${text.slice(0, 100)}`,
      error,
    );
  }
}
