/** A stream to write to, and what it can show. Colours only on a terminal; `NO_COLOR` and `FORCE_COLOR` are honoured. */
import { styleText } from "node:util";

type Style = Parameters<typeof styleText>[0];

export interface Terminal {
  write(text: string): void;
  /** True when a person looks at it: lines may be rewritten. */
  readonly isInteractive: boolean;
  readonly columns: number;
  /** `text` in that style, or `text` alone where colours are not wanted. */
  style(style: Style, text: string): string;
}

type Environment = Readonly<Record<string, string | undefined>>;

export function terminalOf(stream: NodeJS.WriteStream, env: Environment): Terminal {
  const isInteractive = stream.isTTY === true;
  const hasColor = wantsColor(isInteractive, env);
  return {
    write: (text) => void stream.write(text),
    isInteractive,
    get columns() {
      // Some terminals say 0.
      return stream.columns || 80;
    },
    style: (style, text) => (hasColor ? styleText(style, text, { validateStream: false }) : text),
  };
}

/** https://no-color.org: any non-empty NO_COLOR means no; then FORCE_COLOR; then whether it is a terminal that can. */
export function wantsColor(isInteractive: boolean, env: Environment): boolean {
  if (env.NO_COLOR) return false;
  const forced = env.FORCE_COLOR;
  if (forced !== undefined) return forced !== "0" && forced !== "false";
  return isInteractive && env.TERM !== "dumb";
}
