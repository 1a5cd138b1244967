/** Lengths of time in sentences. */

export const MINUTE_MS = 60_000;
export const HOUR_MS = 60 * MINUTE_MS;

/** `90s`, `15m`, `36h`: the greatest unit that needs no fraction. */
export function durationText(ms: number): string {
  if (ms % HOUR_MS === 0) return `${ms / HOUR_MS}h`;
  return ms % MINUTE_MS === 0 ? `${ms / MINUTE_MS}m` : `${Math.round(ms / 1000)}s`;
}
