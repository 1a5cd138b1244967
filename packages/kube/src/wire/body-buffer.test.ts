import fc from "fast-check";
import { expect, test } from "vitest";
import { BodyBuffer } from "./body-buffer.ts";

async function* chunksOf(...chunks: readonly Uint8Array[]): AsyncGenerator<Uint8Array> {
  yield* chunks;
}

test("an answer is its chunks, whatever was read before", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.array(fc.uint8Array({ maxLength: 400_000 }), { maxLength: 4 }), { maxLength: 5 }), async (answers) => {
      const buffer = new BodyBuffer();
      for (const chunks of answers) {
        const { bytes, release } = await buffer.read(chunksOf(...chunks));
        expect(Buffer.compare(bytes, Buffer.concat(chunks))).toBe(0);
        release();
      }
    }),
    { numRuns: 20 },
  );
});

test("memory that was given back is used again; what is lent is not touched", async () => {
  const buffer = new BodyBuffer();
  const first = await buffer.read(chunksOf(Buffer.from("first")));
  const second = await buffer.read(chunksOf(Buffer.from("second")));
  expect(second.bytes.buffer).not.toBe(first.bytes.buffer);
  expect(String(Buffer.from(first.bytes))).toBe("first");
  first.release();
  const third = await buffer.read(chunksOf(Buffer.from("third")));
  expect(third.bytes.buffer).toBe(first.bytes.buffer);
  expect(String(Buffer.from(second.bytes))).toBe("second");
});
