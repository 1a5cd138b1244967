/** What a container has written, and which part of it a reader asks for. */

/** One run of a container, as its kubelet keeps it. */
export interface ContainerLog {
  /** Every line so far, the oldest first. */
  lines(): readonly LogLine[];
  /** Calls back with each line that is written from now on. Returns what unsubscribes. */
  onLine(listener: (line: LogLine) => void): () => void;
  /** Resolves when the container has exited and its last line is there. */
  readonly ended: Promise<unknown>;
}

export interface LogLine {
  /** When it was written, by the cluster's clock, in epoch milliseconds. */
  readonly atMs: number;
  /** Without the line break. */
  readonly text: string;
}

export interface LogWish {
  /** Lines before that are left out. */
  readonly sinceMs?: number;
  /** At most so many lines, the newest; what is written later counts not. */
  readonly tailLines?: number;
  /** Each line begins with its time. */
  readonly hasTimestamps: boolean;
  /** No more than so many bytes of UTF-8, later lines included. */
  readonly limitBytes?: number;
}

/** The part of the lines so far that is asked for. */
export function chosenLines(lines: readonly LogLine[], { sinceMs = Number.NEGATIVE_INFINITY, tailLines }: LogWish): readonly LogLine[] {
  const recent = lines.filter(({ atMs }) => atMs >= sinceMs);
  return tailLines === undefined ? recent : recent.slice(Math.max(0, recent.length - tailLines));
}

export function lineText({ atMs, text }: LogLine, { hasTimestamps }: LogWish): string {
  return hasTimestamps ? `${new Date(atMs).toISOString().replace("Z", "000000Z")} ${text}\n` : `${text}\n`;
}

const encoder = new TextEncoder();

/** The beginning of `text` that fits into so many bytes; a character is not cut. */
export function firstBytes(text: string, bytesMax: number): string {
  if (text.length * 3 <= bytesMax) return text;
  const { read } = encoder.encodeInto(text, new Uint8Array(bytesMax));
  return text.slice(0, read);
}

/**
 * What the log has now, and then what comes, until the container has exited or the limit is reached.
 * Ends its subscription when the reader goes.
 */
export function followLog(log: ContainerLog, wish: LogWish): ReadableStream<string> {
  let unsubscribe = () => {};
  return new ReadableStream<string>({
    start(controller) {
      let bytesLeft = wish.limitBytes ?? Number.POSITIVE_INFINITY;
      let isOver = false;
      const end = () => {
        if (isOver) return;
        isOver = true;
        unsubscribe();
        controller.close();
      };
      const write = (line: LogLine) => {
        if (isOver) return;
        const text = firstBytes(lineText(line, wish), bytesLeft);
        bytesLeft -= encoder.encode(text).length;
        if (text !== "") controller.enqueue(text);
        if (bytesLeft <= 0) end();
      };
      const unlisten = log.onLine(write);
      unsubscribe = () => {
        isOver = true;
        unlisten();
      };
      for (const line of chosenLines(log.lines(), wish)) write(line);
      void log.ended.then(end);
    },
    cancel: () => unsubscribe(),
  });
}
