/** What a watch must give, asked through a `Transport`, so that the same suite can be run against a real server. */
import type { Transport } from "@joinery/kube";
import { describe, expect, test } from "vitest";
import { aMap, merge } from "./samples.test-support.ts";

interface Seen {
  readonly type: string;
  readonly object: {
    readonly kind: string;
    readonly code?: number;
    readonly reason?: string;
    readonly message?: string;
    readonly metadata: {
      readonly name: string;
      readonly resourceVersion: string;
      readonly annotations?: Readonly<Record<string, string>>;
    };
  };
}

type Query = Readonly<Record<string, string>>;

interface Watched {
  readonly transport: Transport;
  readonly path: string;
  create(name: string, labels?: Readonly<Record<string, string>>): Promise<unknown>;
  label(name: string, labels: Readonly<Record<string, string | null>>): Promise<unknown>;
  delete(name: string): Promise<unknown>;
  /** The version of the collection as it is now. */
  version(): Promise<string>;
  /** The events of a watch until `count` have come or it ends. The controllers' own ConfigMap is left out. */
  take(query: Readonly<Record<string, string>>, count: number, act?: () => Promise<unknown>, path?: string): Promise<readonly Seen[]>;
}

/** Makes a kind of its own, of which a server remembers nothing that is older than the kind; gives the path of its collection. */
async function defineKind({ transport, path }: Watched): Promise<string> {
  const namespace = path.split("/")[4] ?? "";
  const group = `${namespace}.joinery.dev`;
  const schema = { openAPIV3Schema: { type: "object" } };
  const body = {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: `mice.${group}` },
    spec: {
      group,
      scope: "Namespaced",
      names: { plural: "mice", singular: "mouse", kind: "Mouse" },
      versions: [{ name: "v1", served: true, storage: true, schema }],
    },
  };
  const made = await transport.send({ method: "POST", path: "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", body });
  expect(made.status, JSON.stringify(made.body)).toBe(201);
  const own = `/apis/${group}/v1/namespaces/${namespace}/mice`;
  await expect.poll(async () => (await transport.send({ method: "GET", path: own })).status, { timeout: 10_000 }).toBe(200);
  return own;
}

async function openWatched(transport: Transport, prefix: string): Promise<Watched> {
  const body = { metadata: { generateName: `${prefix}-watch-` } };
  const made = await transport.send({ method: "POST", path: "/api/v1/namespaces", body });
  const path = `/api/v1/namespaces/${(made.body as { metadata: { name: string } }).metadata.name}/configmaps`;
  return {
    transport,
    path,
    create: (name, labels = {}) => transport.send({ method: "POST", path, body: aMap(name, {}, { labels }) }),
    label: (name, labels) =>
      transport.send({ method: "PATCH", path: `${path}/${name}`, contentType: merge, body: { metadata: { labels } } }),
    delete: (name) => transport.send({ method: "DELETE", path: `${path}/${name}` }),
    version: async () => {
      const { body } = await transport.send({ method: "GET", path });
      return (body as { metadata: { resourceVersion: string } }).metadata.resourceVersion;
    },
    take: async (query, wanted, act = async () => {}, of = path) => {
      const stopping = new AbortController();
      const stream = await transport.stream({ method: "GET", path: of, query: { watch: "true", ...query } }, stopping.signal);
      if (stream.status !== 200) return [{ type: "ERROR", object: stream.body as Seen["object"] }];
      await act();
      const seen: Seen[] = [];
      for await (const value of stream.values as AsyncIterable<Seen>) {
        if (value.object.metadata?.name !== "kube-root-ca.crt") seen.push(value);
        if (seen.length === wanted) stopping.abort();
      }
      return seen;
    },
  };
}

const brief = (seen: readonly Seen[]) => seen.map(({ type, object }) => `${type} ${object.metadata.name}`);

