/**
 * Messages of Kubernetes' protobuf encoding, read into the objects that its JSON would give, without the fields that nobody here reads: these are
 * stepped over. A field that is no pointer in Kubernetes' own types is always sent, and left out of JSON while empty; so it is here.
 */
import type { KeyBytes } from "./key-bytes.ts";
import { BYTES, VARINT, type WireReader } from "./wire-reader.ts";

declare const value: unique symbol;

/** How one field is read; `V` is what it becomes. */
export interface Field<out V> {
  readonly number: number;
  readonly wireType: typeof VARINT | typeof BYTES;
  take(reader: WireReader, into: Record<string, unknown>, name: string): void;
  /** Steps over the value, and adds to the key what `take` would read of it; absent where that is all of it. */
  collect?(reader: WireReader, key: KeyBytes): void;
  /** It says which object this is, or what became of it, and is not compared. */
  readonly isOwn?: boolean;
  /** What a single part is. */
  readonly inner?: Message<unknown>;
  readonly [value]?: V;
}

/** A field that our types know but that no reader of this encoding looks at. */
export const unread = "unread";

/** Every property of the type has its field, or is said to be unread: who adds one to a type has to decide. */
export type Fields<T> = { readonly [K in KnownKey<T>]-?: Field<NonNullable<T[K]>> | typeof unread };

/** Properties with a name of their own, without an index signature. */
type KnownKey<T> = keyof { [K in keyof T as string extends K ? never : K]: T[K] };

interface NamedField {
  readonly name: string;
  readonly field: Field<unknown>;
}

export class Message<out T> {
  /** By field number. */
  readonly #fields: (NamedField | undefined)[] = [];
  /** Something in it says which object it is. */
  readonly hasOwn: boolean;
  declare readonly [value]?: T;

  constructor(fields: Fields<T>) {
    for (const [name, field] of Object.entries<Field<unknown> | typeof unread>(fields)) {
      if (field !== unread) this.#fields[field.number] = { name, field };
    }
    this.hasOwn = this.#fields.some((known) => known?.field.isOwn || known?.field.inner?.hasOwn);
  }

  read(reader: WireReader, end: number): T {
    return this.readInto(reader, end, {});
  }

  /** Gives `into`, which now has what is in the message. */
  readInto(reader: WireReader, end: number, into: object): T {
    while (reader.position < end) {
      const tag = reader.small();
      const known = this.#fields[tag >>> 3];
      if (known !== undefined && known.field.wireType === (tag & 7)) known.field.take(reader, into as Record<string, unknown>, known.name);
      else reader.skip(tag & 7);
    }
    expectEnd(reader, end);
    return into as T;
  }

  /** Adds to the key what is read of the message, but for what is an object's own: equal keys mean equal values, own ones aside. */
  collect(reader: WireReader, end: number, key: KeyBytes): void {
    /** Where what is not added yet begins; values that stand side by side are added at once. */
    let from = reader.position;
    while (reader.position < end) {
      const start = reader.position;
      const tag = reader.small();
      const field = this.#fields[tag >>> 3]?.field;
      const isRead = field !== undefined && !field.isOwn && field.wireType === (tag & 7);
      if (isRead && field.collect === undefined) {
        reader.skip(tag & 7);
        continue;
      }
      key.add(reader, from, start);
      if (isRead) {
        key.addTag(tag);
        field.collect?.(reader, key);
      } else reader.skip(tag & 7);
      from = reader.position;
    }
    key.add(reader, from, reader.position);
    key.addEnd();
    expectEnd(reader, end);
  }

  /** Gives `object` with what is the object's own; the rest is that of `alike`, and is the same, not a copy. */
  readOwn(reader: WireReader, end: number, alike: Partial<T>, object: object): T {
    const into = Object.assign(object, alike) as Record<string, unknown>;
    while (reader.position < end) {
      const tag = reader.small();
      const known = this.#fields[tag >>> 3];
      if (known === undefined || known.field.wireType !== (tag & 7)) {
        reader.skip(tag & 7);
        continue;
      }
      const { name, field } = known;
      if (field.isOwn) field.take(reader, into, name);
      else if (field.inner?.hasOwn)
        into[name] = field.inner.readOwn(reader, reader.partEnd(), (alike as Record<string, object>)[name] ?? {}, {});
      else reader.skip(tag & 7);
    }
    expectEnd(reader, end);
    return into as T;
  }

  /** What `readOwn` takes from an object that is alike. */
  withoutOwn(object: T): Partial<T> {
    const rest: Record<string, unknown> = {};
    for (const known of this.#fields) {
      if (known === undefined || known.field.isOwn) continue;
      const part = (object as Record<string, unknown>)[known.name];
      if (part !== undefined) rest[known.name] = known.field.inner?.hasOwn ? known.field.inner.withoutOwn(part) : part;
    }
    return rest as Partial<T>;
  }
}

function expectEnd(reader: WireReader, end: number): void {
  if (reader.position !== end) throw new RangeError("a value reaches beyond the end of its message");
}

/** A field that says which object this is, or what became of it. */
export function own<V>(field: Field<V>): Field<V> {
  return { ...field, isOwn: true };
}

/** Text; absent while empty. */
export function text<V extends string>(number: number): Field<V> {
  return bytesField(number, (reader, into, name) => {
    const read = reader.text();
    if (read !== "") into[name] = read;
  });
}

/** Text behind a pointer: the empty one says something. */
export function optionalText<V extends string>(number: number): Field<V> {
  return bytesField(number, (reader, into, name) => {
    into[name] = reader.text();
  });
}

