/** Bytes put together as the key of a table; equal texts mean equal bytes. */
import type { WireReader } from "./wire-reader.ts";

const FIRST_CAPACITY = 2048;

export class KeyBytes {
  #bytes = Buffer.allocUnsafe(FIRST_CAPACITY);
  #length = 0;

  clear(): void {
    this.#length = 0;
  }

  /** What stands between two positions of the reader. */
  add(reader: WireReader, start: number, end: number): void {
    if (start === end) return;
    const at = this.#room(end - start);
    reader.copyTo(this.#bytes, at, start, end);
  }

  /** As the wire has it. */
  addTag(tag: number): void {
    let rest = tag;
    for (; rest >= 0x80; rest >>>= 7) this.#addByte((rest & 0x7f) | 0x80);
    this.#addByte(rest);
  }

  /** Of a message: a tag is never 0. */
  addEnd(): void {
    this.#addByte(0);
  }

  text(): string {
    return this.#bytes.toString("latin1", 0, this.#length);
  }

  #addByte(byte: number): void {
    const at = this.#room(1);
    this.#bytes[at] = byte;
  }

  /** Takes so many bytes more, and gives the place of the first. */
  #room(bytes: number): number {
    const at = this.#length;
    this.#length += bytes;
    if (this.#length > this.#bytes.length) {
      const larger = Buffer.allocUnsafe(this.#length * 2);
      this.#bytes.copy(larger, 0, 0, at);
      this.#bytes = larger;
    }
    return at;
  }
}
