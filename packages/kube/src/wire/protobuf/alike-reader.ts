/**
 * Reads objects of which many are alike but for what is their own (`own` in their message): the rest is read of the first of them, and is
 * the same object in all. Fifty pods of a Deployment so cost one reading of its template, and whoever works something out from what they
 * have in common can keep the answer (`alikeOf`).
 */
import { KeyBytes } from "./key-bytes.ts";
import type { Message } from "./message.ts";
import type { WireReader } from "./wire-reader.ts";

/** Kinds of objects that are remembered; then it begins anew. Each takes one or two kilobytes. */
const KNOWN_MAX = 1024;

/** Private, so that copies (`{ ...object }`) do not have it: they may differ from what they were made of. */
class ReadObject {
  #alike: object | undefined;

  static mark(object: ReadObject, alike: object): void {
    object.#alike = alike;
  }

  static alikeOf(object: object): object | undefined {
    return #alike in object ? object.#alike : undefined;
  }
}

/**
 * One and the same for objects that were read with equal values, but for what is each one's own: name, UID and version, times, annotations,
 * finalizers, `spec.nodeName`, and of the status all but the containers' resources. Undefined for all other objects.
 */
export function alikeOf(object: object): object | undefined {
  return ReadObject.alikeOf(object);
}

export class AlikeReader<out T extends object> {
  readonly #message: Message<T>;
  readonly #key = new KeyBytes();
  #known = new Map<string, Partial<T>>();

  constructor(message: Message<T>) {
    this.#message = message;
  }

  read(reader: WireReader, end: number): T {
    const start = reader.position;
    this.#key.clear();
    this.#message.collect(reader, end, this.#key);
    reader.position = start;
    const key = this.#key.text();
    const object = new ReadObject();
    let alike = this.#known.get(key);
    if (alike !== undefined) this.#message.readOwn(reader, end, alike, object);
    else {
      alike = this.#message.withoutOwn(this.#message.readInto(reader, end, object));
      this.#remember(key, alike);
    }
    ReadObject.mark(object, alike);
    return object as T;
  }

  #remember(key: string, alike: Partial<T>): void {
    if (this.#known.size >= KNOWN_MAX) this.#known = new Map();
    this.#known.set(key, alike);
  }
}
