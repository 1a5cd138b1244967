/** Reads the wire format of Protocol Buffers (https://protobuf.dev/programming-guides/encoding/): numbers, texts, and what to step over. */

export const VARINT = 0;
export const BYTES = 2;
const FIXED_64 = 1;
const FIXED_32 = 5;

/** Distinct short texts that are remembered: names of labels and resources, types of conditions. A power of two. */
const KNOWN_TEXTS = 4096;
const KNOWN_LENGTH_MAX = 48;

export class WireReader {
  readonly #bytes: Buffer;
  /** Of the next byte. */
  position = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  get length(): number {
    return this.#bytes.length;
  }

  byte(): number {
    return this.#next();
  }

  /** An unsigned number below 2^32, as tags, lengths and booleans are. */
  small(): number {
    const bytes = this.#bytes;
    let byte = this.#next();
    let value = byte & 0x7f;
    for (let shift = 7; byte >= 0x80; shift += 7) {
      if (shift > 28) throw new RangeError("a length or tag is longer than 32 bits");
      byte = bytes[this.position++] ?? this.#missing();
      value |= (byte & 0x7f) << shift;
    }
    return value >>> 0;
  }

  /** A signed number of 64 bits, exact between ±2^53. */
  integer(): number {
    let low = 0;
    let high = 0;
    for (let shift = 0; shift < 70; shift += 7) {
      const byte = this.#next();
      const bits = byte & 0x7f;
      if (shift < 28) low |= bits << shift;
      else if (shift === 28) {
        low |= bits << 28;
        high = bits >>> 4;
      } else if (shift < 63) high |= bits << (shift - 32);
      else high |= bits << 31;
      if (byte < 0x80) return high * 2 ** 32 + (low >>> 0);
    }
    throw new RangeError("a number is longer than 64 bits");
  }

  /** Where the part ends whose length comes next. */
  partEnd(): number {
    const length = this.small();
    const end = this.position + length;
    if (end > this.#bytes.length)
      throw new RangeError(`a part of ${length} bytes begins ${this.#bytes.length - this.position} before the end`);
    return end;
  }

  text(): string {
    const end = this.partEnd();
    const start = this.position;
    this.position = end;
    if (end - start > KNOWN_LENGTH_MAX) return this.#bytes.toString("utf8", start, end);
    return knownText(this.#bytes, start, end);
  }

  bytes(): Uint8Array {
    const end = this.partEnd();
    const part = this.#bytes.subarray(this.position, end);
    this.position = end;
    return part;
  }

  /** Copies the bytes from `start` to `end` to `at` in `target`, which has room for them. */
  copyTo(target: Buffer, at: number, start: number, end: number): void {
    const bytes = this.#bytes;
    for (let from = start, to = at; from < end; from++, to++) target[to] = bytes[from]!;
  }

  /** Steps over a value of the type that its tag named. */
  skip(wireType: number): void {
    if (wireType === BYTES) this.position = this.partEnd();
    else if (wireType === VARINT) while (this.#next() >= 0x80);
    else if (wireType === FIXED_64 || wireType === FIXED_32) this.position += wireType === FIXED_64 ? 8 : 4;
    else throw new RangeError(`a value has the wire type ${wireType}, wanted 0, 1, 2 or 5`);
  }

  #next(): number {
    return this.#bytes[this.position++] ?? this.#missing();
  }

  #missing(): never {
    throw new RangeError("the bytes end within a value");
  }
}

/** The last text of each hash, so that equal texts are most often one string, and are not even decoded. */
const knownTexts: string[] = new Array(KNOWN_TEXTS).fill("");

function knownText(bytes: Buffer, start: number, end: number): string {
  let hash = end - start;
  for (let at = start; at < end; at++) hash = (Math.imul(hash, 31) + bytes[at]!) | 0;
  const slot = (hash ^ (hash >>> 15)) & (KNOWN_TEXTS - 1);
  const known = knownTexts[slot]!;
  if (isText(known, bytes, start, end)) return known;
  const text = bytes.toString("utf8", start, end);
  knownTexts[slot] = text;
  return text;
}

/** Of texts beyond ASCII the lengths or the letters differ from the bytes, so these are only decoded anew. */
function isText(text: string, bytes: Buffer, start: number, end: number): boolean {
  const length = end - start;
  if (text.length !== length) return false;
  for (let at = 0; at < length; at++) if (text.charCodeAt(at) !== bytes[start + at]) return false;
  return true;
}
