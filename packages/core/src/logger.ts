/** What core needs of a logger. The shape is pino's, so that a pino instance fits as it is. */

export interface Logger {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
  /** A logger whose every line carries `fields`. */
  child(fields: object): Logger;
  /**
   * Calls `action`; lines that controllers write meanwhile on its behalf, at whatever depth and after whatever wait, carry `fields` too.
   * Absent: a log that does not care.
   */
  within?<R>(fields: object, action: () => R): R;
}

/** Says nothing. */
export const silentLogger: Logger = {
  debug() {},
  info() {},
  warn() {},
  error() {},
  child: () => silentLogger,
};
