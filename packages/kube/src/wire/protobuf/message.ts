/**
 * Messages of Kubernetes' protobuf encoding, read into the objects that its JSON would give, without the fields that nobody here reads: these are
 * stepped over. A field that is no pointer in Kubernetes' own types is always sent, and left out of JSON while empty; so it is here.
 */
import { BYTES, VARINT, type WireReader } from "./wire-reader.ts";

declare const value: unique symbol;

/** How one field is read; `V` is what it becomes. */
export interface Field<out V> {
  readonly number: number;
  readonly wireType: typeof VARINT | typeof BYTES;
  take(reader: WireReader, into: Record<string, unknown>, name: string): void;
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
  declare readonly [value]?: T;

  constructor(fields: Fields<T>) {
    for (const [name, field] of Object.entries<Field<unknown> | typeof unread>(fields)) {
      if (field !== unread) this.#fields[field.number] = { name, field };
    }
  }

  read(reader: WireReader, end: number): T {
    const into = {};
    this.readInto(reader, end, into);
    return into as T;
  }

  readInto(reader: WireReader, end: number, into: Record<string, unknown>): void {
    while (reader.position < end) {
      const tag = reader.small();
      const known = this.#fields[tag >>> 3];
      if (known !== undefined && known.field.wireType === (tag & 7)) known.field.take(reader, into, known.name);
      else reader.skip(tag & 7);
    }
    if (reader.position !== end) throw new RangeError("a value reaches beyond the end of its message");
  }
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
  return bytesField(number, (reader, into, name) => {
    into[name] = message.read(reader, reader.partEnd());
  });
}

export function parts<T>(number: number, message: Message<T>): Field<readonly T[]> {
  return bytesField(number, (reader, into, name) => append(into, name, message.read(reader, reader.partEnd())));
}

/** The fields of a message that is no property of its own in JSON. */
export function inlined<T, K extends KnownKey<T>>(number: number, message: Message<T>, _key: K): Field<NonNullable<T[K]>> {
  return bytesField(number, (reader, into) => message.readInto(reader, reader.partEnd(), into));
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
