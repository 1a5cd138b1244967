import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { createSecureServer } from "node:http2";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo } from "node:net";
import type { TLSSocket } from "node:tls";
import { gzipSync } from "node:zlib";
import { Nodes } from "@joinery/api";
import { afterEach, expect, test } from "vitest";
import type { Clock } from "../clock/clock.ts";
import { createRealClock } from "../clock/real-clock.ts";
import { createVirtualClock } from "../clock/virtual-clock.ts";
import { createKubeClient } from "../kube-client.ts";
import { TEST_CERTIFICATE, TEST_KEY } from "../testing/certificate.ts";
import { isNotFound, TransportError } from "./errors.ts";
import { createHttpTransport, type HttpTransportOptions } from "./http-transport.ts";
import { jsonLines } from "./json-lines.ts";
import { PROTOBUF } from "./protobuf/objects.ts";
import type { Transport } from "./transport.ts";

type Handler = (request: IncomingMessage, response: ServerResponse, body: string) => void;

const opened: (() => Promise<unknown> | unknown)[] = [];
afterEach(async () => {
  for (const close of opened.splice(0).reverse()) await close();
});

async function serve(handler: Handler, server: Server = createServer()): Promise<string> {
  server.on("request", (request: IncomingMessage, response: ServerResponse) => {
    let body = "";
    request.on("data", (chunk) => {
      body += chunk;
    });
    request.on("end", () => handler(request, response, body));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  opened.push(() => {
    server.closeAllConnections();
    return new Promise((resolve) => server.close(resolve));
  });
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}

function connect(server: string, options: Partial<HttpTransportOptions> = {}, clock: Clock = createRealClock()): Transport {
  const transport = createHttpTransport({ server, clock, ...options });
  opened.push(() => transport.close());
  return transport;
}

function answer(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
}

test("a request goes over the wire whole: method, path prefix, query, headers, body", async () => {
  const seen: unknown[] = [];
  const address = await serve((request, response, body) => {
    const { accept, authorization } = request.headers;
    seen.push([request.method, request.url, request.headers["content-type"], request.headers["user-agent"], accept, authorization, body]);
    answer(response, 200, { metadata: { name: "n" } });
  });
  const transport = connect(`http://${address}/clusters/a/`, { credentials: async () => ({ headers: { authorization: "Bearer t" } }) });
  const client = createKubeClient(transport, { userAgent: "test/1" });
  expect(await client.patch(Nodes, { name: "n" }, { type: "merge", body: { x: "ü" } })).toEqual({ metadata: { name: "n" } });
  await client.list(Nodes, { labelSelector: "a=1,b", limit: 5 });
  const json = "application/json";
  expect(seen).toEqual([
    ["PATCH", "/clusters/a/api/v1/nodes/n", "application/merge-patch+json", "test/1", json, "Bearer t", '{"x":"ü"}'],
    ["GET", "/clusters/a/api/v1/nodes?labelSelector=a%3D1%2Cb&limit=5", undefined, "test/1", json, "Bearer t", ""],
  ]);
});

test("answers that are no success, no JSON, or broken JSON", async () => {
  const address = await serve((request, response) => {
    if (request.url === "/readyz") response.end("ok");
    else if (request.url === "/broken") response.writeHead(200, { "content-type": "application/json" }).end('{"half');
    else answer(response, 404, { kind: "Status", code: 404, reason: "NotFound", message: "nodes n not found" });
  });
  const client = createKubeClient(connect(`http://${address}`));
  await expect(client.get(Nodes, { name: "n" })).rejects.toSatisfy(isNotFound);
  expect(await client.raw("/readyz")).toBe("ok");
  await expect(client.raw("/broken")).rejects.toMatchObject({ name: "TransportError", fault: "malformed" });
});

test("a read may come compressed, in JSON and in protobuf; writes and watches do not ask for it", async () => {
  const asked: unknown[] = [];
  const address = await serve((request, response) => {
    asked.push([request.method, request.headers["accept-encoding"]]);
    const isInProtobuf = request.headers.accept?.startsWith(PROTOBUF);
    const body = isInProtobuf ? Buffer.from("some bytes") : JSON.stringify({ metadata: { name: "ü" } });
    const head = { "content-type": isInProtobuf ? PROTOBUF : "application/json" };
    if (request.headers["accept-encoding"] === "gzip") response.writeHead(200, { ...head, "content-encoding": "gzip" }).end(gzipSync(body));
    else response.writeHead(200, head).end(body);
  });
  const transport = connect(`http://${address}`);
  for (const method of ["GET", "POST"] as const) {
    expect((await transport.send({ method, path: "/" })).body).toEqual({ metadata: { name: "ü" } });
    const { body, release } = await transport.send({ method, path: "/", accept: PROTOBUF });
    expect(String(Buffer.from(body as Uint8Array))).toBe("some bytes");
    release?.();
  }
  const { values } = await transport.stream({ method: "GET", path: "/" }, new AbortController().signal);
  for await (const value of values) expect(value).toEqual({ metadata: { name: "ü" } });
  expect(asked).toEqual([
    ["GET", "gzip"],
    ["GET", "gzip"],
    ["POST", undefined],
    ["POST", undefined],
    ["GET", undefined],
  ]);
});

test("a server that is not there, and one that hangs up", async () => {
  const address = await serve((request) => request.socket.destroy());
  await expect(connect(`http://${address}`).send({ method: "GET", path: "/" })).rejects.toMatchObject({ fault: "broken" });
  await expect(connect("http://127.0.0.1:1").send({ method: "GET", path: "/" })).rejects.toMatchObject({ fault: "unreachable" });
  expect(() => createHttpTransport({ server: "127.0.0.1:80", clock: createRealClock() })).toThrow("wanted https://host");
  const closed = connect(`http://${address}`);
  await closed.close();
  await expect(closed.send({ method: "GET", path: "/" })).rejects.toThrow("is closed");
});

test("a read whose connection the server closes is asked once more, a write is not", async () => {
  const seen: string[] = [];
  const address = await serve((request, response) => {
    seen.push(request.method!);
    if (seen.length === 1 || request.method === "POST") request.socket.destroy();
    else answer(response, 200, {});
  });
  const transport = connect(`http://${address}`);
  expect((await transport.send({ method: "GET", path: "/" })).status).toBe(200);
  await expect(transport.send({ method: "POST", path: "/", body: {} })).rejects.toMatchObject({ fault: "broken" });
  expect(seen).toEqual(["GET", "GET", "POST"]);
});

test("a request is given up when the clock says so, or when the caller does", async () => {
  let onRequest = () => {};
  const address = await serve(() => onRequest());
  const clock = createVirtualClock({ startMs: 0 });
  const transport = connect(`http://${address}`, { requestTimeoutMs: 5000 }, clock);
  const arrive = () =>
    new Promise<void>((resolve) => {
      onRequest = resolve;
    });
  const arrived = arrive();
  const late = transport.send({ method: "GET", path: "/" });
  late.catch(() => {});
  await arrived;
  await clock.advance(5000);
  await expect(late).rejects.toMatchObject({ fault: "timeout", message: "there was no answer within 5 s" });

  const again = arrive();
  const stop = new AbortController();
  const stopped = transport.send({ method: "GET", path: "/" }, stop.signal);
  stopped.catch(() => {});
  await again;
  stop.abort(new Error("enough"));
  await expect(stopped).rejects.toThrow("enough");
  await expect(transport.send({ method: "GET", path: "/" }, stop.signal)).rejects.toThrow("enough");
  expect(clock.timerCount).toBe(0);
});

test("401: fresh credentials are asked for once, and credentials that cannot be had are told", async () => {
  const tokens: (string | undefined)[] = [];
  const address = await serve((request, response) => {
    tokens.push(request.headers.authorization);
    answer(response, request.headers.authorization === "Bearer new" ? 200 : 401, { code: 401, reason: "Unauthorized" });
  });
  const transport = connect(`http://${address}`, {
    credentials: async (isRefused) => ({ headers: { authorization: `Bearer ${isRefused ? "new" : "old"}` } }),
  });
  expect((await transport.send({ method: "GET", path: "/" })).status).toBe(200);
  expect(tokens).toEqual(["Bearer old", "Bearer new"]);
  const never = connect(`http://${address}`, { credentials: async () => ({ headers: {} }) });
  expect((await never.send({ method: "GET", path: "/" })).status).toBe(401);
  const failing = connect(`http://${address}`, { credentials: () => Promise.reject(new Error("no plugin")) });
  await expect(failing.send({ method: "GET", path: "/" })).rejects.toMatchObject({ fault: "credentials" });
});

test("a watch: lines cut anywhere, a quiet spell, the server's end, the caller's end", async () => {
  const bytes = Buffer.from(
    '{"type":"ADDED","object":{"metadata":{"name":"ü"}}}\n{"type":"BOOKMARK","object":{"metadata":{"resourceVersion":"9"}}}\n',
  );
  const address = await serve(async (request, response) => {
    response.writeHead(200, { "content-type": "application/json" });
    for (const byte of bytes) {
      response.write(Buffer.of(byte));
      await new Promise((resolve) => setImmediate(resolve));
    }
    if (request.url?.includes("resourceVersion=1")) response.end();
  });
  const clock = createVirtualClock({ startMs: 0 });
  const transport = connect(`http://${address}`, { requestTimeoutMs: 1000 }, clock);
  const client = createKubeClient(transport);
  const stop = new AbortController();
  const seen: string[] = [];
  for await (const event of client.watch(Nodes, { resourceVersion: "1" }, stop.signal)) seen.push(event.type);
  for await (const event of client.watch(Nodes, {}, stop.signal)) {
    seen.push(event.type);
    await clock.advance(5000); // The request's span is over; a watch may be quiet for longer.
    if (event.type === "BOOKMARK") stop.abort();
  }
  expect(seen).toEqual(["ADDED", "BOOKMARK", "ADDED", "BOOKMARK"]);
  expect(clock.timerCount).toBe(0);
});

test("a watch that is refused, and one that breaks in the middle of a line", async () => {
  const address = await serve((request, response) => {
    if (request.url?.includes("resourceVersion=1")) answer(response, 410, { code: 410, reason: "Expired", message: "too old" });
    else {
      response.writeHead(200, { "content-type": "application/json" }).write('{"type":"ADD');
      if (request.url?.includes("resourceVersion=2")) response.end();
      else setImmediate(() => response.destroy());
    }
  });
  const client = createKubeClient(connect(`http://${address}`));
  const follow = async (resourceVersion: string) => {
    for await (const _ of client.watch(Nodes, { resourceVersion }, new AbortController().signal)) {
      // Only the end matters.
    }
  };
  await expect(follow("1")).rejects.toMatchObject({ status: 410 });
  await expect(follow("2")).rejects.toMatchObject({ fault: "malformed" });
  await expect(follow("3")).rejects.toMatchObject({ fault: "broken" });
});

test("many requests share few connections, and watches do not take them away", async () => {
  const sockets = new Set<unknown>();
  const address = await serve((request, response) => {
    if (request.url?.includes("watch")) {
      response.writeHead(200).flushHeaders();
    } else {
      sockets.add(request.socket);
      answer(response, 200, {});
    }
  });
  const transport = connect(`http://${address}`, { connectionsMax: 2 });
  const stop = new AbortController();
  const streams = await Promise.all([1, 2, 3].map(() => transport.stream({ method: "GET", path: "/watch" }, stop.signal)));
  await Promise.all(Array.from({ length: 20 }, () => transport.send({ method: "GET", path: "/" })));
  expect(sockets.size).toBeLessThanOrEqual(2);
  stop.abort();
  for (const { values } of streams) for await (const _ of values) expect.unreachable();
});

test("TLS: the server's certificate is verified, and the client shows its own", async () => {
  const server = createTlsServer({
    cert: TEST_CERTIFICATE,
    key: TEST_KEY,
    ca: TEST_CERTIFICATE,
    requestCert: true,
    rejectUnauthorized: false,
  });
  const address = await serve(
    (request, response) => {
      answer(response, 200, { isAuthorized: (request.socket as TLSSocket).authorized });
    },
    server as unknown as Server,
  );
  const ask = async (options: Partial<HttpTransportOptions>) =>
    (await connect(`https://${address}`, options).send({ method: "GET", path: "/" })).body;
  expect(await ask({ tls: { ca: TEST_CERTIFICATE } })).toEqual({ isAuthorized: false });
  expect(await ask({ tls: { ca: TEST_CERTIFICATE, cert: TEST_CERTIFICATE, key: TEST_KEY } })).toEqual({ isAuthorized: true });
  expect(await ask({ tls: { rejectUnauthorized: false } })).toEqual({ isAuthorized: false });
  await expect(ask({})).rejects.toMatchObject({ fault: "unreachable" });
  // A login plugin may hand out a new client certificate at any time.
  const tls = { ca: TEST_CERTIFICATE, cert: TEST_CERTIFICATE, key: TEST_KEY };
  expect(await ask({ tls: { ca: TEST_CERTIFICATE }, credentials: async () => ({ headers: {}, tls }) })).toEqual({ isAuthorized: true });
});

test("json lines: empty lines are skipped, a last line needs no end", async () => {
  const chunks = async function* () {
    yield Buffer.from("\n1\n\n");
    yield Buffer.from("2\n3");
  };
  const values: unknown[] = [];
  for await (const value of jsonLines(chunks(), "the test")) values.push(value);
  expect(values).toEqual([1, 2, 3]);
  expect(new TransportError("timeout", "x").cause).toBeUndefined();
});

test("O-66: an urgent request does not wait behind those that fill the connections", async () => {
  const held: ServerResponse[] = [];
  const address = await serve((request, response) => {
    if (request.url === "/lease") answer(response, 200, {});
    else held.push(response);
  });
  const transport = connect(`http://${address}`, { connectionsMax: 1 });
  const slow = [1, 2, 3].map((n) => transport.send({ method: "GET", path: `/slow/${n}` }));
  expect((await transport.send({ method: "GET", path: "/lease", isUrgent: true })).status).toBe(200);
  expect(held.length).toBeLessThanOrEqual(1);
  const rest = Promise.all(slow);
  const pump = setInterval(() => {
    for (const response of held.splice(0)) answer(response, 200, {});
  }, 1);
  await rest.finally(() => clearInterval(pump));
});

test("a server that offers HTTP/2 is talked to in HTTP/1.1", async () => {
  const server = createSecureServer({ cert: TEST_CERTIFICATE, key: TEST_KEY, allowHTTP1: true }, (request, response) => {
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify({ version: request.httpVersion }));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  opened.push(() => new Promise((resolve) => server.close(resolve)));
  const { port } = server.address() as AddressInfo;
  const transport = connect(`https://127.0.0.1:${port}`, { tls: { ca: TEST_CERTIFICATE } });
  expect((await transport.send({ method: "GET", path: "/" })).body).toEqual({ version: "1.1" });
  await transport.close();
});
