/**
 * One buffer for answers that are read once and let go. The pages of a list come one after the other, megabytes each, most of which nobody
 * reads; with memory of its own each of them would stay until V8 finds it worth while to look for it.
 */
export interface BorrowedBytes {
  readonly bytes: Uint8Array;
  /** To be called when the bytes are not read any more; may be left out. */
  readonly release: () => void;
}

const FIRST_CAPACITY = 256 * 1024;

export class BodyBuffer {
  /** Weak: between lists there is no need for it. Undefined while lent. */
  #spare: WeakRef<Uint8Array> | undefined;

  /** Puts the chunks together. Who asks while the buffer is lent gets memory of its own. */
  async read(chunks: AsyncIterable<Uint8Array>): Promise<BorrowedBytes> {
    let buffer = this.#spare?.deref() ?? new Uint8Array(FIRST_CAPACITY);
    this.#spare = undefined;
    let length = 0;
    for await (const chunk of chunks) {
      if (length + chunk.length > buffer.length) {
        const larger = new Uint8Array((length + chunk.length) * 2);
        larger.set(buffer.subarray(0, length));
        buffer = larger;
      }
      buffer.set(chunk, length);
      length += chunk.length;
    }
    return {
      bytes: buffer.subarray(0, length),
      release: () => {
        this.#spare = new WeakRef(buffer);
      },
    };
  }
}
