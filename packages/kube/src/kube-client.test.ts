import { kind, Leases, Nodes, Pods } from "@joinery/api";
import { expect, test } from "vitest";
import { createKubeClient, keyOf, parseKey } from "./kube-client.ts";
import { createFakeApi, refusal } from "./testing/fake-api.ts";
import {
  ApiError,
  apiErrorFrom,
  isAlreadyExists,
  isConflict,
  isForbidden,
  isGone,
  isInvalid,
  isNotFound,
  isTooManyRequests,
  isTransient,
  isUnauthorized,
  TransportError,
} from "./wire/errors.ts";
import type { ApiRequest, ApiResponse, Transport } from "./wire/transport.ts";

const NodePools = kind("karpenter.sh", "v1", "NodePool", "nodepools", false);

/** A transport that answers every request alike and remembers what was asked. */
function aTransport(response: ApiResponse = { status: 200, body: {} }, values: readonly unknown[] = []) {
  const requests: ApiRequest[] = [];
  const transport: Transport = {
    send: async (request) => {
      requests.push(request);
      return response;
    },
    stream: async (request) => {
      requests.push(request);
      return {
        status: response.status,
        body: response.body,
        values: (async function* () {
          yield* values;
        })(),
      };
    },
    close: async () => {},
  };
  return { client: createKubeClient(transport, { userAgent: "test/1" }), requests };
}

type Client = ReturnType<typeof aTransport>["client"];
const inDefault = { name: "a", namespace: "default" };

test.each<{ call: string; make: (client: Client) => Promise<unknown>; wish: Partial<ApiRequest> }>([
  { call: "get", make: (c) => c.get(Pods, inDefault), wish: { method: "GET", path: "/api/v1/namespaces/default/pods/a" } },
  {
    call: "get of a cluster-scoped kind",
    make: (c) => c.get(NodePools, { name: "a" }),
    wish: { path: "/apis/karpenter.sh/v1/nodepools/a" },
  },
  { call: "list in all namespaces", make: (c) => c.list(Pods), wish: { path: "/api/v1/pods", query: {} } },
  {
    call: "list with selectors",
    make: (c) =>
      c.list(Pods, { namespace: "x", labelSelector: { matchLabels: { b: "2", a: "1" } }, fieldSelector: "spec.nodeName=n", limit: 5 }),
    wish: { path: "/api/v1/namespaces/x/pods", query: { labelSelector: "a=1,b=2", fieldSelector: "spec.nodeName=n", limit: "5" } },
  },
  {
    call: "create",
    make: (c) => c.create(Leases, { metadata: { ...inDefault } }),
    wish: {
      method: "POST",
      path: "/apis/coordination.k8s.io/v1/namespaces/default/leases",
      body: { apiVersion: "coordination.k8s.io/v1", kind: "Lease", metadata: inDefault },
    },
  },
  {
    call: "replace of a subresource",
    make: (c) => c.replace(Nodes, { metadata: { name: "a" } }, { subresource: "status" }),
    wish: { method: "PUT", path: "/api/v1/nodes/a/status" },
  },
  {
    call: "merge patch",
    make: (c) => c.patch(Nodes, { name: "a" }, { type: "merge", body: { x: 1 } }),
    wish: { method: "PATCH", contentType: "application/merge-patch+json", body: { x: 1 } },
  },
  {
    call: "JSON patch",
    make: (c) => c.patch(Nodes, { name: "a" }, { type: "json", body: [] }),
    wish: { contentType: "application/json-patch+json" },
  },
  {
    call: "strategic patch",
    make: (c) => c.patch(Nodes, { name: "a" }, { type: "strategic", body: {} }),
    wish: { contentType: "application/strategic-merge-patch+json" },
  },
  {
    call: "server-side apply",
    make: (c) => c.patch(Nodes, { name: "a" }, { type: "apply", body: {}, fieldManager: "m", force: true }),
    wish: { contentType: "application/apply-patch+yaml", query: { fieldManager: "m", force: "true" } },
  },
  {
    call: "delete",
    make: (c) => c.delete(Pods, inDefault, { uid: "u", gracePeriodSeconds: 0 }),
    wish: {
      method: "DELETE",
      path: "/api/v1/namespaces/default/pods/a",
      body: { kind: "DeleteOptions", apiVersion: "v1", preconditions: { uid: "u" }, gracePeriodSeconds: 0 },
    },
  },
  {
    call: "eviction",
    make: (c) => c.createSubresource(Pods, inDefault, "eviction", { e: 1 }),
    wish: { method: "POST", path: "/api/v1/namespaces/default/pods/a/eviction", body: { e: 1 } },
  },
  { call: "raw", make: (c) => c.raw("/readyz?verbose=1"), wish: { method: "GET", path: "/readyz", query: { verbose: "1" } } },
])("$call asks for the right thing", async ({ make, wish }) => {
  const { client, requests } = aTransport();
  await make(client);
  expect(requests[0]).toEqual(expect.objectContaining({ ...wish, userAgent: "test/1" }));
});

