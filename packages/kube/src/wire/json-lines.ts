/** Takes a stream of bytes apart into the JSON values of its lines, as watches send them. */
import { TransportError } from "./errors.ts";

/** Throws `TransportError` for a line that is no JSON, also for the half line that a broken connection leaves behind. */
export async function* jsonLines(chunks: AsyncIterable<Uint8Array>, subject: string): AsyncGenerator<unknown> {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const chunk of chunks) {
    // Only the new part can hold a line end.
    let searchFrom = rest.length;
    rest += decoder.decode(chunk, { stream: true });
    let start = 0;
    for (let end = rest.indexOf("\n", searchFrom); end >= 0; end = rest.indexOf("\n", searchFrom)) {
      const line = rest.slice(start, end);
      start = end + 1;
      searchFrom = start;
      if (line.trim() !== "") {
        yield parseLine(line, subject);
      }
    }
    rest = rest.slice(start);
  }
  rest += decoder.decode();
  if (rest.trim() !== "") {
    yield parseLine(rest, subject);
  }
}

function parseLine(line: string, subject: string): unknown {
  try {
    return JSON.parse(line);
  } catch (error) {
    throw new TransportError("malformed", `Cannot read ${subject}: a line is no JSON: ${line.slice(0, 100)}`, error);
  }
}