/** @param open gives a way to the server under test; called once per case. Its memory of changes may be short: 16 are enough. */
export function describeWatches(name: string, prefix: string, open: () => Promise<Transport> | Transport): void {
  const watched = async () => openWatched(await open(), prefix);

  describe(`${name}: watches`, () => {
    test("give what is there, then what happens, in the order of its versions", async () => {
      const here = await watched();
      await here.create("a");
      const seen = await here.take({}, 4, async () => {
        await here.create("b");
        await here.label("a", { x: "y" });
        await here.delete("b");
      });
      expect(brief(seen)).toEqual(["ADDED a", "ADDED b", "MODIFIED a", "DELETED b"]);
      const versions = seen.map(({ object }) => Number(object.metadata.resourceVersion));
      expect(versions).toEqual([...versions].sort((a, b) => a - b));
      expect(new Set(versions).size, "what is deleted has a version of its own").toBe(4);
    });

    test("resumed from the version of the last event miss nothing and repeat nothing", async () => {
      const here = await watched();
      await here.create("a");
      const [last] = (await here.take({ resourceVersion: await here.version() }, 1, () => here.create("b"))) as [Seen];
      await here.create("c");
      const seen = await here.take({ resourceVersion: last.object.metadata.resourceVersion }, 2, () => here.delete("a"));
      expect(brief(seen)).toEqual(["ADDED c", "DELETED a"]);
    });

    test.each<{ readonly query: Query; readonly gives: readonly string[] }>([
      { query: { labelSelector: "x=y" }, gives: ["ADDED a", "MODIFIED a", "DELETED a", "ADDED a"] },
      { query: { labelSelector: "x!=y" }, gives: ["ADDED a", "DELETED a", "ADDED a", "DELETED a"] },
      { query: { fieldSelector: "metadata.name=a" }, gives: ["ADDED a", "MODIFIED a", "MODIFIED a", "MODIFIED a", "MODIFIED a"] },
    ])("tell what enters and leaves $query", async ({ query, gives }) => {
      const here = await watched();
      const seen = await here.take({ ...query, resourceVersion: await here.version() }, gives.length, async () => {
        await here.create("a");
        await here.label("a", { x: "y" });
        await here.label("a", { x: "y", more: "1" });
        await here.label("a", { x: null });
        await here.label("a", { x: "y" });
      });
      expect(brief(seen)).toEqual(gives);
    });

    test("a version that is older than what is remembered is answered by 410, Expired", async () => {
      const here = await watched();
      const path = await defineKind(here);
      for (let round = 0; round < 20; round++) await here.create(`later-${round}`);
      const [answer, ...more] = await here.take({ resourceVersion: "1" }, 2, undefined, path);
      expect(more).toEqual([]);
      expect(answer).toMatchObject({
        type: "ERROR",
        object: { kind: "Status", code: 410, reason: "Expired", message: expect.stringMatching(/^too old resource version: 1 \(\d+\)$/) },
      });
    });

    test("that ask for the initial events get a bookmark after them", async () => {
      const here = await watched();
      await here.create("a");
      const query = { sendInitialEvents: "true", allowWatchBookmarks: "true", resourceVersionMatch: "NotOlderThan" };
      const seen = await here.take(query, 2);
      expect(seen.map(({ type }) => type)).toEqual(["ADDED", "BOOKMARK"]);
      expect(seen[1]?.object.metadata.annotations).toEqual({ "k8s.io/initial-events-end": "true" });
      const resumed = await here.take({ resourceVersion: seen[1]?.object.metadata.resourceVersion ?? "" }, 1, () => here.create("b"));
      expect(brief(resumed)).toEqual(["ADDED b"]);
    });

    test.each<{ readonly why: string; readonly query: Query; readonly status: number; readonly message: string }>([
      {
        why: "initial events without a match",
        query: { sendInitialEvents: "true", allowWatchBookmarks: "true" },
        status: 422,
        message:
          'ListOptions.meta.k8s.io "" is invalid: resourceVersionMatch: Forbidden: sendInitialEvents requires setting resourceVersionMatch to NotOlderThan',
      },
      {
        why: "initial events that match exactly",
        query: { sendInitialEvents: "true", allowWatchBookmarks: "true", resourceVersionMatch: "Exact" },
        status: 422,
        message:
          'ListOptions.meta.k8s.io "" is invalid: [resourceVersionMatch: Forbidden: sendInitialEvents requires setting resourceVersionMatch to NotOlderThan, resourceVersionMatch: Unsupported value: "Exact": supported values: "NotOlderThan"]',
      },
      {
        why: "a match without initial events",
        query: { resourceVersion: "1", resourceVersionMatch: "Exact" },
        status: 422,
        message:
          'ListOptions.meta.k8s.io "" is invalid: [resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided, resourceVersionMatch: Unsupported value: "Exact": supported values: "NotOlderThan"]',
      },
      {
        why: "a version that is no number",
        query: { resourceVersion: "soon" },
        status: 500,
        message: 'resourceVersion: Invalid value: "soon": strconv.ParseUint: parsing "soon": invalid syntax',
      },
      {
        why: "a field that cannot be selected",
        query: { fieldSelector: "data.a=b" },
        status: 400,
        message: '"data.a" is not a known field selector: only "metadata.name", "metadata.namespace"',
      },
    ])("refuse $why", async ({ query, status, message }) => {
      const here = await watched();
      const stopping = new AbortController();
      const answer = await here.transport.stream({ method: "GET", path: here.path, query: { watch: "true", ...query } }, stopping.signal);
      stopping.abort();
      expect(answer.status).toBe(status);
      expect((answer.body as { message: string }).message).toBe(message);
    });
  });
}
