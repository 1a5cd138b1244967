import fc from "fast-check";
import { expect, test } from "vitest";
import { WireReader } from "./wire-reader.ts";

/** The model: two's complement in groups of seven bits, the lowest first. */
function varint(value: bigint): Buffer {
  let rest = BigInt.asUintN(64, value);
  const bytes: number[] = [];
  do {
    bytes.push(Number(rest & 127n) | (rest > 127n ? 128 : 0));
    rest >>= 7n;
  } while (rest > 0n);
  return Buffer.from(bytes);
}

test("numbers of 64 bits are exact as far as JavaScript's are", () => {
  fc.assert(
    fc.property(fc.oneof(fc.maxSafeInteger(), fc.integer(), fc.constantFrom(0, -1, 2 ** 31, -(2 ** 31), 2 ** 32, -(2 ** 32))), (value) => {
      const reader = new WireReader(varint(BigInt(value)));
      expect(reader.integer()).toBe(value);
      expect(reader.position).toBe(reader.length);
    }),
  );
});

test("tags and lengths are numbers of 32 bits", () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 2 ** 32 - 1 }), (value) => {
      expect(new WireReader(varint(BigInt(value))).small()).toBe(value);
    }),
  );
  expect(() => new WireReader(varint(2n ** 40n)).small()).toThrow("longer than 32 bits");
});

test("texts are what was written, whichever were read before", () => {
  fc.assert(
    fc.property(
      fc.array(fc.oneof(fc.string({ unit: "binary", maxLength: 60 }), fc.constantFrom("cpu", "ä", "Ã¤", "\u{1F600}"))),
      (texts) => {
        const parts = texts.flatMap((text) => [varint(BigInt(Buffer.byteLength(text))), Buffer.from(text)]);
        const reader = new WireReader(Buffer.concat(parts));
        expect(texts.map(() => reader.text())).toEqual(texts.map((text) => Buffer.from(text).toString()));
      },
    ),
  );
});

test.each([
  { what: "a varint", bytes: [0x80], wireType: 0 },
  { what: "a length", bytes: [5, 1], wireType: 2 },
  { what: "a group, which nobody sends", bytes: [0], wireType: 3 },
])("$what that is cut off or unknown is an error", ({ bytes, wireType }) => {
  expect(() => new WireReader(Uint8Array.from(bytes)).skip(wireType)).toThrow(RangeError);
});
