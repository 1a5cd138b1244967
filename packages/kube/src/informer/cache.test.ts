import { type Pod, Pods } from "@joinery/api";
import fc from "fast-check";
import { expect, test } from "vitest";
import type { Change } from "../cache.ts";
import { createRandom } from "../clock/random.ts";
import { createVirtualClock } from "../clock/virtual-clock.ts";
import { createKubeClient, keyOf } from "../kube-client.ts";
import { brokenConnection, createFakeApi, refusal } from "../testing/fake-api.ts";
import { type CacheOptions, createCache } from "./cache.ts";

const PODS = "/api/v1/namespaces/default/pods";

function aPod(name: string, nodeName?: string, extra: object = {}): Pod {
  return { metadata: { name, namespace: "default", ...extra }, spec: { containers: [], nodeName } };
}

function aWorld(options: Partial<CacheOptions<Pod>> = {}, seed = 1) {
  const clock = createVirtualClock({ startMs: 1_800_000_000_000 });
  const api = createFakeApi();
  const client = createKubeClient(api.transport);
  const errors: unknown[] = [];
  const cache = createCache(client, Pods, {
    clock,
    random: createRandom(seed),
    namespace: "default",
    pageSize: 3,
    indexes: { node: (pod) => pod.spec.nodeName },
    onError: (error) => void errors.push(error),
    ...options,
  });
  const changes: Change<Pod>[] = [];
  cache.onChange((change) => void changes.push(change));
  const stop = new AbortController();
  const names = () => [...cache.values()].map((pod) => pod.metadata?.name).sort();
  const told = () => changes.map(({ type, object }) => `${type} ${object.metadata?.name}`);
  return { clock, api, client, cache, changes, errors, stop, names, told, start: () => cache.start(stop.signal) };
}

test("lists page by page, then follows the watch; indexes and order of changes hold", async () => {
  const { clock, api, cache, stop, names, told, start } = aWorld();
  for (const n of [1, 2, 3, 4, 5, 6, 7]) api.put(`${PODS}/p${n}`, aPod(`p${n}`, n % 2 === 0 ? "even" : undefined));
  const running = start();
  expect(cache.hasSynced).toBe(false);
  await cache.whenSynced();
  expect(api.requests.filter(({ query }) => query?.limit === "3")).toHaveLength(3);
  expect(cache.size).toBe(7);
  expect([...cache.by("node", "even")].map(keyOf)).toEqual(["default/p2", "default/p4", "default/p6"]);
  expect(() => [...cache.by("zone", "a")]).toThrow("the cache has node");
  await clock.settle();
  api.put(`${PODS}/p8`, aPod("p8", "even"));
  api.put(`${PODS}/p2`, aPod("p2", "odd"));
  api.remove(`${PODS}/p1`);
  await clock.settle();
  expect(told().slice(-3)).toEqual(["added p8", "updated p2", "deleted p1"]);
  expect([...cache.by("node", "even")].map(keyOf)).toEqual(["default/p4", "default/p6", "default/p8"]);
  expect(cache.find("default/p2")?.spec.nodeName).toBe("odd");
  stop.abort();
  await running;
  expect(names()).toHaveLength(7);
});

test("a broken watch is taken up where it stood: no new list, no event lost or doubled", async () => {
  const { clock, api, told, start } = aWorld();
  api.put(`${PODS}/a`, aPod("a"));
  void start();
  await clock.settle();
  api.dropWatches(brokenConnection());
  api.put(`${PODS}/b`, aPod("b"));
  api.remove(`${PODS}/a`);
  await clock.advance(60_000);
  expect(told()).toEqual(["added a", "added b", "deleted a"]);
  expect(api.requests.filter(({ query }) => query?.watch === undefined)).toHaveLength(1);
});

test("410: a new list, whose differences become changes", async () => {
  const { clock, api, told, names, start } = aWorld();
  api.put(`${PODS}/stays`, aPod("stays"));
  api.put(`${PODS}/changes`, aPod("changes"));
  api.put(`${PODS}/goes`, aPod("goes"));
  api.put(`${PODS}/again`, aPod("again"));
  void start();
  await clock.settle();
  const before = told().length;
  api.faults.before = ({ query }) => (query?.watch ? refusal(503, "ServiceUnavailable", "later") : undefined);
  api.dropWatches(brokenConnection());
  await clock.settle();
  api.put(`${PODS}/changes`, aPod("changes", "n"));
  api.remove(`${PODS}/goes`);
  api.remove(`${PODS}/again`);
  api.put(`${PODS}/again`, aPod("again"));
  api.put(`${PODS}/comes`, aPod("comes"));
  api.compact();
  api.faults.before = undefined;
  await clock.advance(120_000);
  expect(told().slice(before).sort()).toEqual(["added again", "added comes", "deleted again", "deleted goes", "updated changes"]);
  expect(names()).toEqual(["again", "changes", "comes", "stays"]);
});

