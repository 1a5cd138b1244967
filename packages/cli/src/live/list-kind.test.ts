import { type KubeObject, Pods } from "@joinery/api";
import { ApiError, createVirtualClock, type KubeClient, type ListOptions, type ObjectList, TransportError } from "@joinery/kube";
import { describe, expect, test } from "vitest";
import { listKind } from "./list-kind.ts";

const page = (names: readonly string[], next?: string, remaining?: number): ObjectList<KubeObject> => ({
  items: names.map((name) => ({ metadata: { name } })),
  resourceVersion: "1",
  ...(next !== undefined && { continue: next }),
  ...(remaining !== undefined && { remainingItemCount: remaining }),
});
const refusal = (status: number, more: object = {}) => new ApiError({ status, reason: "", message: `status ${status}`, ...more });

/** Lists with these answers, one after another. */
async function listed(answers: readonly (ObjectList<KubeObject> | Error)[]) {
  const clock = createVirtualClock({ startMs: 0 });
  const asked: ListOptions[] = [];
  let kept: string[] = [];
  const pages: (readonly [number, number | undefined])[] = [];
  const client = {
    list: async (_: unknown, options: ListOptions = {}) => {
      asked.push(options);
      const answer = answers[asked.length - 1];
      if (answer === undefined) throw new Error("asked once more");
      if (answer instanceof Error) throw answer;
      return answer;
    },
  } as unknown as KubeClient;
  const listing = listKind(Pods, {
    client,
    clock,
    keep: ({ metadata }) => kept.push(metadata!.name!),
    restart: () => {
      kept = [];
    },
    onPage: (count, remaining) => pages.push([count, remaining]),
  });
  const outcome = listing.then(
    () => undefined,
    (error: unknown) => error,
  );
  await clock.advance(120_000);
  return { error: await outcome, asked: asked.map((options) => options.continue), limits: asked.map(({ limit }) => limit), kept, pages };
}

test("pages are asked for until there is none left, and each is told with what the server says is left", async () => {
  const { error, asked, limits, kept, pages } = await listed([page(["a", "b"], "t1", 3), page(["c", "d"], "t2", 1), page(["e"])]);
  expect(error).toBeUndefined();
  expect(kept).toEqual(["a", "b", "c", "d", "e"]);
  expect(asked).toEqual([undefined, "t1", "t2"]);
  expect(new Set(limits)).toEqual(new Set([500]));
  expect(pages).toEqual([
    [2, 3],
    [2, 1],
    [1, undefined],
  ]);
});

test("a token that has expired begins the list again, with nothing twice", async () => {
  const { error, kept } = await listed([page(["a", "b"], "t1"), refusal(410), page(["a", "b"], "t2"), page(["c"])]);
  expect({ error, kept }).toEqual({ error: undefined, kept: ["a", "b", "c"] });
});

test("a list that expires again and again is given up", async () => {
  const expired = [page(["a"], "t"), refusal(410)];
  const { error, asked } = await listed([...expired, ...expired, ...expired]);
  expect(error).toMatchObject({ status: 410 });
  expect(asked).toHaveLength(6);
});

describe("a server that does not answer", () => {
  test.each([
    { name: "too many requests, with a wait", fault: refusal(429, { retryAfterMs: 3000 }) },
    { name: "an hour's wait is cut", fault: refusal(429, { retryAfterMs: 3_600_000 }) },
    { name: "unavailable", fault: refusal(503) },
    { name: "a broken connection", fault: new TransportError("broken", "reset") },
  ])("is asked again: $name", async ({ fault }) => {
    const { error, kept } = await listed([fault, fault, page(["a"], "t"), fault, page(["b"])]);
    expect({ error, kept }).toEqual({ error: undefined, kept: ["a", "b"] });
  });

  test("but not for ever", async () => {
    const { error, asked } = await listed(Array.from({ length: 9 }, () => refusal(503)));
    expect(error).toMatchObject({ status: 503 });
    expect(asked).toHaveLength(5);
  });

  test.each([
    { name: "unreachable", fault: new TransportError("unreachable", "refused") },
    { name: "forbidden", fault: refusal(403) },
    { name: "not found", fault: refusal(404) },
  ])("is believed at once: $name", async ({ fault }) => {
    const { error, asked } = await listed([fault, page(["a"])]);
    expect(error).toBe(fault);
    expect(asked).toHaveLength(1);
  });
});
