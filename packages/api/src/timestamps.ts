/** Times as Kubernetes writes them: `Time` in whole seconds, `MicroTime` with six decimals. Always UTC; in the program milliseconds since 1970. */

/** `2026-12-01T10:20:30Z`. Cuts the fraction off, as Kubernetes does. */
export function formatTime(wallMs: number): string {
  return `${new Date(wallMs).toISOString().slice(0, 19)}Z`;
}

/** `2026-12-01T10:20:30.123000Z`, as in Leases. */
export function formatMicroTime(wallMs: number): string {
  return `${new Date(wallMs).toISOString().slice(0, -1)}000Z`;
}

/** Undefined where the text is missing or no time. */
export function parseTime(text: string | undefined): number | undefined {
  const ms = text === undefined ? Number.NaN : Date.parse(text);
  return Number.isNaN(ms) ? undefined : ms;
}