test("bookmarks move the version on, so that a quiet kind does not fall out of the server's history", async () => {
  const { clock, api, cache, start } = aWorld();
  api.put(`${PODS}/a`, aPod("a"));
  void start();
  await clock.settle();
  api.put("/api/v1/nodes/n", { metadata: { name: "n" } });
  api.sendBookmarks();
  api.compact();
  await clock.settle();
  expect(cache.resourceVersion).toBe(String(api.version));
  api.dropWatches();
  await clock.advance(60_000);
  expect(api.requests.filter(({ query }) => query?.watch === undefined)).toHaveLength(1);
});

test("a continue token that expires between two pages leads to one list without pages", async () => {
  const { clock, api, names, start } = aWorld();
  for (const n of [1, 2, 3, 4, 5]) api.put(`${PODS}/p${n}`, aPod(`p${n}`));
  api.faults.before = ({ query }) => {
    if (query?.continue) {
      api.put(`${PODS}/p6`, aPod("p6"));
      api.compact();
    }
    return undefined;
  };
  void start();
  await clock.settle();
  expect(names()).toEqual(["p1", "p2", "p3", "p4", "p5", "p6"]);
});

test("a list that is older than what was seen is asked for again; after five the server is right", async () => {
  const { clock, api, names, errors, start } = aWorld();
  api.put(`${PODS}/a`, aPod("a"));
  void start();
  await clock.settle();
  const old = {
    kind: "List",
    metadata: { resourceVersion: "5" },
    items: [aPod("restored", undefined, { resourceVersion: "4", uid: "r" })],
  };
  let staleAnswers = 0;
  api.faults.before = ({ query, path }) => {
    if (path !== PODS) return undefined;
    if (query?.watch)
      return query.resourceVersion === "5" ? refusal(503, "ServiceUnavailable", "later") : refusal(410, "Expired", "too old");
    staleAnswers++;
    return { status: 200, body: old };
  };
  api.dropWatches();
  await clock.advance(10_000);
  expect(names()).toEqual(["a"]);
  expect(errors.some((error) => String(error).includes("wanted at least"))).toBe(true);
  await clock.advance(300_000);
  expect(staleAnswers).toBe(5);
  expect(names()).toEqual(["restored"]);
});

test("the own write is visible at once, is told once, and never brings back what is gone", async () => {
  const { clock, api, client, cache, told, start } = aWorld();
  void start();
  await clock.settle();
  let released = () => {};
  const written = await client.create(Pods, aPod("mine"));
  cache.noteWritten(written);
  expect(cache.find("default/mine")).toBeDefined();
  await clock.settle();
  api.remove(`${PODS}/mine`);
  await clock.settle();
  cache.noteWritten(written);
  expect(cache.find("default/mine")).toBeUndefined();
  expect(told()).toEqual(["added mine", "deleted mine"]);
  // A list whose snapshot is older than the write must not take the object away.
  api.faults.after = ({ query }) => (query?.limit ? new Promise<void>((resolve) => (released = resolve)) : undefined);
  api.compact();
  api.faults.before = ({ query }) =>
    query?.watch && query.resourceVersion !== String(api.version) ? refusal(410, "Expired", "old") : undefined;
  api.put("/api/v1/nodes/n", { metadata: { name: "n" } });
  api.dropWatches();
  await clock.advance(5000);
  cache.noteWritten(await client.create(Pods, aPod("later")));
  api.faults.before = undefined;
  released();
  await clock.advance(5000);
  expect(told()).toEqual(["added mine", "deleted mine", "added later"]);
});

test("trimmed objects are what is held and told; a failing listener does not stop the others", async () => {
  const { clock, api, cache, changes, errors, start } = aWorld({
    trim: ({ metadata, spec }) => ({
      metadata: { name: metadata?.name, namespace: metadata?.namespace, resourceVersion: metadata?.resourceVersion },
      spec: { containers: [], nodeName: spec.nodeName },
    }),
  });
  cache.onChange(() => {
    throw new Error("listener");
  });
  const later: string[] = [];
  const unsubscribe = cache.onChange(({ type }) => void later.push(type));
  api.put(`${PODS}/a`, { ...aPod("a", "n"), status: { phase: "Running" } } as Pod);
  void start();
  await clock.settle();
  expect(Object.keys(cache.find("default/a")!)).toEqual(["metadata", "spec"]);
  expect(changes[0]!.object).toBe(cache.find("default/a"));
  expect(String(errors[0])).toContain("listener");
  unsubscribe();
  api.remove(`${PODS}/a`);
  await clock.settle();
  expect(later).toEqual(["added"]);
});

test("what is kept may have a shape of its own", async () => {
  const { clock, api, client } = aWorld();
  api.put(`${PODS}/a`, aPod("a", "n"));
  const cache = createCache(client, Pods, {
    clock,
    random: createRandom(1),
    namespace: "default",
    trim: ({ metadata, spec }: Pod) => ({ metadata, where: spec.nodeName }),
    indexes: { where: ({ where }) => where },
  });
  void cache.start(new AbortController().signal);
  await clock.settle();
  cache.noteWritten(await client.create(Pods, aPod("b", "n")));
  expect([...cache.by("where", "n")].map(({ where }) => where)).toEqual(["n", "n"]);
});

