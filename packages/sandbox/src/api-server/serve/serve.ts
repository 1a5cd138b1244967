/** The same server over HTTPS, for real processes and the real kubectl. Watches are chunked streams of JSON lines. */
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { createAdaptorServer } from "@hono/node-server";
import type { ApiRequest, ApiResponse, Method } from "@joinery/kube";
import { type Context, Hono } from "hono";
import { decodeProtobuf } from "../schema/protobuf.ts";
import { answer, failureResponse, isWatch, openWatch, type Server } from "../wire/dispatch.ts";
import { ApiFailure, badRequest, unauthorized, unsupportedMediaType } from "../wire/status.ts";
import { Encodings } from "./encodings.ts";
import { kubeconfigText } from "./kubeconfig.ts";
import { parseYaml } from "./yaml-body.ts";

export interface ServeOptions {
  /** Default 127.0.0.1. */
  readonly host?: string;
  /** The first port that is tried; when it is taken, the next ones are. 0 lets the system choose. Default 6443. */
  readonly port?: number;
  /** PEM texts; made when absent. */
  readonly tls?: { readonly key: string; readonly cert: string };
  /** Bearer tokens that are let in. Default: one made from the server's randomness. */
  readonly tokens?: readonly string[];
  /** Name of cluster, user and context in the kubeconfig; default `joinery-sandbox`. */
  readonly name?: string;
}

export interface ServedApi {
  readonly url: string;
  readonly host: string;
  readonly port: number;
  readonly token: string;
  /** PEM text that clients must trust. */
  readonly certificate: string;
  /** A kubeconfig that reaches this server with `token` (one of the configured tokens when given). */
  kubeconfig(token?: string): string;
  /** Ends watches and connections. */
  close(): Promise<void>;
}

const defaultPort = 6443;
const portsTried = 100;

export async function serve(server: Server, options: ServeOptions = {}): Promise<ServedApi> {
  const host = options.host ?? "127.0.0.1";
  const pair = options.tls ?? (await (await import("./certificate.ts")).selfSignedPair(host));
  const tokens = options.tokens ?? [newToken(server)];
  const app = createApp(server, new Set(tokens));
  const listener = createAdaptorServer({
    fetch: app.fetch,
    createServer,
    serverOptions: { key: pair.key, cert: pair.cert },
  }) as import("node:https").Server;
  const port = await listen(listener, host, options.port ?? defaultPort);
  const url = `https://${host.includes(":") ? `[${host}]` : host}:${port}`;
  const token = tokens[0] ?? "";
  return {
    url,
    host,
    port,
    token,
    certificate: pair.cert,
    kubeconfig: (asked = token) => kubeconfigText({ name: options.name ?? "joinery-sandbox", url, certificate: pair.cert, token: asked }),
    close: async () => {
      const closed = new Promise<void>((resolve) => listener.close(() => resolve()));
      listener.closeAllConnections();
      await closed;
    },
  };
}

function newToken({ backend: { random } }: Server): string {
  return Array.from({ length: 8 }, () => random.below(0x10000).toString(16).padStart(4, "0")).join("");
}

async function listen(listener: import("node:https").Server, host: string, first: number): Promise<number> {
  for (let port = first; ; port++) {
    const refusal = await new Promise<NodeJS.ErrnoException | undefined>((resolve) => {
      const onError = (error: NodeJS.ErrnoException) => resolve(error);
      listener.once("error", onError);
      listener.listen(port, host, () => {
        listener.off("error", onError);
        resolve(undefined);
      });
    });
    if (refusal === undefined) return (listener.address() as AddressInfo).port;
    if (refusal.code !== "EADDRINUSE" || first === 0 || port >= first + portsTried) throw refusal;
  }
}

function createApp(server: Server, tokens: ReadonlySet<string>): Hono {
  const app = new Hono();
  const encodings = new Encodings();
  app.all("*", async (context) => {
    try {
      if (!isLetIn(context, tokens)) throw unauthorized();
      const request = await readRequest(context);
      return isWatch(request)
        ? watchResponse(server, request, context.req.raw.signal, encodings)
        : plainResponse(answer(server, request, true));
    } catch (error) {
      return plainResponse(failureResponse(error));
    }
  });
  return app;
}

