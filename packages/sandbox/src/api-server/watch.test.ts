/** Watches: order, selectors, resuming, and the bounded window behind them. */
import { createRandom, createVirtualClock, type Transport } from "@joinery/kube";
import { expect, test } from "vitest";
import { type ApiServer, createApiServer } from "./api-server.ts";

const path = "/api/v1/namespaces/default/pods";
const aPod = (name: string, more: Record<string, unknown> = {}) => ({
  metadata: { name, ...more },
  spec: { containers: [{ name: "a", image: "b" }] },
});

function aServer(watchWindow?: number): { server: ApiServer; transport: Transport } {
  const options = { clock: createVirtualClock({ startMs: Date.UTC(2026, 0, 1) }), random: createRandom(1) };
  const server = createApiServer(watchWindow === undefined ? options : { ...options, watchWindow });
  return { server, transport: server.transport() };
}

interface Seen {
  readonly type: string;
  readonly object: {
    readonly kind: string;
    readonly code?: number;
    readonly message?: string;
    readonly metadata: { readonly name: string; readonly resourceVersion: string; readonly annotations?: unknown };
  };
}

/** What a watch gives until `count` values have come or it ends. */
async function take(
  transport: Transport,
  query: Record<string, string>,
  count: number,
  act: () => Promise<unknown> = async () => {},
): Promise<Seen[]> {
  const stopping = new AbortController();
  const { values } = await transport.stream({ method: "GET", path, query: { watch: "true", ...query } }, stopping.signal);
  await act();
  const seen: Seen[] = [];
  for await (const value of values) {
    seen.push(value as Seen);
    if (seen.length === count) stopping.abort();
  }
  return seen;
}

const brief = (seen: readonly Seen[]) => seen.map(({ type, object }) => `${type} ${object.metadata.name}`);

test("first what is there, then what happens, in order", async () => {
  const { transport } = aServer();
  await transport.send({ method: "POST", path, body: aPod("a") });
  const seen = await take(transport, {}, 4, async () => {
    await transport.send({ method: "POST", path, body: aPod("b") });
    await transport.send({
      method: "PATCH",
      path: `${path}/a`,
      contentType: "application/merge-patch+json",
      body: { metadata: { labels: { x: "y" } } },
    });
    await transport.send({ method: "DELETE", path: `${path}/b` });
  });
  expect(brief(seen)).toEqual(["ADDED a", "ADDED b", "MODIFIED a", "DELETED b"]);
  const versions = seen.map(({ object }) => Number(object.metadata.resourceVersion));
  expect(versions).toEqual([...versions].sort((a, b) => a - b));
});

test("a watch from a version misses nothing and repeats nothing", async () => {
  const { transport } = aServer();
  await transport.send({ method: "POST", path, body: aPod("a") });
  const list = (await transport.send({ method: "GET", path })).body as { metadata: { resourceVersion: string } };
  await transport.send({ method: "POST", path, body: aPod("b") });
  const seen = await take(transport, { resourceVersion: list.metadata.resourceVersion }, 2, () =>
    transport.send({ method: "POST", path, body: aPod("c") }),
  );
  expect(brief(seen)).toEqual(["ADDED b", "ADDED c"]);
});

test.each([
  { selector: ["labelSelector", "x=y"], seen: ["ADDED a", "MODIFIED a", "DELETED a"] },
  { selector: ["fieldSelector", "spec.nodeName=n"], seen: ["ADDED a", "MODIFIED a", "MODIFIED a"] },
])("objects enter and leave the selection $selector", async ({ selector: [key = "", value = ""], seen }) => {
  const { transport } = aServer();
  const patch = (body: unknown) =>
    transport.send({ method: "PATCH", path: `${path}/a`, contentType: "application/merge-patch+json", body });
  const got = await take(transport, { [key]: value }, 3, async () => {
    await transport.send({ method: "POST", path, body: aPod("a") });
    await transport.send({ method: "POST", path: `${path}/a/binding`, body: { metadata: { name: "a" }, target: { name: "n" } } });
    await patch({ metadata: { labels: { x: "y" } } });
    await patch({ metadata: { labels: { x: "y", more: "1" } } });
    await patch({ metadata: { labels: { x: null } } });
  });
  expect(brief(got)).toEqual(seen);
});

test("a version outside the window ends the watch with 410, and old pages with it", async () => {
  const { transport } = aServer(4);
  await transport.send({ method: "POST", path, body: aPod("a") });
  await transport.send({ method: "POST", path, body: aPod("b") });
  const first = (await transport.send({ method: "GET", path, query: { limit: "1" } })).body as {
    metadata: { resourceVersion: string; continue: string };
  };
  for (let round = 0; round < 20; round++) {
    await transport.send({
      method: "PATCH",
      path: `${path}/a`,
      contentType: "application/merge-patch+json",
      body: { metadata: { labels: { round: String(round) } } },
    });
  }
  const seen = await take(transport, { resourceVersion: first.metadata.resourceVersion }, 10);
  expect(seen).toHaveLength(1);
  expect(seen[0]).toMatchObject({
    type: "ERROR",
    object: { kind: "Status", code: 410, reason: "Expired", message: /^too old resource version: / },
  });
  const page = await transport.send({ method: "GET", path, query: { limit: "1", continue: first.metadata.continue } });
  expect(page).toMatchObject({ status: 410, body: { reason: "Expired" } });
});

test("bookmarks let a selective watcher resume although it saw nothing", async () => {
  const { transport } = aServer(8);
  await transport.send({ method: "POST", path, body: aPod("a") });
  const seen = await take(transport, { allowWatchBookmarks: "true", labelSelector: "none=here" }, 2, async () => {
    for (let round = 0; round < 8; round++) {
      await transport.send({
        method: "PATCH",
        path: `${path}/a`,
        contentType: "application/merge-patch+json",
        body: { metadata: { labels: { round: String(round) } } },
      });
    }
  });
  expect(seen.map(({ type }) => type)).toEqual(["BOOKMARK", "BOOKMARK"]);
});

test("initial events end with a bookmark that says so", async () => {
  const { transport } = aServer();
  await transport.send({ method: "POST", path, body: aPod("a") });
  const seen = await take(transport, { sendInitialEvents: "true", allowWatchBookmarks: "true", resourceVersionMatch: "NotOlderThan" }, 2);
  expect(seen.map(({ type }) => type)).toEqual(["ADDED", "BOOKMARK"]);
  expect(seen[1]?.object.metadata.annotations).toEqual({ "k8s.io/initial-events-end": "true" });
});

test("the same requests on the same seed give the same bytes", async () => {
  const run = async () => {
    const { transport } = aServer();
    for (const name of ["a", "b"])
      await transport.send({ method: "POST", path, body: { ...aPod(""), metadata: { generateName: `${name}-` } } });
    return JSON.stringify((await transport.send({ method: "GET", path })).body);
  };
  expect(await run()).toBe(await run());
});