test("managedFields are not kept unless a trim says so", async () => {
  const { clock, api, cache, start } = aWorld();
  api.put(`${PODS}/a`, aPod("a", undefined, { managedFields: [{}] }));
  void start();
  await clock.settle();
  expect(cache.find("default/a")?.metadata?.managedFields).toBeUndefined();
});

test("an unreachable server is asked ever more seldom, and its Retry-After is kept", async () => {
  const { clock, api, errors, start } = aWorld();
  api.faults.before = () => {
    throw brokenConnection();
  };
  void start();
  await clock.advance(600_000);
  expect(errors.length).toBeGreaterThan(10);
  expect(errors.length).toBeLessThan(30);
  const count = api.requests.length;
  api.faults.before = () => ({ ...refusal(429, "TooManyRequests", "slow"), headers: { "retry-after": "120" } });
  await clock.advance(240_000);
  expect(api.requests.length - count).toBeLessThanOrEqual(3);
});

test("a watch on a dead connection is given up", async () => {
  const { clock, api, names, errors, start } = aWorld();
  void start();
  await clock.settle();
  // The connection is gone, but nobody says so: the server no longer knows the watcher.
  const watch = api.requests.at(-1)!;
  expect(Number(watch.query?.timeoutSeconds)).toBeGreaterThanOrEqual(300);
  await clock.advance(11 * 60_000);
  api.put(`${PODS}/a`, aPod("a"));
  await clock.settle();
  expect(String(errors[0])).toContain("hung");
  expect(names()).toEqual(["a"]);
});

test("whenSynced gives up with its signal", async () => {
  const { cache } = aWorld();
  await expect(cache.whenSynced(AbortSignal.abort(new Error("enough")))).rejects.toThrow("enough");
});

type Step = {
  readonly act: "put" | "remove" | "drop" | "break" | "compact" | "refuse" | "bookmark" | "wait" | "write";
  readonly pod: number;
};

const steps = fc.array(
  fc.record<Step>({
    act: fc.constantFrom(
      "put",
      "put",
      "put",
      "remove",
      "remove",
      "drop",
      "break",
      "compact",
      "refuse",
      "bookmark",
      "wait",
      "write",
      "write",
      "write",
    ),
    pod: fc.integer({ min: 0, max: 3 }),
  }),
  { maxLength: 60 },
);

test("whatever breaks, at rest the cache is what the server has, and the changes told lead there one by one", async () => {
  await fc.assert(
    fc.asyncProperty(steps, fc.integer(), async (script, seed) => {
      const { clock, api, client, cache, changes, start, stop } = aWorld({}, seed);
      const running = start();
      const late: Pod[] = [];
      for (const { act, pod } of script) {
        const path = `${PODS}/p${pod}`;
        if (act === "put") api.put(path, aPod(`p${pod}`, `n${api.version % 3}`));
        else if (act === "remove") api.remove(path);
        else if (act === "drop") api.dropWatches();
        else if (act === "break") api.dropWatches(brokenConnection());
        else if (act === "compact") api.compact();
        else if (act === "refuse") api.faults.before = pod % 2 === 0 ? () => refusal(500, "InternalError", "down") : undefined;
        else if (act === "bookmark") api.sendBookmarks();
        else if (act === "wait") await clock.advance(pod * pod * 700);
        else {
          // An own write, whose answer is noted now or late.
          const answer = api.put(path, aPod(`p${pod}`, "own")) as Pod;
          if (pod % 2 === 0) cache.noteWritten(answer);
          else late.push(answer);
          if (late.length > 1) cache.noteWritten(late.shift()!);
        }
      }
      api.faults.before = undefined;
      await clock.advance(120_000);
      for (const answer of late) cache.noteWritten(answer);
      const server = new Map(api.objects(PODS).map((object) => [keyOf(object), object.metadata?.resourceVersion]));
      expect(new Map([...cache.values()].map((object) => [keyOf(object), object.metadata?.resourceVersion]))).toEqual(server);
      for (const node of ["n0", "n1", "n2", "own"]) {
        const found = new Set([...cache.by("node", node)].map(keyOf));
        expect(found).toEqual(new Set([...cache.values()].filter((pod) => pod.spec.nodeName === node).map(keyOf)));
      }
      const model = new Map<string, Pod>();
      for (const change of changes) {
        const key = keyOf(change.object);
        if (change.type === "added") expect(model.has(key)).toBe(false);
        else if (change.type === "updated") {
          expect(model.get(key)).toBe(change.previous);
          expect(Number(change.object.metadata?.resourceVersion)).toBeGreaterThan(Number(change.previous.metadata?.resourceVersion));
        } else expect(model.get(key)).toBe(change.object);
        if (change.type === "deleted") model.delete(key);
        else model.set(key, change.object);
      }
      expect(model.size).toBe(cache.size);
      stop.abort();
      await running;
      void client;
    }),
    { numRuns: 200 },
  );
});