export function texts<V extends string>(number: number): Field<readonly V[]> {
  return bytesField(number, (reader, into, name) => append(into, name, reader.text()));
}

/** A whole number; absent while 0. */
export function integer(number: number): Field<number> {
  return varintField(number, (reader, into, name) => {
    const read = reader.integer();
    if (read !== 0) into[name] = read;
  });
}

/** A whole number that JSON shows even when it is 0: behind a pointer, or required. */
export function optionalInteger(number: number): Field<number> {
  return varintField(number, (reader, into, name) => {
    into[name] = reader.integer();
  });
}

/** Absent while false. */
export function flag(number: number): Field<boolean> {
  return varintField(number, (reader, into, name) => {
    if (reader.small() !== 0) into[name] = true;
  });
}

export function optionalFlag(number: number): Field<boolean> {
  return varintField(number, (reader, into, name) => {
    into[name] = reader.small() !== 0;
  });
}

/** `metav1.Time`: seconds since 1970, as RFC 3339 has them; absent for the zero time, which is sent as an empty message. */
export function time(number: number): Field<string> {
  return bytesField(number, (reader, into, name) => {
    const end = reader.partEnd();
    if (reader.position === end) return;
    const { seconds = 0 } = timestamp.read(reader, end);
    into[name] = rfc3339(seconds);
  });
}

export function part<T>(number: number, message: Message<T>): Field<T> {
  const take: Field<T>["take"] = (reader, into, name) => {
    into[name] = message.read(reader, reader.partEnd());
  };
  return { number, wireType: BYTES, take, collect: collectInner(message), inner: message };
}

export function parts<T>(number: number, message: Message<T>): Field<readonly T[]> {
  const take: Field<T>["take"] = (reader, into, name) => append(into, name, message.read(reader, reader.partEnd()));
  return { number, wireType: BYTES, take, collect: collectInner(message) };
}

/** Parts of which only some are looked at; the others are as if they were not there. */
export function partsWhere<T>(number: number, message: Message<T>, isWanted: (item: T) => boolean): Field<readonly T[]> {
  return {
    number,
    wireType: BYTES,
    take(reader, into, name) {
      const item = message.read(reader, reader.partEnd());
      if (isWanted(item)) append(into, name, item);
    },
    collect(reader, key) {
      const start = reader.position;
      const end = reader.partEnd();
      if (isWanted(message.read(reader, end))) key.add(reader, start, end);
      key.addEnd();
    },
  };
}

/** The fields of a message that is no property of its own in JSON. */
export function inlined<T, K extends KnownKey<T>>(number: number, message: Message<T>, _key: K): Field<NonNullable<T[K]>> {
  const take: Field<never>["take"] = (reader, into) => message.readInto(reader, reader.partEnd(), into);
  return { number, wireType: BYTES, take, collect: collectInner(message) };
}

export function textMap(number: number): Field<Readonly<Record<string, string>>> {
  return mapField(number, (reader) => reader.text());
}

/** Quantities by name, as the text that JSON has. */
export function quantities(number: number): Field<Readonly<Record<string, string>>> {
  return mapField(number, (reader) => quantity.read(reader, reader.partEnd()).string ?? "0");
}

function mapField(number: number, readValue: (reader: WireReader) => string): Field<Readonly<Record<string, string>>> {
  return bytesField(number, (reader, into, name) => {
    const map = (into[name] ?? {}) as Record<string, string>;
    into[name] = map;
    const end = reader.partEnd();
    let key = "";
    let mapped = "";
    while (reader.position < end) {
      const tag = reader.small();
      if (tag === KEY_TAG) key = reader.text();
      else if (tag === VALUE_TAG) mapped = readValue(reader);
      else reader.skip(tag & 7);
    }
    // A label may be called `__proto__` for all that the wire knows.
    if (key === "__proto__") Object.defineProperty(map, key, { value: mapped, enumerable: true, writable: true, configurable: true });
    else map[key] = mapped;
  });
}

const KEY_TAG = (1 << 3) | BYTES;
const VALUE_TAG = (2 << 3) | BYTES;

function bytesField(number: number, take: Field<never>["take"]): Field<never> {
  return { number, wireType: BYTES, take };
}

function varintField(number: number, take: Field<never>["take"]): Field<never> {
  return { number, wireType: VARINT, take };
}

function collectInner(message: Message<unknown>): NonNullable<Field<never>["collect"]> {
  return (reader, key) => message.collect(reader, reader.partEnd(), key);
}

function append(into: Record<string, unknown>, name: string, item: unknown): void {
  const list = into[name] as unknown[] | undefined;
  if (list === undefined) into[name] = [item];
  else list.push(item);
}

const quantity = new Message<{ readonly string?: string }>({ string: text(1) });
const timestamp = new Message<{ readonly seconds?: number }>({ seconds: integer(1) });

/** The last time of each slot: conditions of objects that came together changed within the same few minutes. A power of two. */
const KNOWN_TIMES = 1024;
const knownSeconds = new Float64Array(KNOWN_TIMES);
const knownTimes: string[] = new Array(KNOWN_TIMES).fill("1970-01-01T00:00:00Z");

function rfc3339(seconds: number): string {
  const slot = ((seconds % KNOWN_TIMES) + KNOWN_TIMES) % KNOWN_TIMES;
  if (knownSeconds[slot] !== seconds) {
    knownTimes[slot] = new Date(seconds * 1000).toISOString().replace(".000Z", "Z");
    knownSeconds[slot] = seconds;
  }
  return knownTimes[slot]!;
}