/** Health is for everybody, the rest for who has a token. */
function isLetIn({ req }: Context, tokens: ReadonlySet<string>): boolean {
  if (/^\/(healthz|livez|readyz|version)(\/|$)/.test(req.path)) return true;
  const match = /^Bearer (.+)$/.exec(req.header("authorization") ?? "");
  return match !== null && tokens.has(match[1] as string);
}

async function readRequest({ req }: Context): Promise<ApiRequest> {
  const contentType = req.header("content-type") ?? "application/json";
  const body = req.method === "GET" || req.method === "HEAD" ? undefined : await readBody(req, contentType);
  const accept = req.header("accept");
  const userAgent = req.header("user-agent");
  return {
    method: (req.method === "HEAD" ? "GET" : req.method) as Method,
    path: req.path,
    query: req.query(),
    contentType,
    ...(accept === undefined ? {} : { accept }),
    ...(userAgent === undefined ? {} : { userAgent }),
    ...(body === undefined ? {} : { body }),
  };
}

async function readBody(req: Context["req"], contentType: string): Promise<unknown> {
  if (contentType.includes("cbor")) throw unsupportedMediaType();
  if (contentType.startsWith("application/vnd.kubernetes.protobuf")) return parseProtobuf(new Uint8Array(await req.arrayBuffer()));
  const text = await req.text();
  // Most who send YAML send JSON, which is read much faster as what it is.
  return contentType.includes("yaml") && !/^\s*[{[]/.test(text) ? parseYaml(text) : parseJson(text);
}

function parseProtobuf(bytes: Uint8Array): unknown {
  if (bytes.length === 0) return undefined;
  try {
    return decodeProtobuf(bytes);
  } catch (error) {
    throw badRequest(error instanceof Error ? error.message : String(error));
  }
}

function parseJson(text: string): unknown {
  if (text === "") return undefined;
  try {
    return JSON.parse(text);
  } catch (error) {
    throw badRequest(`the request's body is no JSON: ${error instanceof Error ? error.message : String(error)}`);
  }
}

function plainResponse({ status, headers, body }: ApiResponse): Response {
  if (body instanceof ReadableStream) return textStream(body);
  const isText = typeof body === "string";
  const list = new Headers({
    "Content-Type": isText ? "text/plain" : "application/json",
    "Cache-Control": "no-cache, private",
    ...headers,
  });
  return new Response(isText ? body : JSON.stringify(body), { status, headers: list });
}

/** A log that is followed. Naming the encoding sends the head at once. */
function textStream(text: ReadableStream<string>): Response {
  return new Response(text.pipeThrough(new TextEncoderStream()), {
    headers: { "Content-Type": "text/plain", "Cache-Control": "no-cache, private", "Transfer-Encoding": "chunked" },
  });
}

const encoder = new TextEncoder();

function watchResponse(server: Server, request: ApiRequest, clientSignal: AbortSignal, encodings: Encodings): Response {
  const closing = new AbortController();
  const values = openWatch(server, request, AbortSignal.any([clientSignal, closing.signal]))[Symbol.asyncIterator]();
  const stream = new ReadableStream<Uint8Array>({
    pull: async (controller) => {
      try {
        const { done, value } = await values.next();
        if (done === true) controller.close();
        else controller.enqueue(encoder.encode(`{"type":"${value.type}","object":${encodings.of(value.object)}}\n`));
      } catch (error) {
        const failure = error instanceof ApiFailure ? error.status : { message: String(error) };
        controller.enqueue(encoder.encode(`${JSON.stringify({ type: "ERROR", object: failure })}\n`));
        controller.close();
      }
    },
    cancel: () => closing.abort(),
  });
  // Naming the encoding makes the adaptor send the head at once instead of waiting for a first event.
  return new Response(stream, {
    headers: { "Content-Type": "application/json", "Cache-Control": "no-cache, private", "Transfer-Encoding": "chunked" },
  });
}
