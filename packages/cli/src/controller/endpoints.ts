/** `/healthz` and `/readyz` on one port, `/metrics` and profiles on another: plain HTTP, as probes and Prometheus expect. Rules O-92…O-96. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Readable } from "node:stream";

/** Says why not, or undefined when all is well. */
export type HealthCheck = () => string | undefined | Promise<string | undefined>;

export interface Address {
  /** 0 takes a free one. */
  readonly port: number;
  /** All interfaces when absent (O-10). */
  readonly host?: string;
}

export interface Endpoint {
  readonly port: number;
  close(): Promise<void>;
}

export interface MetricsSource {
  readonly contentType: string;
  metrics(): Promise<string>;
}

export interface Answer {
  readonly status: number;
  /** Plain text when they say nothing else. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: string | Readable;
}

/** undefined: there is nothing of this name. */
type Answering = (url: URL) => Promise<Answer | undefined>;

const passes: HealthCheck = () => undefined;

export function serveHealth(address: Address, readiness: Readonly<Record<string, HealthCheck>>): Promise<Endpoint> {
  const groups: Readonly<Record<string, Readonly<Record<string, HealthCheck>>>> = {
    healthz: { healthz: passes },
    readyz: { ...readiness, readyz: passes },
  };
  return serve(address, async (url) => {
    const [, group = "", name] = url.pathname.split("/");
    const checks = Object.hasOwn(groups, group) ? groups[group] : undefined;
    if (checks === undefined || url.pathname.split("/").length > 3) return undefined;
    if (name !== undefined && !Object.hasOwn(checks, name)) return undefined;
    const excluded = url.searchParams.getAll("exclude");
    const chosen = Object.entries(checks).filter(([check]) => (name === undefined ? !excluded.includes(check) : check === name));
    return answerOf(group, chosen, url.searchParams.has("verbose"));
  });
}

/** @param profiles answers what is no metric; absent: there are none (O-96) */
export function serveMetrics(address: Address, source: MetricsSource, profiles?: Answering): Promise<Endpoint> {
  return serve(address, async (url) => {
    if (url.pathname !== "/metrics") return profiles?.(url);
    return { status: 200, headers: { "content-type": source.contentType }, body: await source.metrics() };
  });
}

async function answerOf(group: string, checks: readonly [string, HealthCheck][], isVerbose: boolean): Promise<Answer> {
  const results = await Promise.all(checks.map(async ([name, check]) => ({ name, fault: await check() })));
  const isWell = results.every(({ fault }) => fault === undefined);
  if (isWell && !isVerbose) return { status: 200, body: "ok" };
  const lines = results.map(({ name, fault }) => (fault === undefined ? `[+]${name} ok` : `[-]${name} failed: ${fault}`));
  return { status: isWell ? 200 : 500, body: `${lines.join("\n")}\n${group} check ${isWell ? "passed" : "failed"}\n` };
}

async function serve(address: Address, answer: Answering): Promise<Endpoint> {
  const server = createServer((request, response) => void respond(request, response, answer));
  await listen(server, address);
  return { port: (server.address() as AddressInfo).port, close: () => close(server) };
}

const PLAIN = { "content-type": "text/plain; charset=utf-8" };

async function respond(request: IncomingMessage, response: ServerResponse, answer: Answering): Promise<void> {
  try {
    const url = URL.parse(request.url ?? "/", "http://localhost");
    const found = (url === null ? undefined : await answer(url)) ?? { status: 404, body: "404 page not found\n" };
    response.writeHead(found.status, { ...PLAIN, ...found.headers });
    if (typeof found.body === "string") response.end(found.body);
    // A reader that goes away early takes its stream along.
    else found.body.on("error", () => response.destroy()).pipe(response.on("close", () => (found.body as Readable).destroy()));
  } catch (error) {
    response.writeHead(500, PLAIN).end(`${error instanceof Error ? error.message : String(error)}\n`);
  }
}

function listen(server: Server, { port, host }: Address): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen({ port, host }, resolve);
  });
}

function close(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}
