import { gzipSync } from "node:zlib";
import fc from "fast-check";
import { expect, test } from "vitest";
import { inflate } from "./gzip.ts";

test("what was compressed comes back, and giving its memory back takes nobody else's", () => {
  const shared = Buffer.allocUnsafe(16).fill(7);
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 300_000, size: "max" }), (original) => {
      const { bytes, release } = inflate(gzipSync(original), "the test");
      expect(Buffer.compare(bytes, original)).toBe(0);
      release();
    }),
    { numRuns: 50 },
  );
  expect([...shared]).toEqual(new Array(16).fill(7));
});

test("memory of megabytes is free as soon as it is given back", () => {
  const { bytes, release } = inflate(gzipSync(Buffer.alloc(4_000_000)), "the test");
  release();
  expect(bytes.buffer.byteLength).toBe(0);
});

test("the length at the end is a guess: two parts in one answer are both read", () => {
  const { bytes } = inflate(Buffer.concat([gzipSync("one and "), gzipSync("two")]), "the test");
  expect(String(Buffer.from(bytes))).toBe("one and two");
});

test.each([
  ["nothing", Buffer.alloc(0)],
  ["text", Buffer.from('{"kind":"PodList"}')],
  ["a part of an answer", gzipSync("whole").subarray(0, -6)],
])("%s is not gzip", (_, bytes) => {
  expect(() => inflate(bytes, "the answer")).toThrow(
    expect.objectContaining({ fault: "malformed", message: expect.stringContaining("the answer: it is not in gzip") }),
  );
});
