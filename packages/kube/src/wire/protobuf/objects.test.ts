/** Against answers of a real kube-apiserver 1.37, recorded in both encodings by `test/kubernetes/encodings.test.ts`. */
import { readFileSync } from "node:fs";
import { type Kind, type KubeObject, Nodes, Pods } from "@joinery/api";
import { describe, expect, test } from "vitest";
import { TransportError } from "../errors.ts";
import { frames } from "./frames.ts";
import { isInProtobuf, type ListBody, readPage, readStatus, readWatchEvent } from "./objects.ts";

interface Answer {
  readonly json: unknown;
  /** base64. */
  readonly protobuf: string;
}

const answers: Readonly<Record<"pods" | "nodes" | "refusal", Answer>> = JSON.parse(
  readFileSync(new URL("real-answers.json", import.meta.url), "utf8"),
);
const bytesOf = ({ protobuf }: Answer) => new Uint8Array(Buffer.from(protobuf, "base64"));

function readList(kind: Kind, bytes: Uint8Array) {
  const { items, metadata } = readPage(kind, bytes);
  return { items: [...(items ?? [])], metadata };
}

/** Paths of `found` whose value `json` has not. */
function untrue(found: unknown, json: unknown, path = ""): string[] {
  if (typeof found !== "object" || found === null) return found === json ? [] : [`${path}: ${found}, JSON has ${JSON.stringify(json)}`];
  return Object.entries(found).flatMap(([key, part]) =>
    untrue(part, (json as Record<string, unknown> | undefined)?.[key], `${path}.${key}`),
  );
}

/** Every path with a value, without the positions in lists. */
function pathsOf(value: unknown, path = ""): string[] {
  if (Array.isArray(value)) return value.flatMap((part) => pathsOf(part, path));
  if (typeof value !== "object" || value === null) return [path];
  return Object.entries(value).flatMap(([key, part]) => pathsOf(part, `${path}.${key}`));
}

describe.each([
  { kind: Pods as Kind, answer: answers.pods },
  { kind: Nodes as Kind, answer: answers.nodes },
])("$kind.kind", ({ kind, answer }) => {
  const read = readList(kind, bytesOf(answer));

  test("what is read is what JSON says", () => {
    expect(untrue(read, answer.json)).toEqual([]);
    expect(read.metadata?.resourceVersion).toBe((answer.json as ListBody<KubeObject>).metadata?.resourceVersion);
  });

  test("every field that a cache reads is read", () => {
    const found = [...new Set(pathsOf(read.items[0]))].sort();
    expect(found).toMatchSnapshot();
  });

  test("an answer that ends too early is an error, wherever it ends", () => {
    const bytes = bytesOf(answer);
    // The envelope's last two fields are empty.
    for (let length = 0; length < bytes.length - 4; length += 7) {
      expect(() => readList(kind, bytes.subarray(0, length))).toThrow(TransportError);
    }
  });
});

test("the objects of a page are read one after the other", () => {
  const { items, metadata } = readPage(Nodes as Kind, bytesOf(answers.nodes));
  const names = (answers.nodes.json as { items: { metadata: { name: string } }[] }).items.map((item) => item.metadata.name);
  expect(metadata?.resourceVersion).toMatch(/^\d+$/);
  const iterator = (items as Iterable<KubeObject>)[Symbol.iterator]();
  expect(names.map(() => iterator.next().value?.metadata?.name)).toEqual(names);
  expect(iterator.next().done).toBe(true);
});

test("an outline has no status, and the rest is what JSON says", () => {
  for (const [kind, answer] of [[Pods as Kind, answers.pods] as const, [Nodes as Kind, answers.nodes] as const]) {
    const { items } = readPage(kind, bytesOf(answer), { isOutline: true });
    const outlines = [...items!] as (KubeObject & { status?: unknown; spec?: unknown })[];
    expect(outlines.some(({ status }) => status !== undefined)).toBe(false);
    expect(outlines.every(({ spec }) => spec !== undefined)).toBe(true);
    expect(untrue({ items: outlines }, answer.json)).toEqual([]);
  }
});

test("a refusal is read as a Status", () => {
  expect(readStatus(bytesOf(answers.refusal))).toMatchObject({ kind: "Status", code: 400, reason: "BadRequest" });
  expect(untrue(readStatus(bytesOf(answers.refusal)), answers.refusal.json)).toEqual([]);
});

test("other kinds have no such encoding here", () => {
  expect(isInProtobuf({ ...Pods })).toBe(false);
  expect(() => readList({ ...Pods } as Kind, bytesOf(answers.pods))).toThrow("nobody asked for this kind in this encoding");
});

const field = (number: number, bytes: Uint8Array) => {
  const length = bytes.length < 128 ? [bytes.length] : [(bytes.length & 127) | 128, bytes.length >> 7];
  return Buffer.concat([Buffer.from([(number << 3) | 2, ...length]), bytes]);
};
const frameOf = (type: string, object: Uint8Array) => Buffer.concat([field(1, Buffer.from(type)), field(2, field(1, object))]);
const framed = (payload: Uint8Array) => {
  const head = Buffer.alloc(4);
  head.writeUInt32BE(payload.length);
  return Buffer.concat([head, payload]);
};
async function* chunksOf(bytes: Uint8Array, size: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}
async function collect<T>(values: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const value of values) all.push(value);
  return all;
}

test("an event of a watch names its type; an error holds a Status", () => {
  expect(readWatchEvent(Nodes, frameOf("ERROR", bytesOf(answers.refusal)))).toMatchObject({ type: "ERROR", object: { code: 400 } });
  // k8s, then field 2 of the envelope: an object whose metadata has resourceVersion 17.
  const bookmark = Buffer.concat([Buffer.from("k8s\0"), field(2, field(1, field(6, Buffer.from("17"))))]);
  expect(readWatchEvent(Pods, frameOf("BOOKMARK", bookmark))).toEqual({
    type: "BOOKMARK",
    object: { metadata: { resourceVersion: "17" } },
  });
  expect(() => readWatchEvent(Pods, frameOf("ADDED", Buffer.from("{}")))).toThrow("it does not begin with k8s");
});

test.each([1, 2, 3, 5, 64, 1000])("frames are put together from chunks of %i bytes", async (size) => {
  const payloads = ["", "a", "some more bytes", "x".repeat(300)].map((text) => Buffer.from(text));
  const stream = Buffer.concat(payloads.map(framed));
  expect((await collect(frames(chunksOf(stream, size), "it"))).map(String)).toEqual(payloads.map(String));
  await expect(collect(frames(chunksOf(stream.subarray(0, -1), size), "it"))).rejects.toThrow("it ends within a frame");
});
