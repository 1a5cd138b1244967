/**
 * Answers that the server has compressed. API servers do that with what is larger than 128 KiB, for clients that ask for it: a page of pods, most of
 * which is `managedFields`, becomes twenty times smaller, and to inflate it costs less than to decrypt and receive what it saves.
 */
import { gunzipSync } from "node:zlib";
import type { BorrowedBytes } from "./body-buffer.ts";
import { TransportError } from "./errors.ts";

export const GZIP = "gzip";

/** What is taken in one piece; zlib knows that it is done when there is room left. */
const CHUNK_MAX = 64 * 1024 * 1024;
const ROOM = 64;
/** The last four bytes tell the length before compression. */
const TRAILER = 4;

/** Throws `TransportError` for what is not gzip. `subject` is what is read. */
export function inflate(compressed: Uint8Array, subject: string): BorrowedBytes {
  try {
    const inflated = gunzipSync(compressed, { chunkSize: Math.min(lengthBefore(compressed), CHUNK_MAX) + ROOM });
    return { bytes: inflated, release: () => letGo(inflated.buffer) };
  } catch (error) {
    throw new TransportError("malformed", `Cannot read ${subject}: it is not in gzip, as it says: ${(error as Error).message}`, error);
  }
}

/** At once: V8 does not see megabytes outside its heap, or looks through all of it for them. Small ones lie in memory that Node shares out. */
function letGo(memory: ArrayBuffer): void {
  if (memory.byteLength > Buffer.poolSize) memory.transfer(0);
}

function lengthBefore(compressed: Uint8Array): number {
  if (compressed.length < TRAILER) return 0;
  return new DataView(compressed.buffer, compressed.byteOffset, compressed.byteLength).getUint32(compressed.length - TRAILER, true);
}