test("an object without the namespace or name that its kind needs is refused before it is sent", async () => {
  const { client, requests } = aTransport();
  await expect(client.get(Pods, { name: "a" })).rejects.toThrow("it has no namespace");
  await expect(client.get(Nodes, { name: "" })).rejects.toThrow("its name is empty");
  await expect(client.replace(Nodes, {})).rejects.toThrow("metadata.name is missing");
  expect(requests).toEqual([]);
});

test("listAll walks the pages", async () => {
  const api = createFakeApi();
  for (const n of [1, 2, 3, 4, 5]) api.put(`/api/v1/nodes/n${n}`, { metadata: { name: `n${n}` } });
  const names: string[] = [];
  for await (const node of createKubeClient(api.transport, { pageSize: 2 }).listAll(Nodes, { resourceVersion: "0" })) {
    names.push(keyOf(node));
  }
  expect(names).toEqual(["n1", "n2", "n3", "n4", "n5"]);
  expect(api.requests.map(({ query }) => [query?.limit, query?.resourceVersion])).toEqual([
    ["2", "0"],
    ["2", undefined],
    ["2", undefined],
  ]);
});

test("watch: events, bookmarks, and an error inside the stream", async () => {
  const node = { metadata: { name: "n", resourceVersion: "5" } };
  const { client } = aTransport({ status: 200, body: undefined }, [
    { type: "ADDED", object: node },
    { type: "BOOKMARK", object: { metadata: { resourceVersion: "9" } } },
    { type: "ERROR", object: { kind: "Status", code: 410, reason: "Expired", message: "too old resource version" } },
  ]);
  const seen: unknown[] = [];
  const watching = async () => {
    for await (const event of client.watch(Nodes, {}, new AbortController().signal)) seen.push(event);
  };
  await expect(watching()).rejects.toSatisfy(isGone);
  expect(seen).toEqual([
    { type: "ADDED", object: node },
    { type: "BOOKMARK", resourceVersion: "9" },
  ]);
});

test("watch: a refusal before the stream, and a value that is no event", async () => {
  const refused = aTransport(refusal(403, "Forbidden", "no"));
  const follow = async (client: Client) => {
    for await (const _ of client.watch(Nodes, {}, new AbortController().signal)) {
      // Only the end matters.
    }
  };
  await expect(follow(refused.client)).rejects.toSatisfy(isForbidden);
  await expect(follow(aTransport(undefined, [{ type: "ADDED" }]).client)).rejects.toBeInstanceOf(TransportError);
});

test("errors tell status, reason, details and how long to wait", async () => {
  const { client } = aTransport({ ...refusal(429, "TooManyRequests", "slow down"), headers: { "retry-after": "7" } });
  await expect(client.get(Nodes, { name: "a" })).rejects.toMatchObject({
    status: 429,
    reason: "TooManyRequests",
    message: "slow down",
    retryAfterMs: 7000,
    request: "GET /api/v1/nodes/a",
  });
  expect(await aTransport(refusal(404, "NotFound", "gone")).client.find(Nodes, { name: "a" })).toBeUndefined();
  expect(apiErrorFrom(503, "upstream is down\n")).toMatchObject({ reason: "ServiceUnavailable", message: "upstream is down" });
  expect(apiErrorFrom(500, undefined, { request: "GET /x" }).message).toBe("the server answered 500 to GET /x");
  const details = { retryAfterSeconds: 10, causes: [{ field: "spec.x", message: "wrong" }] };
  expect(apiErrorFrom(422, { reason: "Invalid", message: "no", details })).toMatchObject({ retryAfterMs: 10_000, details });
});

test.each([
  { is: isNotFound, status: 404, reason: "NotFound" },
  { is: isConflict, status: 409, reason: "Conflict" },
  { is: isAlreadyExists, status: 409, reason: "AlreadyExists" },
  { is: isGone, status: 410, reason: "Expired" },
  { is: isTooManyRequests, status: 429, reason: "TooManyRequests" },
  { is: isInvalid, status: 422, reason: "Invalid" },
  { is: isForbidden, status: 403, reason: "Forbidden" },
  { is: isUnauthorized, status: 401, reason: "Unauthorized" },
])("$reason is told from the others", ({ is, status, reason }) => {
  const all = [isNotFound, isConflict, isAlreadyExists, isGone, isTooManyRequests, isInvalid, isForbidden, isUnauthorized];
  const error = new ApiError({ status, reason, message: "" });
  expect(all.filter((other) => other(error))).toEqual([is]);
  expect(is(new Error("other"))).toBe(false);
  expect(isTransient(error)).toBe(status === 429);
});

test("keys go there and back", () => {
  expect(keyOf({ metadata: inDefault })).toBe("default/a");
  expect(parseKey("default/a")).toEqual(inDefault);
  expect(parseKey("a")).toEqual({ name: "a" });
});
