/** Takes a stream of bytes apart into the frames of a watch in protobuf: four bytes with a length, the first the highest, then so many bytes. */
import { TransportError } from "../errors.ts";

const HEAD = 4;

/** Throws `TransportError` where the stream ends within a frame. */
export async function* frames(chunks: AsyncIterable<Uint8Array>, subject: string): AsyncGenerator<Uint8Array> {
  let waiting: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of chunks) {
    waiting.push(chunk);
    length += chunk.length;
    // A long frame is put together once it is there, not again with each chunk.
    if (length < HEAD || length < HEAD + frameLength(waiting)) continue;
    let rest = waiting.length === 1 ? chunk : Buffer.concat(waiting, length);
    while (rest.length >= HEAD && rest.length >= HEAD + frameLength([rest])) {
      const end = HEAD + frameLength([rest]);
      yield rest.subarray(HEAD, end);
      rest = rest.subarray(end);
    }
    waiting = rest.length === 0 ? [] : [rest];
    length = rest.length;
  }
  if (length > 0) throw new TransportError("malformed", `Cannot read ${subject}: it ends within a frame`);
}

/** Of chunks that together are long enough for a head. */
function frameLength(chunks: readonly Uint8Array[]): number {
  let value = 0;
  let count = 0;
  for (const chunk of chunks) {
    for (let index = 0; index < chunk.length && count < HEAD; index++, count++) value = value * 256 + chunk[index]!;
    if (count === HEAD) break;
  }
  return value;
}
