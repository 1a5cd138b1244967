/** When pods cannot share a node because of ports of the host. Rule S-120. */
import type { HostPort } from "../problem.ts";

const UNSPECIFIED = new Set(["0.0.0.0", "::"]);

/** Some port of one is some port of the other. */
export function haveConflict(one: readonly HostPort[], other: readonly HostPort[]): boolean {
  return one.some((port) => other.some((taken) => areSame(port, taken)));
}

function areSame(one: HostPort, other: HostPort): boolean {
  if (one.port !== other.port || one.protocol !== other.protocol) return false;
  return one.ip === other.ip || UNSPECIFIED.has(one.ip) || UNSPECIFIED.has(other.ip);
}

/** `8080/TCP`, with the address where it is a certain one. */
export function hostPortText({ port, ip, protocol }: HostPort): string {
  return UNSPECIFIED.has(ip) ? `${port}/${protocol}` : `${ip}:${port}/${protocol}`;
}
