import fc from "fast-check";
import { expect, test } from "vitest";
import { AlikeReader, alikeOf } from "./alike-reader.ts";
import { flag, integer, Message, own, part, parts, partsWhere, text, textMap } from "./message.ts";
import { WireReader } from "./wire-reader.ts";

/** A workload's pod in small: everything that the pods' own message is made of. */
interface Thing {
  readonly name?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly spec?: {
    readonly node?: string;
    readonly isUrgent?: boolean;
    readonly weight?: number;
    readonly boxes?: readonly { readonly name?: string; readonly size?: number }[];
    readonly mounts?: readonly { readonly name?: string; readonly claim?: string }[];
  };
}

const box = new Message<NonNullable<NonNullable<Thing["spec"]>["boxes"]>[number]>({ name: text(1), size: integer(20) });
const mount = new Message<NonNullable<NonNullable<Thing["spec"]>["mounts"]>[number]>({ name: text(1), claim: text(2) });
const thing = new Message<Thing>({
  name: own(text(1)),
  labels: textMap(2),
  spec: part(
    3,
    new Message<NonNullable<Thing["spec"]>>({
      node: own(text(1)),
      isUrgent: flag(2),
      weight: integer(3),
      boxes: parts(18, box),
      mounts: partsWhere(5, mount, ({ claim }) => claim !== undefined),
    }),
  ),
});

const varint = (value: number): number[] => (value < 128 ? [value] : [(value & 127) | 128, ...varint(value >>> 7)]);
const bytes = (number: number, content: Uint8Array | string) => {
  const raw = Buffer.from(content as Uint8Array);
  return Buffer.concat([Buffer.from(varint((number << 3) | 2)), Buffer.from(varint(raw.length)), raw]);
};
const number = (field: number, value: number | undefined) => Buffer.from(value ? [...varint(field << 3), ...varint(value)] : []);
const optional = (field: number, content: string | undefined) => (content === undefined ? Buffer.alloc(0) : bytes(field, content));

/** `noise` stands in fields that nobody reads. */
function encode({ name, labels = {}, spec }: Thing, noise: string): Buffer {
  const entries = Object.entries(labels).map(([key, value]) => bytes(2, Buffer.concat([bytes(1, key), bytes(2, value)])));
  const { node, isUrgent, weight, boxes = [], mounts = [] } = spec ?? {};
  const inner = [
    ...mounts.map((one) => bytes(5, Buffer.concat([optional(1, one.name), optional(2, one.claim)]))),
    optional(1, node),
    number(2, isUrgent ? 1 : 0),
    bytes(7, noise),
    number(3, weight),
    ...boxes.map((one) => bytes(18, Buffer.concat([optional(1, one.name), bytes(9, noise), number(20, one.size)]))),
  ];
  return Buffer.concat([optional(1, name), ...entries, bytes(11, noise), ...(spec === undefined ? [] : [bytes(3, Buffer.concat(inner))])]);
}

const word = fc.constantFrom("a", "b", "long".repeat(20));
const anyThing: fc.Arbitrary<Thing> = fc.record(
  {
    name: word,
    labels: fc.dictionary(word, word, { maxKeys: 2 }),
    spec: fc.record(
      {
        node: word,
        isUrgent: fc.boolean(),
        weight: fc.integer({ min: 0, max: 300 }),
        boxes: fc.array(fc.record({ name: word, size: fc.integer({ min: 0, max: 2 }) }, { requiredKeys: [] }), { maxLength: 3 }),
        mounts: fc.array(fc.record({ name: word, claim: word }, { requiredKeys: [] }), { maxLength: 2 }),
      },
      { requiredKeys: [] },
    ),
  },
  { requiredKeys: [] },
);

const plainly = (raw: Buffer) => thing.read(new WireReader(raw), raw.length);
const withoutOwn = (raw: Buffer) => JSON.stringify(thing.withoutOwn(plainly(raw)));

test("objects are what the plain message reads, whichever were read before", () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(anyThing, word), { maxLength: 12 }), (things) => {
      const reader = new AlikeReader(thing);
      for (const [one, noise] of things) {
        const raw = encode(one, noise);
        expect({ ...reader.read(new WireReader(raw), raw.length) }).toEqual(plainly(raw));
      }
    }),
  );
});

test("objects are alike where they differ in what is their own, or is not read, and only there", () => {
  fc.assert(
    fc.property(anyThing, anyThing, word, word, (one, other, noise, otherNoise) => {
      const reader = new AlikeReader(thing);
      const [first, second] = [encode(one, noise), encode(other, otherNoise)];
      const [a, b] = [first, second].map((raw) => alikeOf(reader.read(new WireReader(raw), raw.length)));
      expect(a).toBeDefined();
      // Never alike where the values differ. That equal ones are not, because they were written in another way, costs a second reading.
      if (a === b) expect(withoutOwn(first)).toBe(withoutOwn(second));
    }),
  );
});

test("what objects have in common is one object; copies and other objects are like nothing", () => {
  const reader = new AlikeReader(thing);
  const spec = { boxes: [{ name: "a", size: 1 }], mounts: [{ name: "random" }] };
  const read = (one: Thing, noise: string) => {
    const raw = encode(one, noise);
    return reader.read(new WireReader(raw), raw.length);
  };
  const one = read({ name: "one", labels: { app: "web" }, spec: { ...spec, node: "n1" } }, "x");
  const other = read({ name: "other", labels: { app: "web" }, spec: { ...spec, mounts: [{ name: "chance" }], node: "n2" } }, "yy");
  expect(alikeOf(other)).toBe(alikeOf(one));
  expect(other.spec?.boxes).toBe(one.spec?.boxes);
  expect([other.name, other.spec?.node]).toEqual(["other", "n2"]);
  expect([alikeOf({ ...one }), alikeOf({})]).toEqual([undefined, undefined]);
});

test("many kinds of objects do not stay for ever", () => {
  const reader = new AlikeReader(thing);
  const read = (index: number) => {
    const raw = encode({ labels: { index: String(index) } }, "");
    return alikeOf(reader.read(new WireReader(raw), raw.length));
  };
  const first = read(0);
  expect(read(0)).toBe(first);
  for (let index = 1; index <= 1024; index++) read(index);
  expect(read(0)).not.toBe(first);
});
