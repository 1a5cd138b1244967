/** A logger that keeps its lines. For this room's tests. */
import type { Logger } from "../logger.ts";

export type LogLine = { readonly level: string; readonly message: string } & Readonly<Record<string, unknown>>;

export function recordingLog(): { readonly log: Logger; readonly lines: LogLine[] } {
  const lines: LogLine[] = [];
  const under = (context: object): Logger => {
    const at = (level: string) => (fields: object, message: string) => void lines.push({ level, message, ...context, ...fields });
    return {
      debug: at("debug"),
      info: at("info"),
      warn: at("warn"),
      error: at("error"),
      child: (fields) => under({ ...context, ...fields }),
    };
  };
  return { log: under({}), lines };
}
